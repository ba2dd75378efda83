/* A batch of copying sends through io_uring, for strategies that differ only in the operation. */
#ifndef COPYCOST_URING_BATCH_H
#define COPYCOST_URING_BATCH_H

#include "strategy.h"
#include "uring/stream.h"
#include "uring/uring.h"

#ifdef HAVE_URING

struct uring_batch {
    struct uring uring;
    struct uring_message *messages; /* stream->batch of them */

    /* Prepares the send of what is left of a message; flags are those of send(2). */
    void (*prepare)(struct io_uring_sqe *sqe, struct uring_message *message, int flags);
};

/*
 * Opens the ring and allocates the messages, whose iovecs the caller fills before each send.
 * Returns 0 or -errno; call uring_batch_close in both cases.
 */
int uring_batch_open(struct uring_batch *batch, struct stream *stream);

void uring_batch_close(struct uring_batch *batch);

/* Sends the whole batch: one system call, unless a send was short. Returns 0 or -errno. */
int uring_batch_send(struct uring_batch *batch, struct stream *stream);

#endif

#endif
