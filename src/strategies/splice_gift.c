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

#include "splice/pipe.h"
#include "strategy.h"

static int splice_gift_setup(struct stream *stream)
{
    struct splice_pipe *pipe = stream->state;
    pipe->map_flags = SPLICE_F_GIFT;
    return splice_pipe_open(pipe, stream, true);
}

static int splice_gift_send_messages(struct stream *stream)
{
    return splice_pipe_send_new_pages(stream->state, stream, next_message(stream));
}

static void splice_gift_teardown(struct stream *stream)
{
    splice_pipe_close(stream->state);
}

const struct strategy the_strategy = {
    .name = "splice_gift",
    .summary = "memcpy into new pages, vmsplice with SPLICE_F_GIFT, splice to the socket",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .state_bytes = sizeof(struct splice_pipe),
    .setup = splice_gift_setup,
    .send_messages = splice_gift_send_messages,
    .teardown = splice_gift_teardown,
};
