#include "messages/contents.h"

#include <string.h>

#include "messages/pattern.h"

/* --fresh: every byte is written, as by an application that has just produced it. */
static void write_fresh(struct stream *stream, struct message *message)
{
    const int byte = (int)(stream->n_written++ & 0xff);
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        memset(message->field[i].iov_base, byte, message->field[i].iov_len);
    }
}

/* The first bytes of a datagram, which may span fields. */
static void write_number(const struct message *message, size_t msg_bytes, uint64_t number)
{
    size_t place = 0;
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        unsigned char *to = message->field[i].iov_base;
        for (size_t j = 0; j < message->field[i].iov_len; j++) {
            if (place == pattern_number_bytes(msg_bytes)) {
                return;
            }
            to[j] = pattern_number_byte(number, place++);
        }
    }
}

/* --verify: the pattern at this offset of the stream. */
static void write_pattern(struct stream *stream, struct message *message)
{
    const uint64_t number = stream->n_written++;
    uint64_t offset = number * stream->msg_bytes;
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        const struct iovec *field = &message->field[i];
        pattern_write(field->iov_base, field->iov_len, stream->connection, offset);
        offset += field->iov_len;
    }
    if (stream->transport == TRANSPORT_DATAGRAM) {
        write_number(message, stream->msg_bytes, number);
    }
}

void contents_choose(struct stream *stream, const struct options *options)
{
    stream->contents_change = options->verify || options->fresh;
    stream->write_contents = options->verify ? write_pattern : write_fresh;
}
