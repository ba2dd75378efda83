/*
 * recv: recv(2) into one buffer.
 *
 * Path of the bytes: the kernel copies them from the socket's queue into the application's buffer
 * (the only copy on this side, recv(2)), which always belongs to the application. Works on every
 * Linux, over TCP and UDP.
 */
#include <errno.h>

#include "memory.h"
#include "receiver.h"
#include "recv_loop.h"

static int recv_setup(struct inflow *inflow)
{
    /* Page-aligned: the kernel copies page by page, and `rep movsb` is fastest if source and
     * destination are aligned alike. */
    inflow->state = memory_allocate_aligned(inflow->read_bytes);
    return inflow->state != NULL
               ? 0
               : fail(inflow->failure, ENOMEM, "recv: a buffer of %zu bytes", inflow->read_bytes);
}

static int recv_receive_all(struct inflow *inflow)
{
    const struct recv_call call = {
        .name = "recv",
        .memory = inflow->state,
        .n_bytes = inflow->read_bytes,
    };
    return recv_loop(inflow, &call);
}

const struct receiver the_receiver = {
    .name = "recv",
    .summary = "recv into one buffer",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .verifies = true,
    .answers = true,
    .setup = recv_setup,
    .receive_all = recv_receive_all,
};
