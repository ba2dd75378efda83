#include "uring/stream.h"

#ifdef HAVE_URING

#include <string.h>

struct uring uring_for_stream(const struct stream *stream)
{
    return (struct uring){
        .user = the_strategy.name,
        .fd = stream->fd,
        .timeout_ns = stream->timeout_ns,
        .counters = stream->counters,
        .waits = COUNT_POLL_CALLS,
        .failure = stream->failure,
    };
}

void uring_message_begin(struct uring_message *message, const struct message *from,
                         size_t msg_bytes)
{
    message->left_bytes = msg_bytes;
    memcpy(message->iov, from->field, sizeof(message->iov));
    /* Registered iovecs must not be empty; only fields before the last one ever are. */
    message->used = iovec_skip(message->iov, MESSAGE_FIELDS, 0);
}

struct msghdr *uring_message_header(struct uring_message *message)
{
    message->header = (struct msghdr){
        .msg_iov = message->iov + message->used,
        .msg_iovlen = MESSAGE_FIELDS - message->used,
    };
    return &message->header;
}

void uring_message_take(struct uring_message *message, struct stream *stream, size_t n_bytes)
{
    message->left_bytes -= n_bytes;
    message->used +=
        iovec_skip(message->iov + message->used, MESSAGE_FIELDS - message->used, n_bytes);
    count(stream->counters, COUNT_BYTES, n_bytes);
    count(stream->counters, COUNT_SHORT_WRITES, message->left_bytes > 0 ? 1 : 0);
}

struct io_uring_sqe *uring_next_send(struct uring *uring, struct io_uring_sqe *before,
                                     enum transport transport)
{
    if (before != NULL && transport == TRANSPORT_STREAM) {
        io_uring_sqe_set_flags(before, IOSQE_FIXED_FILE | IOSQE_IO_LINK);
    }
    return io_uring_get_sqe(&uring->ring);
}

#endif
