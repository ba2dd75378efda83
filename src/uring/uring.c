#include "uring/uring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>

#include "clock.h"

int uring_not_built(struct failure *failure)
{
    return fail(failure, ENOSYS,
                "io_uring: this program was built without liburing 2.3 or newer; install "
                "liburing-dev and build again");
}

#ifdef HAVE_URING

/* Entries of the ring that a probe opens. */
#define PROBE_ENTRIES 2

/* kernel.io_uring_disabled, or -1 if the kernel has no such setting (before Linux 6.6). */
static int read_disabled(void)
{
    FILE *file = fopen("/proc/sys/kernel/io_uring_disabled", "re");
    char line[16] = "";
    if (file == NULL) {
        return -1;
    }
    const bool is_read = fgets(line, sizeof(line), file) != NULL;
    (void)fclose(file); /* was only read */
    return is_read ? (int)strtol(line, NULL, 10) : -1;
}

/* Says why the kernel refused a ring. Returns -errno. */
static int explain_refusal(int error, struct failure *failure)
{
    const int disabled = read_disabled();
    if (error == EPERM && disabled > 0) {
        return fail(failure, error,
                    "io_uring: forbidden by kernel.io_uring_disabled = %d%s; allow it with sysctl "
                    "-w kernel.io_uring_disabled=0",
                    disabled, disabled == 1 ? " (for users without CAP_SYS_ADMIN)" : "");
    }
    if (error == EPERM) {
        return fail(failure, error,
                    "io_uring: refused, most likely by a container's seccomp filter; run "
                    "outside the container or without its filter (seccomp=unconfined)");
    }
    if (error == ENOSYS) {
        return fail(failure, error,
                    "io_uring: not in this kernel, or hidden by a seccomp filter; boot a kernel "
                    "with CONFIG_IO_URING, or run outside the container");
    }
    if (error == ENOMEM) {
        return fail(failure, error,
                    "io_uring: its rings need more locked memory than RLIMIT_MEMLOCK allows; raise "
                    "it (ulimit -l), or run as root");
    }
    return fail(failure, error, "io_uring: io_uring_setup");
}

static int fail_to_open(int error, struct failure *failure)
{
    return blame_host(failure, explain_refusal(error, failure));
}

int uring_probe(int operation, const char *operation_name, struct failure *failure)
{
    struct io_uring ring;
    int error = -io_uring_queue_init(PROBE_ENTRIES, &ring, 0);
    if (error != 0) {
        return fail_to_open(error, failure);
    }
    struct io_uring_probe *known = io_uring_get_probe_ring(&ring);
    if (known == NULL) {
        error = fail(failure, ENOMEM, "io_uring: io_uring_register(IORING_REGISTER_PROBE)");
    } else if (io_uring_opcode_supported(known, operation) == 0) {
        error = fail(failure, EOPNOTSUPP, "io_uring: this kernel has no %s; it needs a newer one",
                     operation_name);
    }
    io_uring_free_probe(known);
    io_uring_queue_exit(&ring);
    return error;
}

/* Sends with these flags on an unconnected socket and returns how that failed. */
static int try_zc_flags(struct io_uring *ring, int fd, const struct msghdr *header, uint16_t flags)
{
    bool has_result = false;
    bool more = true; /* a failed send may have a notification, before or after its result */
    int result = 0;
    struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
    io_uring_prep_sendmsg_zc(sqe, fd, header, MSG_NOSIGNAL);
    sqe->ioprio = flags;
    io_uring_sqe_set_data64(sqe, URING_NO_SEND);
    int error = io_uring_submit(ring);
    while (error >= 0 && (!has_result || more)) {
        struct io_uring_cqe *cqe = NULL;
        error = io_uring_wait_cqe(ring, &cqe);
        if (error == 0) {
            const bool is_result = (cqe->flags & IORING_CQE_F_NOTIF) == 0;
            more = more && is_result && (cqe->flags & IORING_CQE_F_MORE) != 0;
            result = is_result ? cqe->res : result;
            has_result = has_result || is_result;
            io_uring_cqe_seen(ring, cqe);
        }
    }
    return error < 0 ? error : result;
}

