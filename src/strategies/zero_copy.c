/*
 * zero_copy: sendmsg(2) with MSG_ZEROCOPY, one iovec per field.
 *
 * Path of the bytes: the kernel pins the pages of the fields and lets socket buffers refer to them;
 * no copy on the way to the device. Where the way does not end in a device that reads memory itself
 * (loopback, veth), the kernel copies before local delivery after all and says so in the completion
 * (SO_EE_CODE_ZEROCOPY_COPIED). The fields belong to the kernel from sendmsg until their completion
 * is read from the socket's error queue. Needs Linux 4.14 for TCP, 5.0 for UDP. Kernel document
 * networking/msg_zerocopy.rst.
 *
 * Small fields are dear: each is charged to the send buffer as whole pages
 * (__zerocopy_sg_from_iter), so that 8 fields of 32 bytes take 32 KiB of it. With the send buffer
 * that the kernel chooses, three such messages fill it, and sendmsg then sleeps until the peer
 * acknowledges; a send buffer of 4 MiB carries three to four times as many messages of 1 KiB.
 *
 * Each successful sendmsg gets the next number of a 32-bit counter; a completion names a range of
 * numbers. Messages live in slots (ring.h), which are free again when all their sends have
 * completed.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/errqueue.h>
#include <netinet/in.h>

#include "clock.h"
#include "compat.h"
#include "strategy.h"

/*
 * Messages in flight per connection. Large ones: as many as hold twice the largest send buffer that
 * Linux takes by itself (net.ipv4.tcp_wmem, 4 MiB), so that it is the send buffer that limits them.
 * Small ones are limited by option memory (net.core.optmem_max): the kernel charges each send some
 * 800 bytes until its completion is read.
 */
#define IN_FLIGHT_BYTES ((size_t)8 << 20)
#define MIN_SLOTS 4U
#define MAX_SLOTS 256U

/* Sends in flight, a power of two: more than slots, since a short write makes several sends of one
 * message. */
#define N_SENDS (4 * MAX_SLOTS)

/*
 * After so many sends, a power of two, completions are read even if slots are left, so that the
 * next messages come from slots last used and are still in near caches: with 64 KiB messages over
 * TCP that spared 2 to 8 % of both sides' CPU time on one (busy) host.
 */
#define SENDS_BETWEEN_LOOKS 16U

/* When nothing of ours is in flight and memory is short all the same, other sockets of this user
 * hold it: the time between two attempts. */
#define RETRY_NS NS_PER_MS

/* The kernel counts locked pages as (size >> PAGE_SHIFT) + 2 (mm_account_pinned_pages). */
#define EXTRA_PAGES 2

struct zero_copy_state {
    uint32_t next_send;        /* number of the next send; wraps as the kernel's does */
    uint32_t n_in_flight;      /* sends not yet completed */
    uint32_t slot_of[N_SENDS]; /* by send number modulo N_SENDS; NO_SLOT where none is in flight */
};

static int zero_copy_probe(struct failure *failure)
{
    const int on = 1;
    int error = 0;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return fail(failure, errno, "zero_copy: socket");
    }
    if (setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)) != 0) {
        error = fail(failure, errno, "zero_copy: setsockopt(SO_ZEROCOPY) on fd %d", fd);
    }
    if (close(fd) != 0 && error == 0) {
        error = fail(failure, errno, "zero_copy: close of fd %d", fd);
    }
    return error;
}

static uint32_t zero_copy_slots_in_flight(const struct stream *stream)
{
    const size_t n = IN_FLIGHT_BYTES / stream->msg_bytes;
    if (n < MIN_SLOTS) {
        return MIN_SLOTS;
    }
    return n > MAX_SLOTS ? MAX_SLOTS : (uint32_t)n;
}

static int zero_copy_setup(struct stream *stream)
{
    const int on = 1;
    struct zero_copy_state *state = calloc(1, sizeof(*state));
    stream->state = state;
    if (state == NULL) {
        return fail(stream->failure, ENOMEM, "zero_copy: state");
    }
    for (uint32_t i = 0; i < N_SENDS; i++) {
        state->slot_of[i] = NO_SLOT;
    }
    if (setsockopt(stream->fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)) != 0) {
        return fail(stream->failure, errno, "zero_copy: setsockopt(SO_ZEROCOPY) on fd %d",
                    stream->fd);
    }
    return 0;
}

