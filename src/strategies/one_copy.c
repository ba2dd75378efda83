/*
 * one_copy: sendmsg(2) with one iovec per field.
 *
 * Path of the bytes: the kernel copies each field from where the application has it into socket
 * buffers (the only copy, sendmsg(2) and readv(2) on gathering). When sendmsg returns, the
 * application owns its fields again. Works on every Linux.
 */
#include <errno.h>
#include <sys/socket.h>

#include "send_rest.h"
#include "strategy.h"

static int one_copy_setup(struct stream *stream)
{
    (void)stream; /* it keeps nothing */
    return 0;
}

/* Sends once and counts. Returns the bytes taken (0 after a signal), or -errno. */
static ssize_t send_once(struct stream *stream, struct iovec *iov, size_t n_iov)
{
    const struct msghdr header = {.msg_iov = iov, .msg_iovlen = n_iov};
    const ssize_t n = sendmsg(stream->fd, &header, MSG_NOSIGNAL);
    count(stream->counters, COUNT_DATA_CALLS, 1);
    if (n >= 0) {
        count(stream->counters, COUNT_BYTES, (uint64_t)n);
        return n;
    }
    if (errno == EINTR) {
        count(stream->counters, COUNT_EINTR, 1);
        return 0;
    }
    /* EAGAIN: SO_SNDTIMEO ran out, the peer does not read. */
    return fail(stream->failure, errno == EAGAIN ? ETIMEDOUT : errno, "one_copy: sendmsg on fd %d",
                stream->fd);
}

static int one_copy_send_messages(struct stream *stream)
{
    struct message *message = next_message(stream);
    const ssize_t n = send_once(stream, message->field, MESSAGE_FIELDS);
    if (n < 0) {
        return (int)n;
    }
    if ((size_t)n == stream->msg_bytes) {
        return 0;
    }
    count(stream->counters, COUNT_SHORT_WRITES, n > 0 ? 1 : 0);
    return send_rest(stream, message, (size_t)n, send_once);
}

static void one_copy_teardown(struct stream *stream)
{
    (void)stream;
}

const struct strategy the_strategy = {
    .name = "one_copy",
    .summary = "sendmsg with one iovec per field",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .setup = one_copy_setup,
    .send_messages = one_copy_send_messages,
    .teardown = one_copy_teardown,
};
