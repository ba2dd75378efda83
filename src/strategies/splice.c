/*
 * splice: vmsplice(2) of the fields into a pipe, then splice(2) from the pipe to the socket.
 *
 * Copies: 0, none by the link either, while the message stays the same; 1 to write new pages
 * System calls: vmsplice(2) and splice(2); madvise(2) if the message changes
 * Linux: 2.6.17; 6.5 for UDP
 *
 * Path of the bytes: vmsplice puts references to the pages of the fields into the pipe, and splice
 * moves them on into socket buffers: no copy by the CPU before the device, and none on loopback and
 * veth either. Unlike with MSG_ZEROCOPY, the kernel does not copy before local delivery, since it
 * takes these pages to be immutable; the receiver reads the sender's own pages.
 *
 * The price: the fields must not change until the peer has read them, and nothing tells the sender
 * when that is (splice/pages.h). A message that never changes, as all are without --fresh and
 * --verify, can be sent from where it lies again and again, as by an application that serves the
 * same contents to many clients. A message that changes is written to new pages (one copy by the
 * CPU, and a page fault per page), which are given up as soon as they are in the socket.
 *
 * vmsplice since Linux 2.6.17; over UDP the whole datagram goes without a copy since 6.5
 * (MSG_SPLICE_PAGES). vmsplice(2), splice(2).
 */
#include <string.h>

#include "splice/pages.h"
#include "splice/pipe.h"
#include "strategy.h"

struct splice_state {
    struct splice_pipe pipe;
    struct pages pages; /* only for contents that change */
};

static int splice_setup(struct stream *stream)
{
    struct splice_state *state = stream->state;
    const int error = splice_pipe_open(&state->pipe, stream);
    if (error != 0 || !stream->contents_change) {
        return error;
    }
    return pages_allocate(&state->pages, stream);
}

static int send_in_place(struct stream *stream, const struct message *message)
{
    const struct splice_state *state = stream->state;
    struct iovec fields[MESSAGE_FIELDS]; /* a copy, since iovecs are shortened */
    memcpy(fields, message->field, sizeof(fields));
    return splice_pipe_send(&state->pipe, stream, fields, MESSAGE_FIELDS);
}

static int send_new_pages(struct stream *stream, const struct message *message)
{
    const struct splice_state *state = stream->state;
    struct iovec whole = {.iov_base = state->pages.memory, .iov_len = stream->msg_bytes};
    message_gather(message, state->pages.memory);
    const int error = splice_pipe_send(&state->pipe, stream, &whole, 1);
    return error != 0 ? error : pages_give_up(&state->pages, stream);
}

static int splice_send_messages(struct stream *stream)
{
    const struct message *message = next_message(stream);
    return stream->contents_change ? send_new_pages(stream, message)
                                   : send_in_place(stream, message);
}

static void splice_teardown(struct stream *stream)
{
    struct splice_state *state = stream->state;
    splice_pipe_close(&state->pipe);
    pages_free(&state->pages);
}

const struct strategy the_strategy = {
    .name = "splice",
    .summary = "vmsplice of the fields into a pipe, splice from there to the socket",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .state_bytes = sizeof(struct splice_state),
    .setup = splice_setup,
    .send_messages = splice_send_messages,
    .teardown = splice_teardown,
};
