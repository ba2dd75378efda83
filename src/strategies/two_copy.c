/*
 * two_copy: gather the fields into one buffer, then send(2).
 *
 * Path of the bytes: the CPU copies each field into a buffer of the application (first copy), and
 * the kernel copies that buffer into socket buffers (second copy, send(2) and tcp(7)). When send
 * returns, the application owns its buffer again and may overwrite it. Works on every Linux.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "memory.h"
#include "strategy.h"

struct two_copy_state {
    /*
     * msg_bytes, reused for every message. Aligned to a page: the kernel copies from here in pieces
     * that begin where its own pages begin, and `rep movsb` is fastest where source and destination
     * are aligned alike.
     */
    char *buffer;
};

static int two_copy_setup(struct stream *stream)
{
    struct two_copy_state *state = calloc(1, sizeof(*state));
    stream->state = state;
    if (state == NULL) {
        return fail(stream->failure, ENOMEM, "two_copy: state");
    }
    state->buffer = memory_allocate_aligned(stream->msg_bytes);
    if (state->buffer == NULL) {
        return fail(stream->failure, ENOMEM, "two_copy: a buffer of %zu bytes", stream->msg_bytes);
    }
    return 0;
}

static int two_copy_send_messages(struct stream *stream)
{
    struct two_copy_state *state = stream->state;
    const struct message *message = next_message(stream);
    size_t filled_bytes = 0;
    size_t sent_bytes = 0;
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        const struct iovec *field = &message->field[i];
        memcpy(state->buffer + filled_bytes, field->iov_base, field->iov_len);
        filled_bytes += field->iov_len;
    }
    while (sent_bytes < filled_bytes) {
        const size_t left_bytes = filled_bytes - sent_bytes;
        const ssize_t n = send(stream->fd, state->buffer + sent_bytes, left_bytes, MSG_NOSIGNAL);
        count(stream->counters, COUNT_DATA_CALLS, 1);
        if (n < 0) {
            if (errno == EINTR) {
                count(stream->counters, COUNT_EINTR, 1);
                continue;
            }
            /* EAGAIN: SO_SNDTIMEO ran out, the peer does not read. */
            return fail(stream->failure, errno == EAGAIN ? ETIMEDOUT : errno,
                        "two_copy: send on fd %d", stream->fd);
        }
        count(stream->counters, COUNT_BYTES, (uint64_t)n);
        count(stream->counters, COUNT_SHORT_WRITES, (size_t)n < left_bytes ? 1 : 0);
        sent_bytes += (size_t)n;
    }
    return 0;
}

static void two_copy_teardown(struct stream *stream)
{
    struct two_copy_state *state = stream->state;
    if (state != NULL) {
        free(state->buffer);
        free(state);
    }
}

const struct strategy the_strategy = {
    .name = "two_copy",
    .summary = "memcpy of the fields into one buffer, then send",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .setup = two_copy_setup,
    .send_messages = two_copy_send_messages,
    .teardown = two_copy_teardown,
};
