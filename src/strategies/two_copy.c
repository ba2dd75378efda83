/*
 * two_copy: gather the fields into one buffer, then send(2).
 *
 * Copies: 2: memcpy(3), send(2)
 * System calls: 1 send(2)
 * Linux: any
 *
 * Path of the bytes: the application copies each field into a buffer of its own (first copy), and
 * the kernel copies that buffer into socket buffers (second copy: send(2) and tcp(7)). When send
 * returns, the application owns its buffer again and may overwrite it. Works on every Linux.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "memory.h"
#include "send_message.h"
#include "strategy.h"

struct two_copy_state {
    /*
     * msg_bytes, reused for every message. Page-aligned: the kernel copies from here in pieces that
     * begin at its own page boundaries, and `rep movsb` is fastest if source and destination are
     * aligned alike.
     */
    char *buffer;
};

static int two_copy_setup(struct stream *stream)
{
    struct two_copy_state *state = stream->state;
    state->buffer = memory_allocate_aligned(stream->msg_bytes);
    return state->buffer != NULL ? 0
                                 : fail(stream->failure, ENOMEM, "two_copy: a buffer of %zu bytes",
                                        stream->msg_bytes);
}

static int two_copy_send_messages(struct stream *stream)
{
    struct two_copy_state *state = stream->state;
    size_t sent_bytes = 0;
    message_gather(next_message(stream), state->buffer); /* the first copy */
    while (sent_bytes < stream->msg_bytes) {
        const size_t left_bytes = stream->msg_bytes - sent_bytes;
        const char *rest = state->buffer + sent_bytes;
        const ssize_t n =
            count_sent(stream, send(stream->fd, rest, left_bytes, MSG_NOSIGNAL), "send");
        if (n < 0) {
            return (int)n;
        }
        count(stream->counters, COUNT_SHORT_WRITES, n > 0 && (size_t)n < left_bytes ? 1 : 0);
        sent_bytes += (size_t)n;
    }
    return 0;
}

static void two_copy_teardown(struct stream *stream)
{
    const struct two_copy_state *state = stream->state;
    free(state->buffer);
}

const struct strategy the_strategy = {
    .name = "two_copy",
    .summary = "memcpy of the fields into one buffer, then send",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .state_bytes = sizeof(struct two_copy_state),
    .setup = two_copy_setup,
    .send_messages = two_copy_send_messages,
    .teardown = two_copy_teardown,
};
