/*
 * The measured window. At its start and end the main thread takes a snapshot of the counters and
 * switches perf on and off, so bytes and performance counters cover the same time; the workers
 * continue undisturbed.
 */
#ifndef COPYCOST_WINDOW_H
#define COPYCOST_WINDOW_H

#include <stdint.h>

#include "connections/socket_facts.h"
#include "counters.h"
#include "failure.h"
#include "program/options.h"
#include "session/control.h"
#include "session/threads.h"

/* The readings at one moment: each worker's counters are consistent, and everything else is read
 * within microseconds of at_ns unless the machine is extremely busy. */
struct snapshot {
    uint64_t at_ns;
    uint64_t cpu_ns; /* of the process, all threads */
    uint64_t user_ns;
    uint64_t system_ns;
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
    uint64_t minor_faults;
    uint64_t major_faults;
    struct counter_values sum;         /* of all workers */
    struct counter_values *per_worker; /* n_workers of them */
};

struct window {
    uint64_t planned_start_ns;
    uint64_t planned_end_ns;
    uint64_t perf_enable_ns;  /* how long at most perf counted before the start */
    uint64_t perf_disable_ns; /* and after the end */
    struct snapshot start;
    struct snapshot half;
    struct snapshot end;
    struct snapshot total;       /* after the last worker has finished */
    uint64_t retransmits_before; /* of all connections, read right after each edge */
    uint64_t retransmits_after;
    struct socket_facts facts; /* of connection 0, at the end of the window */
};

/* How much a counter grew over the window, all workers together. */
static inline uint64_t window_growth(const struct window *window, enum counter which)
{
    return window->end.sum.value[which] - window->start.sum.value[which];
}

/* Allocates the snapshots. Returns 0 or -ENOMEM; call window_free in both cases. */
int window_allocate(struct window *window, size_t n_workers, struct failure *failure);

void window_free(struct window *window);

/* Reads what has been counted so far. Returns 0 or the first error. */
int window_read(struct snapshot *snapshot, const struct crew *crew, struct failure *failure);

/* The edges of what counts. Each returns 0 or the first error. */
int window_begin(struct window *window, struct crew *crew, struct failure *failure);
int window_end(struct window *window, struct crew *crew, struct failure *failure);

/* Sleeps until a moment, unless a worker fails or the orchestrator is gone. */
int window_sleep_until(uint64_t moment_ns, struct crew *crew, struct control *control,
                       struct failure *failure);

/* Waits until workers finish or pause, and adds how many to *n. Returns 0, also at the deadline, or
 * the first error of a worker or of the control socket. */
int window_await_news(struct crew *crew, struct control *control, uint64_t deadline_ns, size_t *n,
                      struct failure *failure);

/*
 * Opens the gate and measures from window->planned_start_ns to planned_end_ns. Returns 0, or the
 * first error of a worker, of perf or of the control socket.
 */
int window_measure(struct window *window, struct crew *crew, struct control *control,
                   struct failure *failure);

/*
 * After the window: lets traffic continue until the `stop` line or for a moment, sets PHASE_STOP,
 * waits until all workers have finished, takes the last snapshot and joins them.
 */
int window_close(struct window *window, struct crew *crew, struct control *control,
                 struct failure *failure);

#endif
