/*
 * sendmmsg: sendmmsg(2), several messages per call, each with one iovec per field.
 *
 * Copies: 1: sendmmsg(2)
 * System calls: 1 sendmmsg(2) for N messages
 * Linux: 3.0
 *
 * Path of the bytes: as with one_copy, the kernel copies each field into socket buffers (the only
 * copy), and when sendmmsg returns, the application owns its fields again. The call saves entries
 * into the kernel: one per batch (--batch) instead of one per message. For each message the socket
 * is still locked and a packet built. A batch of one is sendmsg by a longer code path. It also
 * works over TCP, whose byte stream has no message boundaries; a call then ends at a message that
 * was sent in part (since kernel commit 3023898b7d4a of 2016; before, the next one would follow in
 * the middle of it). Needs Linux 3.0; sendmmsg(2).
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "send_message.h"
#include "strategy.h"

static int sendmmsg_setup(struct stream *stream)
{
    stream->state = calloc(stream->batch, sizeof(struct mmsghdr));
    if (stream->state == NULL) {
        return fail(stream->failure, ENOMEM, "sendmmsg: headers of %zu messages", stream->batch);
    }
    return 0;
}

/* Sends the rest of one message. */
static ssize_t send_once(struct stream *stream, struct iovec *iov, size_t n_iov)
{
    const struct msghdr header = {.msg_iov = iov, .msg_iovlen = n_iov};
    return count_sent(stream, sendmsg(stream->fd, &header, MSG_NOSIGNAL), "sendmsg");
}

/* Counts what a call took of n messages and completes the last one. Returns 0 or -errno. */
static int take_sent(struct stream *stream, const struct mmsghdr *headers, size_t n)
{
    uint64_t sent_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        sent_bytes += headers[i].msg_len;
    }
    count(stream->counters, COUNT_BYTES, sent_bytes);
    const struct mmsghdr *last = &headers[n - 1];
    if (last->msg_len == stream->msg_bytes) {
        return 0;
    }
    struct message message;
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        message.field[i] = last->msg_hdr.msg_iov[i];
    }
    count(stream->counters, COUNT_SHORT_WRITES, last->msg_len > 0 ? 1 : 0);
    return send_rest(stream, &message, last->msg_len, send_once);
}

static int sendmmsg_send_messages(struct stream *stream)
{
    struct mmsghdr *headers = stream->state;
    for (size_t i = 0; i < stream->batch; i++) {
        headers[i].msg_hdr.msg_iov = next_message(stream)->field;
        headers[i].msg_hdr.msg_iovlen = MESSAGE_FIELDS;
    }
    for (size_t n_sent = 0; n_sent < stream->batch;) {
        const unsigned int n_left = (unsigned int)(stream->batch - n_sent);
        const int n = sendmmsg(stream->fd, headers + n_sent, n_left, MSG_NOSIGNAL);
        count(stream->counters, COUNT_DATA_CALLS, 1);
        const int error =
            n > 0 ? take_sent(stream, headers + n_sent, (size_t)n) : send_error(stream, "sendmmsg");
        if (error != 0) {
            return error;
        }
        n_sent += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

const struct strategy the_strategy = {
    .name = "sendmmsg",
    .summary = "sendmmsg, several messages per call, with one iovec per field",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .batching = true,
    .setup = sendmmsg_setup,
    .send_messages = sendmmsg_send_messages,
};
