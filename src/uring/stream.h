/* Shared by the strategies that use io_uring: a ring for a stream, and messages in flight. */
#ifndef COPYCOST_URING_STREAM_H
#define COPYCOST_URING_STREAM_H

#include "strategy.h"
#include "uring/uring.h"

#ifdef HAVE_URING

/* A message being sent. */
struct uring_message {
    size_t left_bytes;
    struct iovec iov[MESSAGE_FIELDS]; /* what is left of it, shortened as it is sent */
    size_t used;                      /* how many iovecs are sent whole */
    struct msghdr header;             /* for uring_message_header */
};

/* The ring of a stream, not yet opened. */
struct uring uring_for_stream(const struct stream *stream);

/* Begins a message; its iovecs are copied. */
void uring_message_begin(struct uring_message *message, const struct message *from,
                         size_t msg_bytes);

/* The sendmsg header for what is left; the kernel reads it before the send has its result. */
struct msghdr *uring_message_header(struct uring_message *message);

/* Counts what a send took; the rest of the message is left. */
void uring_message_take(struct uring_message *message, struct stream *stream, size_t n_bytes);

/*
 * The next free submission; there must be one. Over TCP, whose bytes have an order, it begins when
 * the one `before` it (NULL: none) is done, and not at all if that was short. Datagrams are sent as
 * they come.
 */
struct io_uring_sqe *uring_next_send(struct uring *uring, struct io_uring_sqe *before,
                                     enum transport transport);

#endif

#endif
