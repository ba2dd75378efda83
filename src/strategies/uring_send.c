/*
 * uring_send: gather the fields into one buffer, then IORING_OP_SEND through io_uring.
 *
 * Copies: 2: memcpy(3), IORING_OP_SEND
 * System calls: 1 io_uring_enter(2) for N messages
 * Linux: 5.6
 *
 * Path of the bytes: as with two_copy, the application copies the fields into a buffer of its own
 * (first copy), and the kernel copies that buffer into socket buffers (second copy). The buffer
 * belongs to the kernel until the completion is reaped, for which the sender waits before the next
 * batch. Only the submission differs: the sends of a batch (--batch) are queued in a ring shared
 * with the kernel, and one io_uring_enter(2) submits them all and waits for their completions. Over
 * TCP they are linked, so that each starts when the previous one is done; otherwise a send that has
 * to wait for room would be overtaken.
 *
 * The socket is a registered file of the ring. Needs Linux 5.6, and liburing 2.3 to be built;
 * io_uring_enter(2), io_uring_prep_send(3).
 */
#include <errno.h>
#include <stdlib.h>

#include "memory.h"
#include "strategy.h"
#include "uring/batch.h"

#ifdef HAVE_URING

struct uring_send_state {
    struct uring_batch batch;
    char *buffers; /* one per message of the batch, each beginning at a page */
    size_t stride_bytes;
};

static int uring_send_probe(struct failure *failure)
{
    return uring_probe(IORING_OP_SEND, "IORING_OP_SEND (Linux 5.6)", failure);
}

static void prepare_send(struct io_uring_sqe *sqe, struct uring_message *message, int flags)
{
    io_uring_prep_send(sqe, URING_FILE, message->iov[0].iov_base, message->iov[0].iov_len, flags);
}

static int uring_send_setup(struct stream *stream)
{
    struct uring_send_state *state = stream->state;
    state->batch.prepare = prepare_send;
    state->stride_bytes = memory_whole_pages(stream->msg_bytes);
    state->buffers = memory_allocate_aligned(stream->batch * state->stride_bytes);
    if (state->buffers == NULL) {
        return fail(stream->failure, ENOMEM, "uring_send: %zu buffers of %zu bytes", stream->batch,
                    stream->msg_bytes);
    }
    return uring_batch_open(&state->batch, stream);
}

static int uring_send_send_messages(struct stream *stream)
{
    struct uring_send_state *state = stream->state;
    for (size_t i = 0; i < stream->batch; i++) {
        char *buffer = state->buffers + i * state->stride_bytes;
        message_gather(next_message(stream), buffer);
        state->batch.messages[i] = (struct uring_message){
            .left_bytes = stream->msg_bytes,
            .iov[0] = {.iov_base = buffer, .iov_len = stream->msg_bytes},
        };
    }
    return uring_batch_send(&state->batch, stream);
}

static void uring_send_teardown(struct stream *stream)
{
    struct uring_send_state *state = stream->state;
    uring_batch_close(&state->batch);
    free(state->buffers);
}

#endif

const struct strategy the_strategy = {
    .name = "uring_send",
    .summary = "memcpy of the fields into one buffer, then send through io_uring",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .batching = true,
#ifdef HAVE_URING
    .state_bytes = sizeof(struct uring_send_state),
    .probe = uring_send_probe,
    .setup = uring_send_setup,
    .send_messages = uring_send_send_messages,
    .teardown = uring_send_teardown,
#else
    .probe = uring_not_built, /* so the others are never called */
#endif
};
