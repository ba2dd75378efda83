/*
 * field_by_field: one send(2) per field; what an application does that has not heard of iovecs.
 *
 * Copies: 1: send(2)
 * System calls: 8 send(2), one per field
 * Linux: any
 *
 * Path of the bytes: as with one_copy, but with a system call for each field. MSG_MORE (send(2))
 * keeps the kernel from making a segment of each. (A word in Latin-1, as some editors write: café.)
 */
#include <sys/socket.h>

#include "send_message.h"
#include "strategy.h"

static int send_field(struct stream *stream, const struct iovec *field, int flags)
{
    size_t sent_bytes = 0;
    while (sent_bytes < field->iov_len) {
        const char *rest = (const char *)field->iov_base + sent_bytes;
        const ssize_t n =
            count_sent(stream, send(stream->fd, rest, field->iov_len - sent_bytes, flags), "send");
        if (n < 0) {
            return (int)n;
        }
        sent_bytes += (size_t)n;
        count(stream->counters, COUNT_SHORT_WRITES, n > 0 && sent_bytes < field->iov_len ? 1 : 0);
    }
    return 0;
}

static int field_by_field_send_messages(struct stream *stream)
{
    const struct message *message = next_message(stream);
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        const int more = i + 1 < MESSAGE_FIELDS ? MSG_MORE : 0;
        const int error = send_field(stream, &message->field[i], MSG_NOSIGNAL | more);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

const struct strategy the_strategy = {
    .name = "field_by_field",
    .summary = "one send per field",
    .transports = TRANSPORT_STREAM,
    .send_messages = field_by_field_send_messages,
};
