/*
 * trunc: recv(2) with MSG_TRUNC: the bytes are thrown away in the kernel.
 *
 * Path of the bytes: they end in the socket's queue; of a stream none is copied, of a datagram the
 * first few, by which a goodbye is told from a message. So this is no way to receive, but what
 * receiving costs without the copy: the packets' way up, their queue and the wake-ups. Over TCP
 * since Linux 2.4; tcp(7), recv(2).
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "datagram.h"
#include "receiver.h"

/* How much one recv may throw away: much, since no buffer has to stay in a cache. */
#define CHUNK_BYTES ((size_t)1 << 20)

static int trunc_setup(struct inflow *inflow)
{
    /* Never touched, so that it takes no memory; the kernel would accept none (tcp(7)), the
     * sanitizers do not. */
    inflow->state = malloc(CHUNK_BYTES);
    return inflow->state != NULL
               ? 0
               : fail(inflow->failure, ENOMEM, "trunc: a buffer of %zu bytes", CHUNK_BYTES);
}

/* After a recv that failed: 0 to try again, or -errno. */
static int take_error(struct inflow *inflow)
{
    if (errno == EINTR) {
        count(inflow->counters, COUNT_EINTR, 1);
        return 0;
    }
    /* EAGAIN: SO_RCVTIMEO ran out, the sender is silent. */
    return fail(inflow->failure, errno == EAGAIN ? ETIMEDOUT : errno,
                "connection %zu: recv(MSG_TRUNC) on fd %d", inflow->connection, inflow->fd);
}

static int discard_stream(struct inflow *inflow)
{
    for (;;) {
        const ssize_t n = recv(inflow->fd, inflow->state, CHUNK_BYTES, MSG_TRUNC);
        count(inflow->counters, COUNT_DATA_CALLS, 1);
        if (n > 0) {
            inflow_take(inflow, inflow->state, (size_t)n);
            continue;
        }
        const int error = n < 0 ? take_error(inflow) : 0;
        if (n == 0 || error != 0) {
            return error;
        }
    }
}

static int discard_datagrams(struct inflow *inflow)
{
    unsigned char first[NOTE_BYTES];
    for (;;) {
        /* Returns how long the datagram was, not how much of it was copied. */
        const ssize_t n = recv(inflow->fd, first, sizeof(first), MSG_TRUNC);
        count(inflow->counters, COUNT_DATA_CALLS, 1);
        if (n < 0) {
            const int error = take_error(inflow);
            if (error != 0) {
                return error;
            }
            continue;
        }
        switch (inflow_take_datagram(inflow, first, (size_t)n)) {
        case ARRIVAL_MESSAGE:
        case ARRIVAL_WELCOME:
            break;
        case ARRIVAL_GOODBYE:
            return 0;
        case ARRIVAL_WRONG:
            return -EPROTO;
        }
    }
}

static int trunc_receive_all(struct inflow *inflow)
{
    return inflow->transport == TRANSPORT_STREAM ? discard_stream(inflow)
                                                 : discard_datagrams(inflow);
}

static void trunc_teardown(struct inflow *inflow)
{
    free(inflow->state);
}

const struct receiver the_receiver = {
    .name = "trunc",
    .summary = "recv with MSG_TRUNC, which throws the bytes away in the kernel",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .setup = trunc_setup,
    .receive_all = trunc_receive_all,
    .teardown = trunc_teardown,
};
