/*
 * write_v: writev(2) with one iovec per field.
 *
 * Path of the bytes: as with one_copy: the kernel copies each field from where the application has
 * it into socket buffers (the only copy), and when writev returns, the application owns its fields
 * again. What differs is the way there: writev is the call for any file, so that the kernel goes
 * through the file's operations (vfs_writev, sock_write_iter) instead of straight to the socket,
 * and cannot be told flags. On a socket whose peer is gone it raises SIGPIPE, which these programs
 * ignore. Works on every Linux; writev(2).
 */
#include <errno.h>
#include <sys/uio.h>

#include "send_rest.h"
#include "strategy.h"

static int write_v_setup(struct stream *stream)
{
    (void)stream; /* it keeps nothing */
    return 0;
}

/* Sends once and counts. Returns the bytes taken (0 after a signal), or -errno. */
static ssize_t send_once(struct stream *stream, struct iovec *iov, size_t n_iov)
{
    const ssize_t n = writev(stream->fd, iov, (int)n_iov);
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
    return fail(stream->failure, errno == EAGAIN ? ETIMEDOUT : errno, "write_v: writev on fd %d",
                stream->fd);
}

static int write_v_send_messages(struct stream *stream)
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

static void write_v_teardown(struct stream *stream)
{
    (void)stream;
}

const struct strategy the_strategy = {
    .name = "write_v",
    .summary = "writev with one iovec per field",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .setup = write_v_setup,
    .send_messages = write_v_send_messages,
    .teardown = write_v_teardown,
};
