#include "uring/zc.h"

#ifdef HAVE_URING

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "clock.h"
#include "uring/region.h"
#include "uring/sends.h"
#include "uring/stream.h"
#include "zero_copy/limits.h"

struct outgoing {
    uint32_t slot;
    struct uring_message message;
};

struct uring_zc {
    struct uring uring;
    struct uring_region region; /* if registered */
    struct outgoing *outgoing;  /* stream->batch of them */
    uint16_t send_flags;
    bool registered;
    bool no_memory; /* a send since the last submission was refused for lack of memory */
    struct uring_sends sends;
};

uint32_t uring_zc_slots_in_flight(const struct stream *stream)
{
    const uint32_t n_most = zero_copy_slots(stream);
    const uint32_t n_least = 2 * (uint32_t)stream->batch; /* one prepared while one is in flight */
    return n_most > n_least ? n_most : n_least;
}

int uring_zc_probe(bool registered, struct failure *failure)
{
    const int error =
        uring_probe(IORING_OP_SENDMSG_ZC, "IORING_OP_SENDMSG_ZC (Linux 6.1)", failure);
    if (error != 0 || !registered || uring_sends_registered_iovecs()) {
        return error;
    }
    return fail(failure, EOPNOTSUPP,
                "io_uring: this kernel sends no iovecs from registered buffers (Linux 6.15)");
}

int uring_zc_setup(struct stream *stream, bool registered)
{
    const unsigned int batch = (unsigned int)stream->batch;
    struct uring_zc *state = calloc(1, sizeof(*state));
    stream->state = state;
    if (state == NULL) {
        return fail(stream->failure, ENOMEM, "%s: state", the_strategy.name);
    }
    state->uring = uring_for_stream(stream);
    state->outgoing = calloc(batch, sizeof(*state->outgoing));
    if (state->outgoing == NULL) {
        return fail(stream->failure, ENOMEM, "%s: %u messages", the_strategy.name, batch);
    }
    /* Results of a batch, and notifications of each slot, one more after a short send. */
    const int error = uring_open(&state->uring, batch, batch + 2 * stream->ring.max_taken);
    if (error != 0) {
        return error;
    }
    if (uring_takes_zc_flags(&state->uring.ring, state->outgoing, IORING_SEND_ZC_REPORT_USAGE)) {
        state->send_flags = IORING_SEND_ZC_REPORT_USAGE;
    } else {
        stream->copied_unknown = "this kernel's io_uring does not report it; Linux 6.2 does";
    }
    if (!registered) {
        return 0;
    }
    state->registered = true;
    state->send_flags |= IORING_RECVSEND_FIXED_BUF;
    return uring_region_open(&state->region, &state->uring, &stream->ring);
}

static void take_notification(struct stream *stream, const struct io_uring_cqe *cqe)
{
    struct uring_zc *state = stream->state;
    const uint32_t number = (uint32_t)io_uring_cqe_get_data64(cqe);
    const struct uring_send *send = uring_sends_take_notification(&state->sends, number);
    const bool copied = ((unsigned int)cqe->res & IORING_NOTIF_USAGE_ZC_COPIED) != 0;
    if (send == NULL) {
        return;
    }
    slot_release(stream, send->slot);
    if (send->took_bytes) {
        count(stream->counters, COUNT_ZC_NOTIFICATIONS, 1);
        count(stream->counters, COUNT_ZC_COMPLETED, 1);
        count(stream->counters, COUNT_ZC_COPIED, copied ? 1 : 0);
    }
}

/* A send was refused, or not tried. Returns 0 to try it again, or -errno. */
static int take_refusal(struct stream *stream, int reason)
{
    struct uring_zc *state = stream->state;
    switch (reason) {
    case ECANCELED: /* the one before it in the batch was short, or refused */
        return 0;
    case EINTR:
        count(stream->counters, COUNT_EINTR, 1);
        return 0;
    case ENOMEM: /* RLIMIT_MEMLOCK */
    case ENOBUFS:
        count(stream->counters, COUNT_ENOBUFS, 1);
        state->no_memory = true;
        return 0;
    default:
        return fail(stream->failure, reason, "%s: send on fd %d", the_strategy.name, stream->fd);
    }
}

/* Takes the result of one send. Returns 0 or -errno. */
static int take_result(struct stream *stream, const struct io_uring_cqe *cqe)
{
    struct uring_zc *state = stream->state;
    const uint32_t number = (uint32_t)io_uring_cqe_get_data64(cqe);
    const bool more = (cqe->flags & IORING_CQE_F_MORE) != 0;
    const struct uring_send *send =
        uring_sends_take_result(&state->sends, number, more, cqe->res >= 0);
    if (send->phase == SEND_OVER) {
        slot_release(stream, send->slot);
    }
    if (cqe->res < 0) {
        return take_refusal(stream, -cqe->res);
    }
    count(stream->counters, COUNT_ZC_SENT, send->phase == SEND_PINNED ? 1 : 0);
    uring_message_take(&state->outgoing[send->place].message, stream, (size_t)cqe->res);
    return 0;
}

