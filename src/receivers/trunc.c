/*
 * trunc: recv(2) with MSG_TRUNC: the kernel discards the bytes.
 *
 * Path of the bytes: they end in the socket's queue. Nothing of a stream is copied, and of a
 * datagram only its first bytes, which tell a goodbye from a message. So this does not receive
 * anything; it measures what receiving costs without the copy: the packets' path up the stack,
 * their queue and the wake-ups. Over TCP since Linux 2.4; tcp(7), recv(2).
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "connections/datagram.h"
#include "receiver.h"
#include "recv_loop.h"

/* How much one recv may discard: a lot, since no buffer has to stay in a cache. */
#define CHUNK_BYTES ((size_t)1 << 20)

static int trunc_setup(struct inflow *inflow)
{
    /* Never touched for a stream, so it takes no memory; the kernel would accept NULL (tcp(7)), the
     * sanitizers do not. */
    inflow->state = malloc(CHUNK_BYTES);
    return inflow->state != NULL
               ? 0
               : fail(inflow->failure, ENOMEM, "trunc: a buffer of %zu bytes", CHUNK_BYTES);
}

static int trunc_receive_all(struct inflow *inflow)
{
    const bool is_stream = inflow->transport == TRANSPORT_STREAM;
    const struct recv_call call = {
        .name = "recv(MSG_TRUNC)",
        .memory = inflow->state,
        .n_bytes = is_stream ? CHUNK_BYTES : NOTE_BYTES,
        .flags = MSG_TRUNC,
    };
    return recv_loop(inflow, &call);
}

const struct receiver the_receiver = {
    .name = "trunc",
    .summary = "recv with MSG_TRUNC, which discards the bytes in the kernel",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .setup = trunc_setup,
    .receive_all = trunc_receive_all,
};
