#include "uring_zc.h"

#ifdef HAVE_URING

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "clock.h"
#include "uring_region.h"

/*
 * Messages in flight per connection, as in zero_copy: large ones as many as hold twice the largest
 * send buffer that Linux takes by itself, small ones as many as zero_copy may have.
 */
#define IN_FLIGHT_BYTES ((size_t)8 << 20)
#define MIN_SLOTS 4U
#define MAX_SLOTS 256U

#define SLOT_SHIFT 32 /* in a completion's user data; below it the place in the batch */

struct outgoing {
    uint32_t slot;
    size_t left_bytes;
    size_t used;
    struct iovec rest[MESSAGE_FIELDS];
    struct msghdr header;
};

struct uring_zc {
    struct uring uring;
    struct uring_region region; /* if registered */
    struct outgoing *outgoing;  /* stream->batch of them */
    uint32_t *due;              /* by slot: notifications that have yet to come */
    uint32_t n_results_due;     /* sends submitted whose result is not taken */
    uint32_t n_notifications_due;
    uint16_t send_flags;
    bool registered;
    bool no_memory; /* since the last submission a send was refused for want of memory */
};

uint32_t uring_zc_slots_in_flight(const struct stream *stream)
{
    const size_t n_fitting = IN_FLIGHT_BYTES / stream->msg_bytes;
    const size_t n_most = n_fitting < MAX_SLOTS ? n_fitting : MAX_SLOTS;
    /* One batch is prepared while another is in flight. */
    const size_t n_least = 2 * stream->batch > MIN_SLOTS ? 2 * stream->batch : MIN_SLOTS;
    return (uint32_t)(n_most > n_least ? n_most : n_least);
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

int uring_zc_setup(struct stream *stream, const char *user, bool registered)
{
    const unsigned int batch = (unsigned int)stream->batch;
    struct uring_zc *state = calloc(1, sizeof(*state));
    stream->state = state;
    if (state == NULL) {
        return fail(stream->failure, ENOMEM, "%s: state", user);
    }
    state->uring = (struct uring){
        .user = user,
        .fd = stream->fd,
        .timeout_ns = stream->timeout_ns,
        .counters = stream->counters,
        .waits = COUNT_POLL_CALLS,
        .failure = stream->failure,
    };
    state->outgoing = calloc(batch, sizeof(*state->outgoing));
    state->due = calloc(stream->ring.n_slots, sizeof(*state->due));
    if (state->outgoing == NULL || state->due == NULL) {
        return fail(stream->failure, ENOMEM, "%s: %u messages", user, batch);
    }
    /* Results of a batch, and notifications of each slot; one more where a send was short. */
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
    const uint32_t slot = (uint32_t)(io_uring_cqe_get_data64(cqe) >> SLOT_SHIFT);
    const bool copied = ((unsigned int)cqe->res & IORING_NOTIF_USAGE_ZC_COPIED) != 0;
    if (state->due[slot] == 0) {
        return; /* of a send that was refused: Linux 6.18 tells of its end as well */
    }
    state->due[slot]--;
    state->n_notifications_due--;
    slot_release(stream, slot);
    count(stream->counters, COUNT_ZC_NOTIFICATIONS, 1);
    count(stream->counters, COUNT_ZC_COMPLETED, 1);
    count(stream->counters, COUNT_ZC_COPIED, copied ? 1 : 0);
}

/* Takes the result of one send. Returns 0 or -errno. */
static int take_result(struct stream *stream, const struct io_uring_cqe *cqe)
{
    struct uring_zc *state = stream->state;
    struct outgoing *outgoing = &state->outgoing[(uint32_t)io_uring_cqe_get_data64(cqe)];
    state->n_results_due--;
    if ((cqe->flags & IORING_CQE_F_MORE) != 0) { /* a notification will follow */
        state->due[outgoing->slot]++;
        state->n_notifications_due++;
        count(stream->counters, COUNT_ZC_SENT, 1);
    } else {
        slot_release(stream, outgoing->slot);
    }
    if (cqe->res >= 0) {
        const size_t n_bytes = (size_t)cqe->res;
        outgoing->left_bytes -= n_bytes;
        outgoing->used +=
            iovec_skip(outgoing->rest + outgoing->used, MESSAGE_FIELDS - outgoing->used, n_bytes);
        count(stream->counters, COUNT_BYTES, n_bytes);
        count(stream->counters, COUNT_SHORT_WRITES, outgoing->left_bytes > 0 ? 1 : 0);
        return 0;
    }
    switch (-cqe->res) {
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
        return fail(stream->failure, -cqe->res, "%s: send on fd %d", state->uring.user, stream->fd);
    }
}

/* Submits what is queued, waits for n completions and takes all that are there. 0 or -errno. */
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

/* Takes a slot for each message of the batch, waiting for notifications where there is none. */
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
        outgoing->left_bytes = stream->msg_bytes;
        memcpy(outgoing->rest, slot_message(stream, outgoing->slot)->field, sizeof(outgoing->rest));
        /* Registered iovecs may not be empty; only the fields before the last ever are. */
        outgoing->used = iovec_skip(outgoing->rest, MESSAGE_FIELDS, 0);
    }
    return 0;
}

