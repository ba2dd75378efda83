/*
 * uring_sendmsg: IORING_OP_SENDMSG through io_uring, with one iovec per field.
 *
 * Copies: 1: IORING_OP_SENDMSG
 * System calls: 1 io_uring_enter(2) for N messages
 * Linux: 5.3
 *
 * Path of the bytes: as with one_copy, the kernel copies each field from the application's memory
 * into socket buffers (the only copy). The fields belong to the kernel until the completion is
 * reaped, for which the sender waits before the next batch. For how a batch (--batch) is submitted
 * and why its sends are linked over TCP, see uring_send.
 *
 * The socket is a registered file of the ring. Needs Linux 5.3, and liburing 2.3 to be built;
 * io_uring_enter(2), io_uring_prep_sendmsg(3).
 */
#include "strategy.h"
#include "uring/batch.h"

#ifdef HAVE_URING

static int uring_sendmsg_probe(struct failure *failure)
{
    return uring_probe(IORING_OP_SENDMSG, "IORING_OP_SENDMSG (Linux 5.3)", failure);
}

static void prepare_sendmsg(struct io_uring_sqe *sqe, struct uring_message *message, int flags)
{
    io_uring_prep_sendmsg(sqe, URING_FILE, uring_message_header(message), (unsigned int)flags);
}

static int uring_sendmsg_setup(struct stream *stream)
{
    struct uring_batch *batch = stream->state;
    batch->prepare = prepare_sendmsg;
    return uring_batch_open(batch, stream);
}

static int uring_sendmsg_send_messages(struct stream *stream)
{
    struct uring_batch *batch = stream->state;
    for (size_t i = 0; i < stream->batch; i++) {
        uring_message_begin(&batch->messages[i], next_message(stream), stream->msg_bytes);
    }
    return uring_batch_send(batch, stream);
}

static void uring_sendmsg_teardown(struct stream *stream)
{
    uring_batch_close(stream->state);
}

#endif

const struct strategy the_strategy = {
    .name = "uring_sendmsg",
    .summary = "sendmsg with one iovec per field, through io_uring",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .batching = true,
#ifdef HAVE_URING
    .state_bytes = sizeof(struct uring_batch),
    .probe = uring_sendmsg_probe,
    .setup = uring_sendmsg_setup,
    .send_messages = uring_sendmsg_send_messages,
    .teardown = uring_sendmsg_teardown,
#else
    .probe = uring_not_built, /* so the others are never called */
#endif
};
