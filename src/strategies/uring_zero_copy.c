/*
 * uring_zero_copy: IORING_OP_SENDMSG_ZC by io_uring, with one iovec per field.
 *
 * Path of the bytes: as with zero_copy: the kernel pins the pages of the fields and lets socket
 * buffers refer to them; no copy on the way to the device, and one before local delivery on
 * loopback and veth. What differs is how the kernel says so. Each send has two completions in the
 * ring: its result, and, when nothing refers to the pages any more, a notification
 * (IORING_CQE_F_NOTIF), until which the fields belong to the kernel. Both are read from memory
 * that both sides see, where MSG_ZEROCOPY needs a recvmsg(MSG_ERRQUEUE) for each notification, and
 * the kernel a packet on the error queue to carry it. The notification also tells whether the
 * kernel copied after all (IORING_SEND_ZC_REPORT_USAGE, Linux 6.2).
 *
 * A batch (--batch) is submitted by one io_uring_enter(2), linked over TCP as in uring_send. The
 * socket is a registered file of the ring. The fields are no registered buffers: those would spare
 * the pinning, but all iovecs of a send must lie in the same one (and that only since Linux 6.15),
 * where the fields of a message are allocated one by one.
 *
 * Needs Linux 6.1, and liburing 2.3 to be built; io_uring_enter(2), io_uring_prep_sendmsg_zc(3).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>

#include "strategy.h"
#include "uring.h"

#ifdef HAVE_URING

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

struct uring_zero_copy_state {
    struct uring uring;
    uint16_t send_flags;       /* IORING_SEND_ZC_REPORT_USAGE where the kernel knows it */
    struct outgoing *outgoing; /* stream->batch of them */
    uint32_t n_results_due;    /* sends submitted whose result is not taken */
    uint32_t n_notifications_due;
    bool no_memory; /* since the last submission a send was refused for want of memory */
};

static int uring_zero_copy_probe(struct failure *failure)
{
    return uring_probe(IORING_OP_SENDMSG_ZC, "IORING_OP_SENDMSG_ZC (Linux 6.1)", failure);
}

static uint32_t uring_zero_copy_slots_in_flight(const struct stream *stream)
{
    const size_t n_fitting = IN_FLIGHT_BYTES / stream->msg_bytes;
    const size_t n_most = n_fitting < MAX_SLOTS ? n_fitting : MAX_SLOTS;
    /* One batch is prepared while another is in flight. */
    const size_t n_least = 2 * stream->batch > MIN_SLOTS ? 2 * stream->batch : MIN_SLOTS;
    return (uint32_t)(n_most > n_least ? n_most : n_least);
}

/* The result of a send that reports copies, on a socket that is connected to nothing. */
static int try_report_usage(int fd)
{
    struct iovec iov = {.iov_base = &fd, .iov_len = sizeof(fd)};
    const struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1};
    struct io_uring_cqe *cqe = NULL;
    struct io_uring ring; /* its own, since a send that fails may leave a notification behind */
    int error = io_uring_queue_init(1, &ring, 0);
    if (error != 0) {
        return error;
    }
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
    io_uring_prep_sendmsg_zc(sqe, fd, &header, MSG_NOSIGNAL);
    sqe->ioprio = IORING_SEND_ZC_REPORT_USAGE;
    error = io_uring_submit(&ring);
    if (error >= 0) {
        do {
            error = io_uring_wait_cqe(&ring, &cqe);
            if (error == 0) {
                error = cqe->res;
                io_uring_cqe_seen(&ring, cqe);
            }
        } while (cqe != NULL && (cqe->flags & IORING_CQE_F_NOTIF) != 0);
    }
    io_uring_queue_exit(&ring);
    return error;
}

/* Finds out whether this kernel reports copies: one that does not refuses the flag (EINVAL) before
 * it looks at the socket. Returns 0 or -errno. */
static int find_report_usage(struct stream *stream)
{
    struct uring_zero_copy_state *state = stream->state;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return fail(stream->failure, errno, "uring_zero_copy: socket");
    }
    if (try_report_usage(fd) == -EINVAL) {
        stream->copied_unknown = "this kernel's io_uring does not report it; Linux 6.2 does";
    } else {
        state->send_flags = IORING_SEND_ZC_REPORT_USAGE;
    }
    return close(fd) == 0 ? 0 : fail(stream->failure, errno, "uring_zero_copy: close of fd %d", fd);
}

static int uring_zero_copy_setup(struct stream *stream)
{
    const unsigned int batch = (unsigned int)stream->batch;
    struct uring_zero_copy_state *state = calloc(1, sizeof(*state));
    stream->state = state;
    if (state == NULL) {
        return fail(stream->failure, ENOMEM, "uring_zero_copy: state");
    }
    state->uring = (struct uring){
        .user = "uring_zero_copy",
        .fd = stream->fd,
        .timeout_ns = stream->timeout_ns,
        .counters = stream->counters,
        .waits = COUNT_POLL_CALLS,
        .failure = stream->failure,
    };
    state->outgoing = calloc(batch, sizeof(*state->outgoing));
    if (state->outgoing == NULL) {
        return fail(stream->failure, ENOMEM, "uring_zero_copy: %u messages", batch);
    }
    /* Results of a batch, and notifications of each slot; one more where a send was short. */
    const int error = uring_open(&state->uring, batch, batch + 2 * stream->ring.max_taken);
    return error != 0 ? error : find_report_usage(stream);
}