/* Queues every message that is not yet whole and returns how many; each send holds its slot. */
static uint32_t queue_unsent(struct stream *stream)
{
    struct uring_zc *state = stream->state;
    struct io_uring_sqe *last = NULL;
    uint32_t n_queued = 0;
    for (size_t i = 0; i < stream->batch; i++) {
        struct outgoing *outgoing = &state->outgoing[i];
        if (outgoing->left_bytes == 0) {
            continue;
        }
        outgoing->header = (struct msghdr){
            .msg_iov = outgoing->rest + outgoing->used,
            .msg_iovlen = MESSAGE_FIELDS - outgoing->used,
        };
        struct io_uring_sqe *sqe = io_uring_get_sqe(&state->uring.ring); /* has room for all */
        io_uring_prep_sendmsg_zc(sqe, URING_FILE, &outgoing->header, MSG_NOSIGNAL | MSG_WAITALL);
        sqe->ioprio = state->send_flags;
        sqe->buf_index =
            state->registered ? uring_region_buffer(&state->region, outgoing->slot) : 0;
        io_uring_sqe_set_data64(sqe, (uint64_t)outgoing->slot << SLOT_SHIFT | i);
        io_uring_sqe_set_flags(sqe, stream->transport == TRANSPORT_STREAM
                                        ? IOSQE_FIXED_FILE | IOSQE_IO_LINK
                                        : IOSQE_FIXED_FILE);
        slot_hold(stream, outgoing->slot);
        last = sqe;
        n_queued++;
    }
    if (last != NULL) {
        io_uring_sqe_set_flags(last, IOSQE_FIXED_FILE);
    }
    return n_queued;
}

/*
 * After a refusal for want of memory: waits for a notification, which gives some back, or else a
 * moment for other sockets of this user, which share the limit, until the deadline.
 */
static int make_room(struct stream *stream, uint64_t deadline_ns)
{
    static const struct timespec MOMENT = {.tv_nsec = (long)NS_PER_MS};
    struct uring_zc *state = stream->state;
    state->no_memory = false;
    if (state->n_notifications_due > 0) {
        return await_completions(stream, 1);
    }
    if (clock_now_ns() < deadline_ns) {
        (void)nanosleep(&MOMENT, NULL); /* a signal only shortens it */
        count(stream->counters, COUNT_OTHER_CALLS, 1);
        return 0;
    }
    return fail(stream->failure, ENOBUFS,
                "%s: send of %zu bytes on fd %d with nothing in flight: more locked memory than "
                "RLIMIT_MEMLOCK allows; raise it (ulimit -l), run as root, or send smaller "
                "messages",
                state->uring.user, stream->msg_bytes, stream->fd);
}

static int send_taken(struct stream *stream)
{
    struct uring_zc *state = stream->state;
    uint64_t deadline_ns = 0; /* of the time without memory; 0: there was memory */
    int error = 0;
    while (error == 0) {
        state->n_results_due = queue_unsent(stream);
        if (state->n_results_due == 0) {
            return 0;
        }
        while (error == 0 && state->n_results_due > 0) {
            error = await_completions(stream, state->n_results_due);
        }
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
        slot_release(stream, state->outgoing[i].slot); /* we held it until it was whole */
    }
    return error;
}

int uring_zc_drain(struct stream *stream)
{
    const struct uring_zc *state = stream->state;
    const struct counters *counters = stream->counters;
    while (state->n_notifications_due > 0) {
        const int error = await_completions(stream, 1);
        if (error != 0) {
            return error;
        }
    }
    if (counter_value(counters, COUNT_ZC_SENT) != counter_value(counters, COUNT_ZC_COMPLETED)) {
        return fail(stream->failure, 0,
                    "%s: %" PRIu64 " sends on fd %d, but %" PRIu64 " notifications",
                    state->uring.user, counter_value(counters, COUNT_ZC_SENT), stream->fd,
                    counter_value(counters, COUNT_ZC_COMPLETED));
    }
    return 0;
}

void uring_zc_teardown(struct stream *stream)
{
    struct uring_zc *state = stream->state;
    if (state != NULL) {
        uring_close(&state->uring);
        uring_region_close(&state->region);
        free(state->outgoing);
        free(state->due);
        free(state);
    }
}

#endif
