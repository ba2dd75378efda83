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

#include "splice/pipe.h"
#include "strategy.h"

static int splice_setup(struct stream *stream)
{
    return splice_pipe_open(stream->state, stream, stream->contents_change);
}

static int splice_send_messages(struct stream *stream)
{
    const struct message *message = next_message(stream);
    struct iovec fields[MESSAGE_FIELDS]; /* a copy, since iovecs are shortened */
    if (stream->contents_change) {
        return splice_pipe_send_new_pages(stream->state, stream, message);
    }
    memcpy(fields, message->field, sizeof(fields));
    return splice_pipe_send(stream->state, stream, fields, MESSAGE_FIELDS);
}

static void splice_teardown(struct stream *stream)
{
    splice_pipe_close(stream->state);
}

const struct strategy the_strategy = {
    .name = "splice",
    .summary = "vmsplice of the fields into a pipe, splice from there to the socket",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .state_bytes = sizeof(struct splice_pipe),
    .setup = splice_setup,
    .send_messages = splice_send_messages,
    .teardown = splice_teardown,
};