/* Takes the completion of sends first .. last, which must be in flight. */
static int complete_range(struct stream *stream, uint32_t first, uint32_t last)
{
    struct zero_copy_state *state = stream->state;
    const uint32_t n = last - first + 1; /* right across the wrap as well */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *slot = &state->slot_of[(first + i) % N_SENDS];
        if (state->next_send - (first + i) - 1 >= N_SENDS || *slot == NO_SLOT) {
            return fail(stream->failure, 0,
                        "zero_copy: completion of sends %u to %u, of which %u is not in flight",
                        first, last, first + i);
        }
        slot_release(stream, *slot);
        *slot = NO_SLOT;
    }
    state->n_in_flight -= n;
    count(stream->counters, COUNT_ZC_COMPLETED, n);
    return 0;
}

static int take_notification(struct stream *stream, const struct sock_extended_err *notification)
{
    if (notification->ee_origin != SO_EE_ORIGIN_ZEROCOPY || notification->ee_errno != 0) {
        return fail(stream->failure, (int)notification->ee_errno,
                    "zero_copy: error queue of fd %d: origin %u", stream->fd,
                    notification->ee_origin);
    }
    const uint32_t first = notification->ee_info;
    const uint32_t last = notification->ee_data;
    count(stream->counters, COUNT_ZC_NOTIFICATIONS, 1);
    if ((notification->ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0) {
        count(stream->counters, COUNT_ZC_COPIED, last - first + 1);
    }
    return complete_range(stream, first, last);
}

/* Reads one notification. Returns 1, or 0 when there is none, or -errno. */
static int read_notification(struct stream *stream)
{
    /* One extended error with the address that IP_RECVERR appends (ip(7)); aligned for cmsghdr. */
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in6))];
    } control;
    struct msghdr header = {.msg_control = &control, .msg_controllen = sizeof(control)};
    const ssize_t n = recvmsg(stream->fd, &header, MSG_ERRQUEUE | MSG_DONTWAIT);
    count(stream->counters, COUNT_ERRQUEUE_CALLS, 1);
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR
                   ? 0
                   : fail(stream->failure, errno, "zero_copy: recvmsg(MSG_ERRQUEUE) on fd %d",
                          stream->fd);
    }
    const struct cmsghdr *cmsg = CMSG_FIRSTHDR(&header);
    const bool is_error = cmsg != NULL && (header.msg_flags & MSG_CTRUNC) == 0 &&
                          ((cmsg->cmsg_level == SOL_IP && cmsg->cmsg_type == IP_RECVERR) ||
                           (cmsg->cmsg_level == SOL_IPV6 && cmsg->cmsg_type == IPV6_RECVERR));
    if (!is_error) {
        return fail(stream->failure, 0, "zero_copy: error queue of fd %d: no extended error",
                    stream->fd);
    }
    struct sock_extended_err notification;
    memcpy(&notification, CMSG_DATA(cmsg), sizeof(notification));
    const int error = take_notification(stream, &notification);
    return error != 0 ? error : 1;
}

/* Reads notifications until no more than `few` slots are taken or none is left. Returns how many,
 * or -errno. */
static int harvest(struct stream *stream, uint32_t few)
{
    const struct zero_copy_state *state = stream->state;
    int n_read = 0;
    while (state->n_in_flight > 0 && stream->ring.n_taken > few) {
        const int n = read_notification(stream);
        if (n < 0) {
            return n;
        }
        if (n == 0) {
            break;
        }
        n_read++;
    }
    return n_read;
}

/* Waits for the error queue. Returns what poll reports (0: the time is up), or -errno. */
static int wait_for_notification(struct stream *stream, uint64_t deadline_ns)
{
    struct pollfd poll_fd = {.fd = stream->fd}; /* POLLERR needs no asking */
    const struct timespec left = clock_left_until(deadline_ns);
    const int n_ready = ppoll(&poll_fd, 1, &left, NULL);
    count(stream->counters, COUNT_POLL_CALLS, 1);
    if (n_ready < 0) {
        return errno == EINTR
                   ? 0
                   : fail(stream->failure, errno, "zero_copy: poll on fd %d", stream->fd);
    }
    return poll_fd.revents;
}

/*
 * Reads notifications, waiting for the first one, until no more than `few` slots are taken or none
 * is left. Needs a send in flight and more than `few` slots taken. Returns 0 or -errno.
 */
