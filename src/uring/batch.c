#include "uring/batch.h"

#ifdef HAVE_URING

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

int uring_batch_open(struct uring_batch *batch, struct stream *stream)
{
    const unsigned int n = (unsigned int)stream->batch;
    batch->uring = uring_for_stream(stream);
    batch->messages = calloc(n, sizeof(*batch->messages));
    if (batch->messages == NULL) {
        return fail(stream->failure, ENOMEM, "%s: %u messages", the_strategy.name, n);
    }
    return uring_open(&batch->uring, n, n);
}

void uring_batch_close(struct uring_batch *batch)
{
    uring_close(&batch->uring);
    free(batch->messages);
    batch->messages = NULL;
}

/* Queues every message that is not yet sent whole and returns how many. */
static unsigned int queue_unsent(struct uring_batch *batch, const struct stream *stream)
{
    struct io_uring_sqe *sqe = NULL;
    unsigned int n_queued = 0;
    for (size_t i = 0; i < stream->batch; i++) {
        struct uring_message *message = &batch->messages[i];
        if (message->left_bytes > 0) {
            sqe = uring_next_send(&batch->uring, sqe, stream->transport);
            /* MSG_WAITALL: after a short send the kernel continues by itself. */
            batch->prepare(sqe, message, MSG_NOSIGNAL | MSG_WAITALL);
            io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
            io_uring_sqe_set_data64(sqe, i);
            n_queued++;
        }
    }
    return n_queued;
}

/* Takes the result of one send. Returns 0 or -errno. */
static int take_result(struct uring_batch *batch, struct stream *stream,
                       const struct io_uring_cqe *cqe)
{
    struct uring_message *message = &batch->messages[io_uring_cqe_get_data64(cqe)];
    if (cqe->res < 0) {
        if (cqe->res == -ECANCELED) {
            return 0; /* the one before it was short */
        }
        if (cqe->res == -EINTR) {
            count(stream->counters, COUNT_EINTR, 1);
            return 0;
        }
        return fail(stream->failure, -cqe->res, "%s: send on fd %d", the_strategy.name, stream->fd);
    }
    uring_message_take(message, stream, (size_t)cqe->res);
    return 0;
}

int uring_batch_send(struct uring_batch *batch, struct stream *stream)
{
    struct io_uring *ring = &batch->uring.ring;
    for (;;) {
        const unsigned int n_queued = queue_unsent(batch, stream);
        if (n_queued == 0) {
            return 0;
        }
        int error = uring_submit_and_wait(&batch->uring, n_queued);
        for (unsigned int i = 0; error == 0 && i < n_queued; i++) {
            struct io_uring_cqe *cqe = NULL;
            error = io_uring_peek_cqe(ring, &cqe); /* as many have come as were waited for */
            if (error == 0) {
                error = take_result(batch, stream, cqe);
                io_uring_cqe_seen(ring, cqe);
            }
        }
        if (error != 0) {
            return error;
        }
    }
}

#endif
