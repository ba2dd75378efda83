/*
 * io_uring as strategies and receivers use it: one ring per thread, with the connection registered
 * as its file 0, and waits with a timeout. Built without liburing 2.3 or newer, it only gives the
 * reason.
 */
#ifndef COPYCOST_URING_H
#define COPYCOST_URING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __has_include(<liburing.h>)
#include <liburing.h>
#ifdef IORING_CQE_F_NOTIF /* older versions have no zero-copy sends */
#define HAVE_URING 1
#endif
#endif

#include "compat.h" /* after it, to add only what it lacks */
#include "counters.h"
#include "failure.h"

/* Says why this program has no io_uring: the probe of a build without liburing. */
int uring_not_built(struct failure *failure);

#ifdef HAVE_URING

/* The connection's index among the ring's registered files. */
#define URING_FILE 0

struct uring {
    struct io_uring ring;
    const char *user; /* name of the strategy or receiver, for messages */
    int fd;           /* the connection */
    uint64_t timeout_ns;
    struct counters *counters;
    enum counter waits; /* what calls that only wait are counted as */
    struct failure *failure;
    bool is_open;
};

/*
 * Tells whether this host allows io_uring and its kernel supports an operation. Returns 0, or
 * -errno with the reason and the remedy.
 */
int uring_probe(int operation, const char *operation_name, struct failure *failure);

/* User data of a send without a message: its notification may come after its end. */
#define URING_NO_SEND UINT32_MAX

/* Tells whether zero-copy sends of iovecs accept these flags (IORING_SEND_ZC_REPORT_USAGE, ...), by
 * sending a byte of memory on an unconnected socket. The ring must be idle. */
bool uring_takes_zc_flags(struct io_uring *ring, void *memory, uint16_t flags);

/* Tells whether zero-copy sends accept iovecs in registered buffers (Linux 6.15). */
bool uring_sends_registered_iovecs(void);

/*
 * Opens the ring, on the thread that will use it, with room for this many submissions and
 * completions (rounded up). The members from user to failure must be set. Returns 0 or -errno.
 */
int uring_open(struct uring *uring, unsigned int n_submissions, unsigned int n_completions);

/* Closes the ring, if open; requests still in flight are cancelled. */
void uring_close(struct uring *uring);

/*
 * Submits what is queued and waits until n_wanted completions can be taken. One system call, unless
 * a signal cuts it short, counted as a data call if it submits; none if there is nothing to do.
 * Returns 0 or -errno: -ETIMEDOUT if nothing more came within the timeout.
 */
int uring_submit_and_wait(struct uring *uring, unsigned int n_wanted);

#endif

#endif
