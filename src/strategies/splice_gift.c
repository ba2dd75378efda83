/*
 * splice_gift: gather the fields into new pages, vmsplice(2) these with SPLICE_F_GIFT, then
 * splice(2).
 *
 * Copies: 1: memcpy(3) into new pages
 * System calls: vmsplice(2), splice(2) and madvise(2)
 * Linux: 2.6.17; 6.5 for UDP
 *
 * Path of the bytes: the application copies the fields into pages that were never used before (the
 * only copy). vmsplice gives these to the kernel for good (SPLICE_F_GIFT: "the application may not
 * modify this memory ever"), splice moves the references on into socket buffers, and the
 * application gives up the pages at once, so the next message gets new ones. Each costs a page
 * fault, in which the kernel allocates a page and zeroes it. An application pays this if it
 * produces data and gives it away without waiting for anyone (splice/pages.h says why it cannot
 * reuse pages). The flag itself lets the kernel move a page into the page cache; sockets do not use
 * it.
 *
 * Needs Linux 2.6.17; over UDP as splice. vmsplice(2), splice(2), madvise(2).
 */
#include <fcntl.h>

#include "splice/pages.h"
#include "splice/pipe.h"
#include "strategy.h"

struct splice_gift_state {
    struct splice_pipe pipe;
    struct pages pages;
};

static int splice_gift_setup(struct stream *stream)
{
    struct splice_gift_state *state = stream->state;
    state->pipe.map_flags = SPLICE_F_GIFT;
    const int error = splice_pipe_open(&state->pipe, stream);
    return error != 0 ? error : pages_allocate(&state->pages, stream);
}

static int splice_gift_send_messages(struct stream *stream)
{
    const struct splice_gift_state *state = stream->state;
    struct iovec whole = {.iov_base = state->pages.memory, .iov_len = stream->msg_bytes};
    message_gather(next_message(stream), state->pages.memory);
    const int error = splice_pipe_send(&state->pipe, stream, &whole, 1);
    return error != 0 ? error : pages_give_up(&state->pages, stream);
}

static void splice_gift_teardown(struct stream *stream)
{
    struct splice_gift_state *state = stream->state;
    splice_pipe_close(&state->pipe);
    pages_free(&state->pages);
}

const struct strategy the_strategy = {
    .name = "splice_gift",
    .summary = "memcpy into new pages, vmsplice with SPLICE_F_GIFT, splice to the socket",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .state_bytes = sizeof(struct splice_gift_state),
    .setup = splice_gift_setup,
    .send_messages = splice_gift_send_messages,
    .teardown = splice_gift_teardown,
};
