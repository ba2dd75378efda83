/*
 * zero_copy: sendmsg(2) with MSG_ZEROCOPY, one iovec per field.
 *
 * Copies: 0 requested; the link decides
 * System calls: 1 sendmsg(2), and recvmsg(2) for completions
 * Linux: 4.14; 5.0 for UDP
 *
 * Path of the bytes: the kernel pins the pages of the fields, and socket buffers refer to them: no
 * copy before the device. If the path does not end in a device that reads memory itself (loopback,
 * veth), the kernel copies before local delivery after all and says so in the completion
 * (SO_EE_CODE_ZEROCOPY_COPIED). The fields belong to the kernel from sendmsg until their completion
 * is read from the socket's error queue. Needs Linux 4.14 for TCP, 5.0 for UDP. Kernel document
 * networking/msg_zerocopy.rst.
 *
 * Small fields are expensive: each is charged to the send buffer as whole pages
 * (__zerocopy_sg_from_iter), so 8 fields of 32 bytes take 32 KiB of it. Three such messages fill
 * the send buffer that the kernel chooses, and sendmsg then sleeps until the peer acknowledges; a
 * send buffer of 4 MiB carries three to four times as many messages of 1 KiB.
 *
 * Each successful sendmsg takes the next number of a 32-bit counter; a completion names a range of
 * numbers. Messages live in slots (messages/ring.h); a slot is free again when all its sends have
 * completed.
 */
#include <errno.h>
#include <sys/socket.h>

#include "clock.h"
#include "compat.h"
#include "connections/socket_option.h"
#include "send_message.h"
#include "strategy.h"
#include "zero_copy/error_queue.h"
#include "zero_copy/limits.h"

/* Sends in flight, a power of two: more than slots, since short writes split a message into several
 * sends. */
#define N_SENDS (4 * ZERO_COPY_MAX_SLOTS)

/*
 * Completions are read after this many sends, a power of two, even if slots are left, so that the
 * next messages come from recently used slots that are still in near caches: with 64 KiB messages
 * over TCP that saved 2 to 8 % of both sides' CPU time on one (busy) host.
 */
#define SENDS_BETWEEN_LOOKS 16U

/* If memory is short although nothing of ours is in flight, other sockets of this user hold it: the
 * time between two attempts. */
#define RETRY_NS NS_PER_MS

struct zero_copy_state {
    uint32_t next_send;        /* number of the next send; wraps as the kernel's does */
    uint32_t n_in_flight;      /* sends not yet completed */
    uint32_t slot_of[N_SENDS]; /* by send number modulo N_SENDS; NO_SLOT if not in flight */
    uint32_t slot;             /* of the message being sent */
    uint64_t deadline_ns;      /* of waiting for memory; 0: not waiting */
};

static int zero_copy_probe(struct failure *failure)
{
    return socket_option_probe(SOCK_STREAM, SOCKET_OPTION(SOL_SOCKET, SO_ZEROCOPY), 1, "4.14",
                               failure);
}

static int zero_copy_setup(struct stream *stream)
{
    struct zero_copy_state *state = stream->state;
    for (uint32_t i = 0; i < N_SENDS; i++) {
        state->slot_of[i] = NO_SLOT;
    }
    const int error = socket_option_set_int(stream->fd, SOCKET_OPTION(SOL_SOCKET, SO_ZEROCOPY), 1,
                                            stream->failure);
    return error == 0 ? 0 : blame_host(stream->failure, error); /* UDP: not before Linux 5.0 */
}

/* Takes the completion of sends first .. last, which must be in flight. */
static int complete_range(struct stream *stream, uint32_t first, uint32_t last)
{
    struct zero_copy_state *state = stream->state;
    const uint32_t n = last - first + 1; /* also correct across the wrap */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *slot = &state->slot_of[(first + i) % N_SENDS];
        if (state->next_send - (first + i) - 1 >= N_SENDS || *slot == NO_SLOT) {
            return fail(stream->failure, 0,
                        "zero_copy: completion of sends %u to %u, but %u is not in flight", first,
                        last, first + i);
        }
        slot_release(stream, *slot);
        *slot = NO_SLOT;
    }
    state->n_in_flight -= n;
    count(stream->counters, COUNT_ZC_COMPLETED, n);
    return 0;
}

/* Reads notifications until no more than `few` slots are taken or none is left. Returns how many,
 * or -errno. */
static int harvest(struct stream *stream, uint32_t few)
{
    const struct zero_copy_state *state = stream->state;
    int n_read = 0;
    while (state->n_in_flight > 0 && stream->ring.n_taken > few) {
        struct completion completion;
        const int found = error_queue_read(stream, &completion);
        if (found <= 0) {
            return found < 0 ? found : n_read;
        }
        const int error = complete_range(stream, completion.first, completion.last);
        if (error != 0) {
            return error;
        }
        const uint32_t n = completion.last - completion.first + 1;
        count(stream->counters, COUNT_ZC_NOTIFICATIONS, 1);
        count(stream->counters, COUNT_ZC_COPIED, completion.copied ? n : 0);
        n_read++;
    }
    return n_read;
}

