#include "contents.h"

#include <string.h>

#include "pattern.h"

/* --fresh: every byte is written, as by an application that has just produced it. */
static void write_fresh(struct stream *stream, struct message *message)
{
    const int byte = (int)(stream->n_written++ & 0xff);
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        memset(message->field[i].iov_base, byte, message->field[i].iov_len);
    }
}

/* --verify: the pattern of this place in the stream. */
static void write_pattern(struct stream *stream, struct message *message)
{
    uint64_t offset = stream->n_written++ * stream->msg_bytes;
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        const struct iovec *field = &message->field[i];
        pattern_write(field->iov_base, field->iov_len, stream->connection, offset);
        offset += field->iov_len;
    }
}

void contents_choose(struct stream *stream, const struct options *options)
{
    stream->contents_change = options->verify || options->fresh;
    stream->write_contents = options->verify ? write_pattern : write_fresh;
}