static void take_notification(struct stream *stream, const struct io_uring_cqe *cqe)
{
    struct uring_zero_copy_state *state = stream->state;
    const bool copied = ((unsigned int)cqe->res & IORING_NOTIF_USAGE_ZC_COPIED) != 0;
    slot_release(stream, (uint32_t)(io_uring_cqe_get_data64(cqe) >> SLOT_SHIFT));
    state->n_notifications_due--;
    count(stream->counters, COUNT_ZC_NOTIFICATIONS, 1);
    count(stream->counters, COUNT_ZC_COMPLETED, 1);
    count(stream->counters, COUNT_ZC_COPIED, state->send_flags != 0 && copied ? 1 : 0);
}

/* Takes the result of one send. Returns 0 or -errno. */
static int take_result(struct stream *stream, const struct io_uring_cqe *cqe)
{
    struct uring_zero_copy_state *state = stream->state;
    struct outgoing *outgoing = &state->outgoing[(uint32_t)io_uring_cqe_get_data64(cqe)];
    state->n_results_due--;
    if ((cqe->flags & IORING_CQE_F_MORE) != 0) { /* a notification will follow */
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
        return fail(stream->failure, -cqe->res, "uring_zero_copy: send on fd %d", stream->fd);
    }
}

/* Submits what is queued, waits for n completions and takes all that are there. 0 or -errno. */
static int await_completions(struct stream *stream, uint32_t n)
{
    struct uring_zero_copy_state *state = stream->state;
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
    const struct uring_zero_copy_state *state = stream->state;
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
        outgoing->used = 0;
        memcpy(outgoing->rest, slot_message(stream, outgoing->slot)->field, sizeof(outgoing->rest));
    }
    return 0;
}

/* Queues every message that is not yet whole and returns how many; each send holds its slot. */
static uint32_t queue_unsent(struct stream *stream)
{
    struct uring_zero_copy_state *state = stream->state;
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

/* After a refusal for want of memory: waits for a notification, which gives some back. */
static int make_room(struct stream *stream)
{
    struct uring_zero_copy_state *state = stream->state;
    state->no_memory = false;
    if (state->n_notifications_due > 0) {
        return await_completions(stream, 1);
    }
    return fail(stream->failure, ENOBUFS,
                "uring_zero_copy: send of %zu bytes on fd %d with nothing in flight: more locked "
                "memory than RLIMIT_MEMLOCK allows; raise it (ulimit -l), run as root, or send "
                "smaller messages",
                stream->msg_bytes, stream->fd);
}

static int send_taken(struct stream *stream)
{
    struct uring_zero_copy_state *state = stream->state;
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
            error = make_room(stream);
        }
    }
    return error;
}

static int uring_zero_copy_send_messages(struct stream *stream)
{
    const struct uring_zero_copy_state *state = stream->state;
    int error = take_slots(stream);
    if (error == 0) {
        error = send_taken(stream);
    }
    for (size_t i = 0; error == 0 && i < stream->batch; i++) {
        slot_release(stream, state->outgoing[i].slot); /* we held it until it was whole */
    }
    return error;
}

static int uring_zero_copy_drain(struct stream *stream)
{
    const struct uring_zero_copy_state *state = stream->state;
    const struct counters *counters = stream->counters;
    while (state->n_notifications_due > 0) {
        const int error = await_completions(stream, 1);
        if (error != 0) {
            return error;
        }
    }
    if (counter_value(counters, COUNT_ZC_SENT) != counter_value(counters, COUNT_ZC_COMPLETED)) {
        return fail(stream->failure, 0,
                    "uring_zero_copy: %" PRIu64 " sends on fd %d, but %" PRIu64 " notifications",
                    counter_value(counters, COUNT_ZC_SENT), stream->fd,
                    counter_value(counters, COUNT_ZC_COMPLETED));
    }
    return 0;
}

static void uring_zero_copy_teardown(struct stream *stream)
{
    struct uring_zero_copy_state *state = stream->state;
    if (state != NULL) {
        uring_close(&state->uring);
        free(state->outgoing);
        free(state);
    }
}

#endif

const struct strategy the_strategy = {
    .name = "uring_zero_copy",
    .summary = "zero-copy sendmsg by io_uring, notifications read from its ring",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .batching = true,
    .zero_copy = true,
#ifdef HAVE_URING
    .slots_in_flight = uring_zero_copy_slots_in_flight,
    .probe = uring_zero_copy_probe,
    .setup = uring_zero_copy_setup,
    .send_messages = uring_zero_copy_send_messages,
    .drain = uring_zero_copy_drain,
    .teardown = uring_zero_copy_teardown,
#else
    .probe = uring_not_built, /* so that the others are never called */
#endif
};
