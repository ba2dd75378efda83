/*
 * mmap: TCP_ZEROCOPY_RECEIVE, which maps the pages of the socket's queue instead of copying them.
 *
 * Path of the bytes: getsockopt(2) maps pages of the queue into a range of addresses that was
 * mapped from the socket for this purpose; the application may read them until the next call, which
 * unmaps them. What cannot be mapped is copied by recv(2) into a buffer, as the call requests
 * (recv_skip_hint). The mapped bytes are counted and reported as such.
 *
 * Only a whole page can be mapped, so a packet's data must begin at a page and fill it: a device
 * has to put headers elsewhere, and the segments should hold whole pages (an MSS of n x 4096: an
 * MTU of n x 4096 plus 20 for IP, 20 for TCP and 12 for its timestamps; 4148 is the smallest). The
 * page must also be a separate one, neither part of a larger one nor of a file or a process
 * (can_map_frag, net/ipv4/tcp.c). On loopback and veth, where a packet is as the sender made it,
 * this leaves the pages into which the kernel copies zero-copy sends after all: all of them can be
 * mapped with segments of whole pages, and most of them without. A copying sender fills parts of
 * pages of 32 KiB (sk_page_frag), and splice and sendfile send pages of a process or a file: none
 * of these can be mapped.
 *
 * Needs Linux 4.18; kernel document tools/testing/selftests/net/tcp_mmap.c.
 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/tcp.h>
#include <netinet/in.h>

#include "clock.h"
#include "memory.h"
#include "receiver.h"

/* How much may be mapped at once, and copied at once (as in recv). */
#define MAP_BYTES ((size_t)1 << 20)
#define BUFFER_BYTES ((size_t)128 * 1024)

/* The members that Linux 4.18 knows. If given the later ones, the kernel would move the socket's
 * error into one of them, where recv and poll no longer find it. */
#define REQUEST_BYTES                                                                              \
    ((socklen_t)(offsetof(struct tcp_zerocopy_receive, recv_skip_hint) + sizeof(uint32_t)))

struct mmap_state {
    void *mapping; /* MAP_BYTES of the socket */
    void *buffer;  /* BUFFER_BYTES, for what cannot be mapped */
};

static int mmap_probe(struct failure *failure)
{
    struct tcp_zerocopy_receive request = {0};
    socklen_t request_bytes = REQUEST_BYTES;
    int error = 0;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return fail(failure, errno, "mmap: socket");
    }
    /* Fails on an unconnected socket, but only an older kernel does not know the option. */
    if (getsockopt(fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &request, &request_bytes) != 0 &&
        errno == ENOPROTOOPT) {
        error = fail(failure, errno, "mmap: getsockopt(TCP_ZEROCOPY_RECEIVE); it needs Linux 4.18");
    }
    if (close(fd) != 0 && error == 0) {
        error = fail(failure, errno, "mmap: close of fd %d", fd);
    }
    return error;
}

static int mmap_setup(struct inflow *inflow)
{
    struct mmap_state *state = inflow->state;
    state->mapping = mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, inflow->fd, 0);
    if (state->mapping == MAP_FAILED) {
        return fail(inflow->failure, errno, "mmap: mmap of fd %d", inflow->fd);
    }
    state->buffer = memory_allocate_aligned(BUFFER_BYTES);
    return state->buffer != NULL
               ? 0
               : fail(inflow->failure, ENOMEM, "mmap: a buffer of %zu bytes", BUFFER_BYTES);
}

/* Maps what can be mapped. Returns 0, -EIO at the end of the stream, or another -errno. */
static int map_some(struct inflow *inflow, struct tcp_zerocopy_receive *request)
{
    const struct mmap_state *state = inflow->state;
    socklen_t request_bytes = REQUEST_BYTES;
    *request = (struct tcp_zerocopy_receive){
        .address = (uintptr_t)state->mapping,
        .length = (uint32_t)MAP_BYTES,
    };
    const int result =
        getsockopt(inflow->fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, request, &request_bytes);
    count(inflow->counters, COUNT_DATA_CALLS, 1);
    if (result != 0) {
        return errno == EIO ? -EIO : inflow_error(inflow, "getsockopt(TCP_ZEROCOPY_RECEIVE)");
    }
    if (request->length > 0) {
        inflow_take(inflow, state->mapping, request->length);
        count(inflow->counters, COUNT_MAPPED_BYTES, request->length);
    }
    return 0;
}

/* Copies up to n bytes, waiting for the first. Returns 1, 0 at the end of the stream, or -errno. */
static int copy_some(struct inflow *inflow, size_t n_bytes)
{
    const struct mmap_state *state = inflow->state;
    const ssize_t n =
        recv(inflow->fd, state->buffer, n_bytes < BUFFER_BYTES ? n_bytes : BUFFER_BYTES, 0);
    count(inflow->counters, COUNT_DATA_CALLS, 1);
    if (n < 0) {
        const int error = inflow_error(inflow, "recv");
        return error != 0 ? error : 1;
    }
    inflow_take(inflow, state->buffer, (size_t)n);
    return n > 0 ? 1 : 0;
}

/* Waits for bytes. Returns 0 or -errno. */
static int await_bytes(struct inflow *inflow)
{
    struct pollfd poll_fd = {.fd = inflow->fd, .events = POLLIN};
    const struct timespec timeout = {
        .tv_sec = (time_t)(inflow->timeout_ns / NS_PER_S),
        .tv_nsec = (long)(inflow->timeout_ns % NS_PER_S),
    };
    const int n_ready = ppoll(&poll_fd, 1, &timeout, NULL);
    count(inflow->counters, COUNT_POLL_CALLS, 1);
    if (n_ready > 0) {
        return 0;
    }
    if (n_ready == 0) {
        errno = EAGAIN; /* as from a recv that waited as long */
    }
    return inflow_error(inflow, "poll");
}

static int mmap_receive_all(struct inflow *inflow)
{
    bool is_woken = false;
    int more = 1;
    while (more > 0) {
        struct tcp_zerocopy_receive request;
        const int error = map_some(inflow, &request);
        if (error != 0) {
            /* The sender has said goodbye, and all has been read. */
            return error == -EIO ? 0 : error;
        }
        if (request.recv_skip_hint > 0) {
            more = copy_some(inflow, request.recv_skip_hint);
            is_woken = false;
        } else if (request.length > 0) {
            is_woken = false;
        } else if (is_woken) {
            /* Woken without bytes: recv returns the error or the end. */
            more = copy_some(inflow, BUFFER_BYTES);
            is_woken = false;
        } else {
            const int wait_error = await_bytes(inflow);
            more = wait_error != 0 ? wait_error : 1;
            is_woken = true;
        }
    }
    return more;
}

static void mmap_teardown(struct inflow *inflow)
{
    const struct mmap_state *state = inflow->state;
    if (state->mapping != MAP_FAILED) {
        (void)munmap(state->mapping, MAP_BYTES); /* fails only if it was never mapped */
    }
    free(state->buffer);
}

const struct receiver the_receiver = {
    .name = "mmap",
    .summary = "TCP_ZEROCOPY_RECEIVE, which maps pages of the queue; recv for the rest",
    .transports = TRANSPORT_STREAM,
    .verifies = true,
    .state_bytes = sizeof(struct mmap_state),
    .probe = mmap_probe,
    .setup = mmap_setup,
    .receive_all = mmap_receive_all,
    .teardown = mmap_teardown,
};
