/* A wait for several completions of io_uring goes on as long as they come, however long that takes,
 * and ends when none comes within the timeout. */
#include "uring/uring.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"

/* The last of five timers ends after three times the timeout, each within it of the one before. */
#define N_TIMERS 5U
#define TIMEOUT_NS (100 * NS_PER_MS)
#define STEP_NS (60 * NS_PER_MS)

/* Waits for a descriptor that is ready after so long. */
static int prepare_timer(struct uring *uring, uint64_t after_ns)
{
    const struct itimerspec end = {.it_value.tv_nsec = (long)after_ns};
    const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (fd >= 0 && timerfd_settime(fd, 0, &end, NULL) == 0) {
        io_uring_prep_poll_add(io_uring_get_sqe(&uring->ring), fd, POLLIN);
    }
    return fd;
}

int main(void)
{
    struct counters counters = {0};
    struct failure failure = {0};
    int timers[N_TIMERS];
    struct uring uring = {
        .user = "check",
        .fd = eventfd(0, EFD_CLOEXEC),
        .timeout_ns = TIMEOUT_NS,
        .counters = &counters,
        .waits = COUNT_POLL_CALLS,
        .failure = &failure,
    };
    CHECK(uring.fd >= 0 && uring_open(&uring, N_TIMERS, N_TIMERS) == 0);
    for (unsigned int i = 0; i < N_TIMERS; i++) {
        timers[i] = prepare_timer(&uring, (i + 1) * STEP_NS);
        CHECK(timers[i] >= 0);
    }
    CHECK(uring_submit_and_wait(&uring, N_TIMERS) == 0);
    CHECK(counter_value(&counters, COUNT_DATA_CALLS) == 1);

    /* They are there to be taken, but no more comes; then they are taken, and none is there. */
    CHECK(uring_submit_and_wait(&uring, N_TIMERS + 1) == -ETIMEDOUT);
    io_uring_cq_advance(&uring.ring, N_TIMERS);
    failure.error = 0;
    CHECK(uring_submit_and_wait(&uring, 1) == -ETIMEDOUT && failure.error == ETIMEDOUT);
    uring_close(&uring);
    for (unsigned int i = 0; i < N_TIMERS; i++) {
        CHECK(close(timers[i]) == 0);
    }
    return close(uring.fd) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
