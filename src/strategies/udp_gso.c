/*
 * udp_gso: sendmsg(2) with UDP_SEGMENT: a batch of messages as one large packet.
 *
 * Copies: 1: sendmsg(2)
 * System calls: 1 sendmsg(2) for N datagrams
 * Linux: 4.18
 *
 * Path of the bytes: the kernel copies the fields of all messages of the batch (--batch) into one
 * packet (the only copy); when sendmsg returns, the application owns its fields again. The packet
 * passes UDP, IP and the firewall once and is segmented at the end, into datagrams of one message
 * each: by the device if it can (tx-udp-segmentation; a veth pair hands the packet over whole),
 * else by the kernel right before the device. The receiver gets what sendmmsg would have sent, but
 * fewer packets pass through the stack. A batch of one has nothing to segment and is one_copy.
 *
 * A batch must fit into one packet (65507 bytes) and hold at most 64 messages (UDP_MAX_SEGMENTS,
 * 128 since Linux 6.9); a message must fit the device's MTU, since datagrams segmented here are not
 * fragmented. Needs Linux 4.18; udp(7), kernel document networking/segmentation-offloads.rst.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <netinet/in.h>

#include "compat.h"
#include "connections/socket_option.h"
#include "send_message.h"
#include "strategy.h"

#define MAX_SEGMENTS 64

static int udp_gso_probe(struct failure *failure)
{
    return socket_option_probe(SOCK_DGRAM, SOCKET_OPTION(IPPROTO_UDP, UDP_SEGMENT), 0, "4.18",
                               failure);
}

/* What a send needs: the fields of all messages of a batch, and the size of a message. */
struct udp_gso_state {
    struct iovec *iov; /* MESSAGE_FIELDS times stream->batch */
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(uint16_t))];
    } control;
};

static int udp_gso_setup(struct stream *stream)
{
    const uint16_t segment_bytes = (uint16_t)stream->msg_bytes;
    struct udp_gso_state *state = stream->state;
    if (stream->batch > MAX_SEGMENTS) {
        return fail(stream->failure, EMSGSIZE,
                    "udp_gso: a batch of %zu messages of %zu bytes; at most %d messages",
                    stream->batch, stream->msg_bytes, MAX_SEGMENTS);
    }
    state->iov = calloc(stream->batch * MESSAGE_FIELDS, sizeof(*state->iov));
    if (state->iov == NULL) {
        return fail(stream->failure, ENOMEM, "udp_gso: iovecs of %zu messages", stream->batch);
    }
    /* Per send: as a socket option it would segment what others send on the socket too. */
    state->control.align = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(segment_bytes)),
        .cmsg_level = IPPROTO_UDP,
        .cmsg_type = UDP_SEGMENT,
    };
    memcpy(CMSG_DATA(&state->control.align), &segment_bytes, sizeof(segment_bytes));
    return 0;
}

static int udp_gso_send_messages(struct stream *stream)
{
    struct udp_gso_state *state = stream->state;
    struct msghdr header = {
        .msg_iov = state->iov,
        .msg_iovlen = stream->batch * MESSAGE_FIELDS,
    };
    ssize_t n = 0;
    if (stream->batch > 1) {
        header.msg_control = &state->control;
        header.msg_controllen = sizeof(state->control);
    }
    for (size_t i = 0; i < stream->batch; i++) {
        memcpy(state->iov + i * MESSAGE_FIELDS, next_message(stream)->field,
               MESSAGE_FIELDS * sizeof(*state->iov));
    }
    do { /* a packet is taken whole or, after a signal, not at all */
        n = count_sent(stream, sendmsg(stream->fd, &header, MSG_NOSIGNAL), "sendmsg");
    } while (n == 0);
    if ((n == -EINVAL || n == -EMSGSIZE) && stream->batch > 1) { /* by older and newer kernels */
        (void)fail(stream->failure, (int)-n,
                   "udp_gso: sendmsg on fd %d: %zu messages of %zu bytes, each of which must fit "
                   "the device's MTU; raise it, or send smaller messages",
                   stream->fd, stream->batch, stream->msg_bytes);
        return blame_host(stream->failure, (int)n);
    }
    return n < 0 ? (int)n : 0;
}

static void udp_gso_teardown(struct stream *stream)
{
    const struct udp_gso_state *state = stream->state;
    free(state->iov);
}

const struct strategy the_strategy = {
    .name = "udp_gso",
    .summary = "sendmsg with UDP_SEGMENT, several messages in one packet",
    .transports = TRANSPORT_DATAGRAM,
    .batching = true,
    .batch_is_one_datagram = true,
    .state_bytes = sizeof(struct udp_gso_state),
    .probe = udp_gso_probe,
    .setup = udp_gso_setup,
    .send_messages = udp_gso_send_messages,
    .teardown = udp_gso_teardown,
};
