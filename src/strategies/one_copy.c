/*
 * one_copy: sendmsg(2) with one iovec per field.
 *
 * Copies: 1: sendmsg(2)
 * System calls: 1 sendmsg(2)
 * Linux: any
 *
 * Path of the bytes: the kernel copies each field from the application's memory into socket buffers
 * (the only copy: sendmsg(2), and readv(2) for gather output). When sendmsg returns, the
 * application owns its fields again. Works on every Linux.
 */
#include <sys/socket.h>

#include "send_message.h"
#include "strategy.h"

static ssize_t send_once(struct stream *stream, struct iovec *iov, size_t n_iov)
{
    const struct msghdr header = {.msg_iov = iov, .msg_iovlen = n_iov};
    return count_sent(stream, sendmsg(stream->fd, &header, MSG_NOSIGNAL), "sendmsg");
}

static int one_copy_send_messages(struct stream *stream)
{
    return send_whole(stream, next_message(stream), send_once);
}

const struct strategy the_strategy = {
    .name = "one_copy",
    .summary = "sendmsg with one iovec per field",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .send_messages = one_copy_send_messages,
};