static int await_completions(struct stream *stream, uint32_t few)
{
    const struct zero_copy_state *state = stream->state;
    const uint64_t deadline_ns = clock_now_ns() + stream->timeout_ns;
    int events = 0;
    for (;;) {
        const int n_read = harvest(stream, few);
        if (n_read != 0) {
            return n_read < 0 ? n_read : 0;
        }
        /* Woken, and yet no notification: it is the connection that has an error. */
        if ((events & (POLLERR | POLLHUP)) != 0) {
            return fail(stream->failure, ECONNRESET, "zero_copy: %u sends in flight on fd %d",
                        state->n_in_flight, stream->fd);
        }
        if (clock_now_ns() >= deadline_ns) {
            return fail(stream->failure, ETIMEDOUT,
                        "zero_copy: completion of %u sends in flight on fd %d", state->n_in_flight,
                        stream->fd);
        }
        events = wait_for_notification(stream, deadline_ns);
        if (events < 0) {
            return events;
        }
    }
}

/* The option memory that one socket may use [bytes], as text for a message. */
static void read_optmem_max(char *text, size_t text_bytes)
{
    FILE *file = fopen("/proc/sys/net/core/optmem_max", "re");
    (void)snprintf(text, text_bytes, "unknown");
    if (file != NULL) {
        unsigned long long optmem_max_bytes = 0;
        char line[24] = "";
        if (fgets(line, sizeof(line), file) != NULL) {
            optmem_max_bytes = strtoull(line, NULL, 10);
            (void)snprintf(text, text_bytes, "%llu", optmem_max_bytes);
        }
        (void)fclose(file); /* was only read */
    }
}

/* Says which limits refuse a send although nothing is in flight, and what to do. */
static int fail_for_limits(struct stream *stream, uint64_t needed_bytes, uint64_t memlock_bytes)
{
    char optmem_max[24];
    read_optmem_max(optmem_max, sizeof(optmem_max));
    return fail(
        stream->failure, ENOBUFS,
        "zero_copy: sendmsg(MSG_ZEROCOPY) on fd %d with nothing in flight: it needs %" PRIu64
        " bytes of locked memory where RLIMIT_MEMLOCK is %" PRIu64
        " for all of this user's sockets, and option memory where net.core.optmem_max is "
        "%s; raise them (ulimit -l, sysctl -w net.core.optmem_max=131072), run as root, or "
        "send smaller messages",
        stream->fd, needed_bytes, memlock_bytes, optmem_max);
}

/*
 * After ENOBUFS: gets memory back from completions, or else waits a moment for other sockets of
 * this user, which share the limit on locked memory, until `deadline_ns`.
 */
static int make_room(struct stream *stream, size_t n_bytes, uint64_t deadline_ns)
{
    const struct zero_copy_state *state = stream->state;
    count(stream->counters, COUNT_ENOBUFS, 1);
    if (state->n_in_flight > 0) {
        return await_completions(stream, 0);
    }
    struct rlimit memlock;
    if (getrlimit(RLIMIT_MEMLOCK, &memlock) != 0) {
        return fail(stream->failure, errno, "zero_copy: getrlimit(RLIMIT_MEMLOCK)");
    }
    count(stream->counters, COUNT_OTHER_CALLS, 1);
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t needed_bytes = (n_bytes / page_bytes + EXTRA_PAGES) * page_bytes;
    if (needed_bytes > memlock.rlim_cur || clock_now_ns() >= deadline_ns) {
        return fail_for_limits(stream, needed_bytes, memlock.rlim_cur);
    }
    const int events = wait_for_notification(stream, clock_now_ns() + RETRY_NS);
    return events < 0 ? events : 0;
}

/* Remembers which slot the next send number stands for. */
static void note_send(struct stream *stream, uint32_t slot)
{
    struct zero_copy_state *state = stream->state;
    state->slot_of[state->next_send % N_SENDS] = slot;
    state->next_send++;
    state->n_in_flight++;
    slot_hold(stream, slot);
    count(stream->counters, COUNT_ZC_SENT, 1);
}

/* Sends the rest of a message and notes the send. Returns the bytes taken, 0 to try again, or
 * -errno. */
