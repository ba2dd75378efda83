/*
 * uring: multishot recv through io_uring into provided buffers.
 *
 * Path of the bytes: as with recv, the kernel copies them from the socket's queue into a buffer of
 * the application (the only copy on this side). Only the requests differ: one request stays armed
 * and completes repeatedly, each time with the next of a few buffers provided in a ring. A buffer
 * belongs to the kernel until its completion, then to the application, which returns it to the ring
 * after reading it, without a system call. The request ends when no buffer is left; the call that
 * waits for the next completion then submits it again.
 *
 * The socket is a registered file of the ring. Needs Linux 6.0, and liburing 2.3 to be built;
 * io_uring_prep_recv_multishot(3), io_uring_register_buf_ring(3).
 */
#include <errno.h>
#include <stdlib.h>

#include "memory.h"
#include "receiver.h"
#include "uring/uring.h"

#ifdef HAVE_URING

/* Together as large as recv's buffer. The kernel uses them in turn. */
#define N_BUFFERS 4
#define BUFFER_BYTES ((size_t)32 * 1024)
#define BUFFER_GROUP 0

struct uring_state {
    struct uring uring;
    struct io_uring_buf_ring *ready; /* N_BUFFERS places */
    unsigned char *buffers;
    bool is_registered;
    bool is_armed; /* the request is armed */
};

static int uring_receiver_probe(struct failure *failure)
{
    /* Multishot recv cannot be probed, but the same Linux brought this operation. */
    return uring_probe(IORING_OP_SEND_ZC, "multishot recv (Linux 6.0)", failure);
}

static void make_ready(struct uring_state *state, unsigned short buffer)
{
    io_uring_buf_ring_add(state->ready, state->buffers + buffer * BUFFER_BYTES, BUFFER_BYTES,
                          buffer, io_uring_buf_ring_mask(N_BUFFERS), 0);
    io_uring_buf_ring_advance(state->ready, 1);
}

static int register_buffers(struct inflow *inflow)
{
    struct uring_state *state = inflow->state;
    struct io_uring_buf_reg registration = {
        .ring_addr = (uintptr_t)state->ready,
        .ring_entries = N_BUFFERS,
        .bgid = BUFFER_GROUP,
    };
    const int error = io_uring_register_buf_ring(&state->uring.ring, &registration, 0);
    if (error != 0) {
        return fail(inflow->failure, -error, "uring: io_uring_register(IORING_REGISTER_PBUF_RING)");
    }
    state->is_registered = true;
    io_uring_buf_ring_init(state->ready);
    for (unsigned short i = 0; i < N_BUFFERS; i++) {
        make_ready(state, i);
    }
    return 0;
}

static int uring_receiver_setup(struct inflow *inflow)
{
    struct uring_state *state = inflow->state;
    state->uring = (struct uring){
        .user = "uring",
        .fd = inflow->fd,
        .timeout_ns = inflow->timeout_ns,
        .counters = inflow->counters,
        .waits = COUNT_DATA_CALLS,
        .failure = inflow->failure,
    };
    state->ready = memory_allocate_aligned(N_BUFFERS * sizeof(struct io_uring_buf));
    state->buffers = memory_allocate_aligned(N_BUFFERS * BUFFER_BYTES);
    if (state->ready == NULL || state->buffers == NULL) {
        return fail(inflow->failure, ENOMEM, "uring: %d buffers of %zu bytes", N_BUFFERS,
                    BUFFER_BYTES);
    }
    /* One completion per buffer, and those that end the request. */
    const int error = uring_open(&state->uring, 1, 2 * N_BUFFERS);
    return error != 0 ? error : register_buffers(inflow);
}

static void arm(struct uring_state *state)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&state->uring.ring); /* has room for one */
    io_uring_prep_recv_multishot(sqe, URING_FILE, NULL, 0, 0);
    io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT);
    sqe->buf_group = BUFFER_GROUP;
    state->is_armed = true;
}

/* Takes one completion. Returns 1, 0 at the end of the stream, or -errno. */
static int take_completion(struct inflow *inflow, const struct io_uring_cqe *cqe)
{
    struct uring_state *state = inflow->state;
    const unsigned short buffer = (unsigned short)(cqe->flags >> IORING_CQE_BUFFER_SHIFT);
    state->is_armed = (cqe->flags & IORING_CQE_F_MORE) != 0;
    if (cqe->res > 0) {
        inflow_take(inflow, state->buffers + buffer * BUFFER_BYTES, (size_t)cqe->res);
        make_ready(state, buffer);
        return 1;
    }
    if (cqe->res == 0) {
        return 0;
    }
    if (cqe->res == -ENOBUFS) {
        return 1; /* no buffer was left; all are provided again by now */
    }
    if (cqe->res == -EINTR) {
        count(inflow->counters, COUNT_EINTR, 1);
        return 1;
    }
    return fail(inflow->failure, -cqe->res, "connection %zu: multishot recv on fd %d",
                inflow->connection, inflow->fd);
}

static int uring_receiver_receive_all(struct inflow *inflow)
{
    struct uring_state *state = inflow->state;
    struct io_uring *ring = &state->uring.ring;
    for (;;) {
        struct io_uring_cqe *cqe = NULL;
        if (!state->is_armed) {
            arm(state);
        }
        const int error = uring_submit_and_wait(&state->uring, 1);
        if (error != 0) {
            return error;
        }
        while (io_uring_peek_cqe(ring, &cqe) == 0) {
            const int taken = take_completion(inflow, cqe);
            io_uring_cqe_seen(ring, cqe);
            if (taken <= 0) {
                return taken;
            }
        }
    }
}

static void uring_receiver_teardown(struct inflow *inflow)
{
    struct uring_state *state = inflow->state;
    if (state->is_registered) {
        /* The ring's end would do it as well: nothing to check. */
        (void)io_uring_unregister_buf_ring(&state->uring.ring, BUFFER_GROUP);
    }
    uring_close(&state->uring);
    free(state->ready);
    free(state->buffers);
}

#endif

const struct receiver the_receiver = {
    .name = "uring",
    .summary = "multishot recv by io_uring into provided buffers",
    .transports = TRANSPORT_STREAM,
    .verifies = true,
#ifdef HAVE_URING
    .state_bytes = sizeof(struct uring_state),
    .probe = uring_receiver_probe,
    .setup = uring_receiver_setup,
    .receive_all = uring_receiver_receive_all,
    .teardown = uring_receiver_teardown,
#else
    .probe = uring_not_built, /* so that the others are never called */
#endif
};