/* Woken without a notification: the connection has an error. */
static int fail_for_connection(struct stream *stream)
{
    const struct zero_copy_state *state = stream->state;
    int reason = 0;
    const int error = socket_option_get(stream->fd, SOCKET_OPTION(SOL_SOCKET, SO_ERROR), &reason,
                                        sizeof(reason), stream->failure);
    return error != 0
               ? error
               : fail(stream->failure, reason != 0 ? reason : ECONNRESET,
                      "zero_copy: %u sends in flight on fd %d", state->n_in_flight, stream->fd);
}

/*
 * Reads notifications, waiting for the first one, until no more than `few` slots are taken or none
 * is left. Needs a send in flight and more than `few` slots taken. Returns 0 or -errno.
 */
static int await_completions(struct stream *stream, uint32_t few)
{
    const struct zero_copy_state *state = stream->state;
    const uint64_t deadline_ns = clock_now_ns() + stream->timeout_ns;
    int woken = 0;
    for (;;) {
        const int n_read = harvest(stream, few);
        if (n_read != 0) {
            return n_read < 0 ? n_read : 0;
        }
        if (woken > 0) {
            return fail_for_connection(stream);
        }
        if (clock_now_ns() >= deadline_ns) {
            return fail(stream->failure, ETIMEDOUT,
                        "zero_copy: completion of %u sends in flight on fd %d", state->n_in_flight,
                        stream->fd);
        }
        woken = error_queue_wait(stream, deadline_ns);
        if (woken < 0) {
            return woken;
        }
    }
}

/*
 * After ENOBUFS: gets memory back from completions, or else waits a moment for other sockets of
 * this user, which share the limit on locked memory. Returns 0 to try again, or -errno.
 */
static int make_room(struct stream *stream)
{
    struct zero_copy_state *state = stream->state;
    const uint64_t now_ns = clock_now_ns();
    count(stream->counters, COUNT_ENOBUFS, 1);
    if (state->deadline_ns == 0) {
        state->deadline_ns = now_ns + stream->timeout_ns;
    }
    if (state->n_in_flight > 0) {
        return await_completions(stream, 0);
    }
    if (zero_copy_never_fits(stream) || now_ns >= state->deadline_ns) {
        return zero_copy_fail_for_limits(stream, true);
    }
    const int woken = error_queue_wait(stream, now_ns + RETRY_NS);
    return woken < 0 ? woken : 0;
}

/* Gives the next send number to the message being sent and holds its slot. */
static void note_send(struct stream *stream)
{
    struct zero_copy_state *state = stream->state;
    state->slot_of[state->next_send % N_SENDS] = state->slot;
    state->next_send++;
    state->n_in_flight++;
    slot_hold(stream, state->slot);
    count(stream->counters, COUNT_ZC_SENT, 1);
}

/* Sends what is left of a message. Returns the bytes taken, 0 to try again, or -errno. */
static ssize_t send_once(struct stream *stream, struct iovec *iov, size_t n_iov)
{
    struct zero_copy_state *state = stream->state;
    const struct msghdr header = {.msg_iov = iov, .msg_iovlen = n_iov};
    while (state->slot_of[state->next_send % N_SENDS] != NO_SLOT) {
        const int error = await_completions(stream, 0);
        if (error != 0) {
            return error;
        }
    }
    const ssize_t n = sendmsg(stream->fd, &header, MSG_ZEROCOPY | MSG_NOSIGNAL);
    if (n < 0 && errno == ENOBUFS) {
        count(stream->counters, COUNT_DATA_CALLS, 1);
        return make_room(stream);
    }
    if (n >= 0) {
        note_send(stream);
        state->deadline_ns = 0;
    }
    return count_sent(stream, n, "sendmsg");
}

static int zero_copy_send_messages(struct stream *stream)
{
    struct zero_copy_state *state = stream->state;
    const struct ring *ring = &stream->ring;
    if (state->next_send % SENDS_BETWEEN_LOOKS == 0 || ring->n_taken == ring->max_taken) {
        const int n_read = harvest(stream, 0);
        if (n_read < 0) {
            return n_read;
        }
    }
    state->slot = slot_take(stream);
    /*
     * A loop: the first completion may free only part of a message, or not the next slot in order.
     */
    while (state->slot == NO_SLOT) {
        const uint32_t half = ring->max_taken / 2;
        const int error =
            await_completions(stream, half < ring->n_taken ? half : ring->n_taken - 1);
        if (error != 0) {
            return error;
        }
        state->slot = slot_take(stream);
    }
    const int error = send_whole(stream, slot_message(stream, state->slot), send_once);
    slot_release(stream, state->slot); /* held so that no completion freed it half sent */
    return error;
}

static int zero_copy_drain(struct stream *stream)
{
    const struct zero_copy_state *state = stream->state;
    while (state->n_in_flight > 0) {
        const int error = await_completions(stream, 0);
        if (error != 0) {
            return error;
        }
    }
    return zero_copy_check_completed(stream);
}

const struct strategy the_strategy = {
    .name = "zero_copy",
    .summary = "sendmsg with MSG_ZEROCOPY, completions read from the error queue",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .zero_copy = true,
    .state_bytes = sizeof(struct zero_copy_state),
    .slots_in_flight = zero_copy_slots,
    .probe = zero_copy_probe,
    .setup = zero_copy_setup,
    .send_messages = zero_copy_send_messages,
    .drain = zero_copy_drain,
};
