#include "send_message.h"

#include <errno.h>
#include <string.h>

int send_error(struct stream *stream, const char *call)
{
    if (errno == EINTR) {
        count(stream->counters, COUNT_EINTR, 1);
        return 0;
    }
    /* EAGAIN: SO_SNDTIMEO expired, the peer does not read. */
    return fail(stream->failure, errno == EAGAIN ? ETIMEDOUT : errno, "%s: %s on fd %d",
                the_strategy.name, call, stream->fd);
}

int send_rest(struct stream *stream, const struct message *message, size_t sent_bytes,
              send_iovecs *send_once)
{
    struct iovec rest[MESSAGE_FIELDS]; /* a copy, since iovecs are shortened */
    memcpy(rest, message->field, sizeof(rest));
    size_t used = iovec_skip(rest, MESSAGE_FIELDS, sent_bytes);
    while (sent_bytes < stream->msg_bytes) {
        const ssize_t n = send_once(stream, rest + used, MESSAGE_FIELDS - used);
        if (n < 0) {
            return (int)n;
        }
        used += iovec_skip(rest + used, MESSAGE_FIELDS - used, (size_t)n);
        sent_bytes += (size_t)n;
        count(stream->counters, COUNT_SHORT_WRITES,
              n > 0 && sent_bytes < stream->msg_bytes ? 1 : 0);
    }
    return 0;
}