bool uring_takes_zc_flags(struct io_uring *ring, void *memory, uint16_t flags)
{
    struct iovec iov = {.iov_base = memory, .iov_len = 1};
    const struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    /* The kernel refuses unknown flags before it looks at the socket. */
    const bool takes = try_zc_flags(ring, fd, &header, flags) != -EINVAL;
    (void)close(fd); /* was never connected: nothing to check */
    return takes;
}

bool uring_sends_registered_iovecs(void)
{
    struct io_uring ring;
    char byte = 0;
    const struct iovec iov = {.iov_base = &byte, .iov_len = sizeof(byte)};
    if (io_uring_queue_init(PROBE_ENTRIES, &ring, 0) != 0) {
        return false;
    }
    const bool sends = io_uring_register_buffers(&ring, &iov, 1) == 0 &&
                       uring_takes_zc_flags(&ring, &byte, IORING_RECVSEND_FIXED_BUF);
    io_uring_queue_exit(&ring);
    return sends;
}

int uring_open(struct uring *uring, unsigned int n_submissions, unsigned int n_completions)
{
    /* The kernel requires more entries for completions than for submissions. */
    struct io_uring_params params = {
        .flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
        .cq_entries = n_completions > 2 * n_submissions ? n_completions : 2 * n_submissions,
    };
    /*
     * Completions are handled while we wait for them and not in between (Linux 6.1); before that,
     * at the next system call or interrupt.
     */
    int error = io_uring_queue_init_params(n_submissions, &uring->ring, &params);
    if (error == -EINVAL) {
        params = (struct io_uring_params){
            .flags = IORING_SETUP_CQSIZE,
            .cq_entries = params.cq_entries,
        };
        error = io_uring_queue_init_params(n_submissions, &uring->ring, &params);
    }
    if (error != 0) {
        return fail_to_open(-error, uring->failure);
    }
    uring->is_open = true;
    error = io_uring_register_files(&uring->ring, &uring->fd, 1);
    if (error != 0) {
        return fail(uring->failure, -error, "%s: io_uring_register(IORING_REGISTER_FILES) of fd %d",
                    uring->user, uring->fd);
    }
    /* Saves looking up the ring at each call; kernels before 5.18 cannot, which is no error. */
    (void)io_uring_register_ring_fd(&uring->ring);
    return 0;
}

void uring_close(struct uring *uring)
{
    if (uring->is_open) {
        io_uring_queue_exit(&uring->ring);
        uring->is_open = false;
    }
}

int uring_submit_and_wait(struct uring *uring, unsigned int n_wanted)
{
    struct __kernel_timespec timeout = {
        .tv_sec = (long long)(uring->timeout_ns / NS_PER_S),
        .tv_nsec = (long long)(uring->timeout_ns % NS_PER_S),
    };
    struct io_uring_cqe *first = NULL;
    uint64_t deadline_ns = 0; /* from the last completion; 0: clock not yet read */
    while (true) {
        const bool submits = io_uring_sq_ready(&uring->ring) > 0;
        const unsigned int n_before = io_uring_cq_ready(&uring->ring);
        if (!submits && n_before >= n_wanted) {
            return 0; /* no call needed; liburing would make none either */
        }
        const int error =
            io_uring_submit_and_wait_timeout(&uring->ring, &first, n_wanted, &timeout, NULL);
        const unsigned int n_now = io_uring_cq_ready(&uring->ring);
        count(uring->counters, submits ? COUNT_DATA_CALLS : uring->waits, 1);
        if (n_now >= n_wanted) {
            return 0;
        }
        /* The kernel reports a timeout, or a signal, only if no completion can be taken
         * (io_cqring_wait); if there are some, but too few, the clock has to tell. */
        const uint64_t now_ns = clock_now_ns();
        if (deadline_ns == 0 || n_now > n_before) {
            deadline_ns = now_ns + uring->timeout_ns;
        }
        if (error == -EINTR) {
            count(uring->counters, COUNT_EINTR, 1);
        } else if (error < 0 || now_ns >= deadline_ns) {
            return fail(uring->failure, error < 0 && error != -ETIME ? -error : ETIMEDOUT,
                        "%s: io_uring_enter for fd %d", uring->user, uring->fd);
        }
    }
}

#endif
