/*
 * The worker threads: one per connection. All prepare, wait at a gate, work until told to stop, and
 * clean up.
 */
#ifndef COPYCOST_THREADS_H
#define COPYCOST_THREADS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters.h"
#include "failure.h"
#include "program/options.h"

enum phase {
    PHASE_WARM_UP, /* traffic flows, not counted */
    PHASE_WINDOW,  /* measured */
    PHASE_PAUSE,   /* finish the message, and sleep */
    PHASE_DRAIN,   /* wait until the kernel holds no message, and sleep */
    PHASE_STOP,    /* finish, and say goodbye */
};

struct crew;

struct worker {
    struct counters counters; /* first: it is aligned to separate cache lines */
    struct crew *crew;
    void *work; /* the program's own, allocated by prepare, freed by crew_dismiss */
    pthread_t thread;
    size_t index;
    int fd;
    int cpu_start; /* at the start and end of work */
    int cpu_end;
    int error; /* 0 or -errno */
    struct failure failure;
};

/* What a program's workers do. Each is called on the worker's own thread and returns 0 or -errno.
 */
struct crew_duty {
    int (*prepare)(struct worker *worker); /* allocate, before the gate */
    int (*work)(struct worker *worker);    /* between the gate and the end */
    void (*clean_up)(struct worker *worker);
};

struct crew {
    alignas(CACHE_LINE_PAIR_BYTES) _Atomic int phase; /* read often, written rarely */
    alignas(CACHE_LINE_PAIR_BYTES) struct worker *workers;
    size_t n_workers;
    size_t n_started;
    const struct options *options;
    const struct crew_duty *duty;
    _Atomic uint64_t planned_end_ns;
    int news_fd; /* eventfd; its value is how many workers have finished, or paused */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t n_phases; /* set so far; this and the next four under the mutex */
    size_t n_prepared;
    struct worker *first_failed;
    bool gate_open;
    bool aborted;
    uint64_t planned_start_ns; /* set before the gate opens */
};

/*
 * Starts one worker per descriptor, pinned as the options say, and waits until all are prepared.
 * Returns 0, or the first error, after which the crew must still be dismissed.
 */
int crew_muster(struct crew *crew, const struct options *options, const struct crew_duty *duty,
                const int *fds, struct failure *failure);

/* Lets the workers begin. */
void crew_open_gate(struct crew *crew);

static inline enum phase crew_phase(const struct crew *crew)
{
    return (enum phase)atomic_load_explicit(&crew->phase, memory_order_relaxed);
}

static inline bool crew_is_sending(const struct crew *crew)
{
    return crew_phase(crew) < PHASE_PAUSE;
}

/* Sets the phase, and wakes workers that sleep through a pause. */
void crew_set_phase(struct crew *crew, enum phase phase);

/* If this is a pause, tells the main thread and sleeps through it. Returns whether the worker
 * should continue. */
bool crew_pause(struct crew *crew);

/* The first error of any worker, copied into *failure; 0 if there is none. */
int crew_error(struct crew *crew, struct failure *failure);

/* How many workers finished or paused since the last call. */
int crew_take_news(struct crew *crew, size_t *n_finished, struct failure *failure);

/* Ends whatever the workers are waiting for by shutting down their sockets. */
void crew_abort(struct crew *crew);

int crew_join(struct crew *crew, struct failure *failure);

/* Aborts and joins the workers still running, and frees them with their work. */
void crew_dismiss(struct crew *crew);

#endif
