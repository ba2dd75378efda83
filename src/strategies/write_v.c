/*
 * write_v: writev(2) with one iovec per field.
 *
 * Copies: 1: writev(2)
 * System calls: 1 writev(2)
 * Linux: any
 *
 * Path of the bytes: as with one_copy, the kernel copies each field from the application's memory
 * into socket buffers (the only copy), and when writev returns, the application owns its fields
 * again. Only the code path differs: writev works on any file, so it takes no flags, and the kernel
 * goes through the file's operations (vfs_writev, sock_write_iter) instead of straight to the
 * socket. If the peer is gone, it raises SIGPIPE, which these programs ignore. Works on every
 * Linux; writev(2).
 */
#include <sys/uio.h>

#include "send_message.h"
#include "strategy.h"

static ssize_t send_once(struct stream *stream, struct iovec *iov, size_t n_iov)
{
    return count_sent(stream, writev(stream->fd, iov, (int)n_iov), "writev");
}

static int write_v_send_messages(struct stream *stream)
{
    return send_whole(stream, next_message(stream), send_once);
}

const struct strategy the_strategy = {
    .name = "write_v",
    .summary = "writev with one iovec per field",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .send_messages = write_v_send_messages,
};