/* Submits what is queued, waits for n completions and takes all that have come. 0 or -errno. */
static int await_completions(struct stream *stream, uint32_t n)
{
    struct uring_zc *state = stream->state;
    struct io_uring *ring = &state->uring.ring;
    struct io_uring_cqe *cqe = NULL;
    int error = uring_submit_and_wait(&state->uring, n);
    while (error == 0 && io_uring_peek_cqe(ring, &cqe) == 0) {
        if ((cqe->flags & IORING_CQE_F_NOTIF) != 0) {
            take_notification(stream, cqe);
        } else {
            error = take_result(stream, cqe);
        }
        io_uring_cqe_seen(ring, cqe);
    }
    return error;
}

/* Takes a slot for each message of the batch, waiting for notifications if none is free. */
static int take_slots(struct stream *stream)
{
    const struct uring_zc *state = stream->state;
    for (size_t i = 0; i < stream->batch; i++) {
        struct outgoing *outgoing = &state->outgoing[i];
        for (outgoing->slot = slot_take(stream); outgoing->slot == NO_SLOT;
             outgoing->slot = slot_take(stream)) {
            const int error = await_completions(stream, 1);
            if (error != 0) {
                return error;
            }
        }
        uring_message_begin(&outgoing->message, slot_message(stream, outgoing->slot),
                            stream->msg_bytes);
    }
    return 0;
}

/* Queues every message that is not yet sent whole; each send holds its slot. */
static void queue_unsent(struct stream *stream)
{
    struct uring_zc *state = stream->state;
    struct io_uring_sqe *sqe = NULL;
    for (size_t i = 0; i < stream->batch; i++) {
        struct outgoing *outgoing = &state->outgoing[i];
        const uint32_t slot = outgoing->slot;
        if (outgoing->message.left_bytes > 0) {
            sqe = uring_next_send(&state->uring, sqe, stream->transport);
            io_uring_prep_sendmsg_zc(sqe, URING_FILE, uring_message_header(&outgoing->message),
                                     MSG_NOSIGNAL | MSG_WAITALL);
            sqe->ioprio = state->send_flags;
            sqe->buf_index = state->registered ? uring_region_buffer(&state->region, slot) : 0;
            io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
            io_uring_sqe_set_data64(sqe, uring_sends_begin(&state->sends, slot, (uint16_t)i));
            slot_hold(stream, slot);
        }
    }
}

/*
 * After a refusal for lack of memory: waits for a notification, which returns some, or else a
 * moment for other sockets of this user, which share the limit, until the deadline.
 */
static int make_room(struct stream *stream, uint64_t deadline_ns)
{
    static const struct timespec MOMENT = {.tv_nsec = (long)NS_PER_MS};
    struct uring_zc *state = stream->state;
    state->no_memory = false;
    if (state->sends.n_pinned > 0) {
        return await_completions(stream, 1);
    }
    if (zero_copy_never_fits(stream) || clock_now_ns() >= deadline_ns) {
        return zero_copy_fail_for_limits(stream, false);
    }
    (void)nanosleep(&MOMENT, NULL); /* a signal only shortens it */
    count(stream->counters, COUNT_OTHER_CALLS, 1);
    return 0;
}

/* Sends what is left of the batch, once. Returns 0 or -errno. */
static int send_round(struct stream *stream)
{
    struct uring_zc *state = stream->state;
    int error = 0;
    while (error == 0 && !uring_sends_have_room(&state->sends, (uint32_t)stream->batch)) {
        error = await_completions(stream, 1);
    }
    if (error == 0) {
        queue_unsent(stream);
    }
    while (error == 0 && state->sends.n_submitted > 0) {
        error = await_completions(stream, state->sends.n_submitted);
    }
    return error;
}

static bool is_batch_whole(const struct stream *stream)
{
    const struct uring_zc *state = stream->state;
    size_t left_bytes = 0;
    for (size_t i = 0; i < stream->batch; i++) {
        left_bytes += state->outgoing[i].message.left_bytes;
    }
    return left_bytes == 0;
}

static int send_taken(struct stream *stream)
{
    const struct uring_zc *state = stream->state;
    uint64_t deadline_ns = 0; /* of waiting for memory; 0: not waiting */
    int error = 0;
    while (error == 0 && !is_batch_whole(stream)) {
        error = send_round(stream);
        if (error == 0 && state->no_memory) {
            deadline_ns = deadline_ns > 0 ? deadline_ns : clock_now_ns() + stream->timeout_ns;
            error = make_room(stream, deadline_ns);
        } else {
            deadline_ns = 0;
        }
    }
    return error;
}

int uring_zc_send_messages(struct stream *stream)
{
    const struct uring_zc *state = stream->state;
    int error = take_slots(stream);
    if (error == 0) {
        error = send_taken(stream);
    }
    for (size_t i = 0; error == 0 && i < stream->batch; i++) {
        slot_release(stream, state->outgoing[i].slot); /* held until it was sent whole */
    }
    return error;
}

int uring_zc_drain(struct stream *stream)
{
    const struct uring_zc *state = stream->state;
    while (state->sends.n_pinned > 0) {
        const int error = await_completions(stream, 1);
        if (error != 0) {
            return error;
        }
    }
    return zero_copy_check_completed(stream);
}

void uring_zc_teardown(struct stream *stream)
{
    struct uring_zc *state = stream->state;
    uring_region_close(&state->region, &state->uring);
    uring_close(&state->uring);
    free(state->outgoing);
}

#endif