static ssize_t send_once(struct stream *stream, uint32_t slot, struct iovec *iov, size_t n_iov)
{
    const struct zero_copy_state *state = stream->state;
    const struct msghdr header = {.msg_iov = iov, .msg_iovlen = n_iov};
    while (state->slot_of[state->next_send % N_SENDS] != NO_SLOT) {
        const int error = await_completions(stream, 0);
        if (error != 0) {
            return error;
        }
    }
    const ssize_t n = sendmsg(stream->fd, &header, MSG_ZEROCOPY | MSG_NOSIGNAL);
    count(stream->counters, COUNT_DATA_CALLS, 1);
    if (n >= 0) {
        note_send(stream, slot);
        count(stream->counters, COUNT_BYTES, (uint64_t)n);
        return n;
    }
    if (errno == EINTR) {
        count(stream->counters, COUNT_EINTR, 1);
        return 0;
    }
    if (errno == ENOBUFS) {
        return -ENOBUFS; /* not an error yet: described by make_room if it is one */
    }
    /* EAGAIN: SO_SNDTIMEO ran out, the peer does not read. */
    return fail(stream->failure, errno == EAGAIN ? ETIMEDOUT : errno, "zero_copy: sendmsg on fd %d",
                stream->fd);
}

/* Sends the message of a slot whole. */
static int send_slot(struct stream *stream, uint32_t slot)
{
    struct iovec rest[MESSAGE_FIELDS];
    size_t left_bytes = stream->msg_bytes;
    size_t used = 0;
    uint64_t deadline_ns = 0; /* of the time without memory; 0: there was memory */
    memcpy(rest, slot_message(stream, slot)->field, sizeof(rest));
    while (left_bytes > 0) {
        const ssize_t n = send_once(stream, slot, rest + used, MESSAGE_FIELDS - used);
        if (n == -ENOBUFS) {
            if (deadline_ns == 0) {
                deadline_ns = clock_now_ns() + stream->timeout_ns;
            }
            const int error = make_room(stream, left_bytes, deadline_ns);
            if (error != 0) {
                return error;
            }
            continue;
        }
        if (n < 0) {
            return (int)n;
        }
        deadline_ns = 0;
        left_bytes -= (size_t)n;
        if (left_bytes > 0) {
            count(stream->counters, COUNT_SHORT_WRITES, n > 0 ? 1 : 0);
            used += iovec_skip(rest + used, MESSAGE_FIELDS - used, (size_t)n);
        }
    }
    return 0;
}

static int zero_copy_send_messages(struct stream *stream)
{
    const struct zero_copy_state *state = stream->state;
    const struct ring *ring = &stream->ring;
    if (state->next_send % SENDS_BETWEEN_LOOKS == 0 || ring->n_taken == ring->max_taken) {
        const int n_read = harvest(stream, 0);
        if (n_read < 0) {
            return n_read;
        }
    }
    uint32_t slot = slot_take(stream);
    /* A loop: what completes first may be but a part of a message, or not the one whose turn it is.
     */
    while (slot == NO_SLOT) {
        const uint32_t half = ring->max_taken / 2;
        const int error =
            await_completions(stream, half < ring->n_taken ? half : ring->n_taken - 1);
        if (error != 0) {
            return error;
        }
        slot = slot_take(stream);
    }
    const int error = send_slot(stream, slot);
    slot_release(stream, slot); /* we held it, so that no completion freed it half sent */
    return error;
}

static int zero_copy_drain(struct stream *stream)
{
    const struct zero_copy_state *state = stream->state;
    const struct counters *counters = stream->counters;
    while (state->n_in_flight > 0) {
        const int error = await_completions(stream, 0);
        if (error != 0) {
            return error;
        }
    }
    if (counter_value(counters, COUNT_ZC_SENT) != counter_value(counters, COUNT_ZC_COMPLETED)) {
        return fail(stream->failure, 0,
                    "zero_copy: %" PRIu64 " sends on fd %d, but %" PRIu64 " completions",
                    counter_value(counters, COUNT_ZC_SENT), stream->fd,
                    counter_value(counters, COUNT_ZC_COMPLETED));
    }
    return 0;
}

static void zero_copy_teardown(struct stream *stream)
{
    free(stream->state);
}

const struct strategy the_strategy = {
    .name = "zero_copy",
    .summary = "sendmsg with MSG_ZEROCOPY, completions read from the error queue",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .zero_copy = true,
    .slots_in_flight = zero_copy_slots_in_flight,
    .probe = zero_copy_probe,
    .setup = zero_copy_setup,
    .send_messages = zero_copy_send_messages,
    .drain = zero_copy_drain,
    .teardown = zero_copy_teardown,
};
