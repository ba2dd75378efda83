/*
 * Counts what runs and what it accesses, by side and function. It is independent of QEMU: fed by a
 * plugin, or by a recorded trace.
 *
 * The side is that of the running thread: the sender's, the receiver's, or any other. An interrupt
 * counts to the thread that it interrupts, as in perf. Threads are identified by a unique number,
 * here the address of the kernel's record of each.
 */
#ifndef COPYCOST_SIMULATED_COUNTING_H
#define COPYCOST_SIMULATED_COUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"
#include "simulated/hierarchy.h"
#include "simulated/instruction.h"
#include "simulated/window_mark.h"

enum side { SIDE_SENDER, SIDE_RECEIVER, SIDE_OTHER, N_SIDES };

/* As results name them. */
extern const char *const SIDE_NAMES[N_SIDES];

enum access { ACCESS_LOAD, ACCESS_STORE, N_ACCESSES };

struct counts {
    uint64_t calls;             /* how often the function's first instruction ran */
    uint64_t instructions;      /* a repeated one counts once, as in a processor */
    uint64_t string_iterations; /* of repeated instructions */
    uint64_t accesses[N_ACCESSES];
    struct line_counts lines[N_ACCESSES];
};

/* Instructions of one function that run one after another. */
struct run {
    size_t function;
    uint64_t address;
    uint32_t n_instructions;
    bool is_entry;
    enum repeat repeat; /* of its only instruction */
};

#define MAX_MARKED_THREADS 1024

struct marked_thread {
    uint64_t thread;
    enum side side;
};

struct counting {
    struct hierarchy hierarchy;
    size_t n_functions;
    struct counts *counts[N_SIDES]; /* n_functions each */
    enum side side;                 /* of the running thread */
    uint64_t thread;
    uint64_t repeating; /* the address of a repeated instruction, if the last run was one, else 0 */
    bool odd_load;      /* of a pair of a repeated cmps */
    bool window_begun;
    bool window_ended;
    size_t n_marked;
    struct marked_thread marked[MAX_MARKED_THREADS];
};

/* Returns 0 or -errno; call counting_close in both cases. */
int counting_open(struct counting *counting, const struct hierarchy_settings *settings,
                  size_t n_functions, struct failure *failure);

void counting_close(struct counting *counting);

/* Another thread runs from here on. */
void counting_switch(struct counting *counting, uint64_t thread);

/*
 * The running thread has reached a mark. When the window begins, all earlier counts are discarded;
 * the caches keep their contents. Returns 0, or -ENOSPC for too many threads.
 */
int counting_mark(struct counting *counting, enum window_mark mark);

static inline struct counts *counting_of(struct counting *counting, size_t function)
{
    return &counting->counts[counting->side][function];
}

/*
 * The instructions of a run are about to be executed. A repeated instruction is a run of its own
 * that comes again for each iteration; only the first time counts.
 */
static inline void counting_run(struct counting *counting, const struct run *run)
{
    struct counts *counts = counting_of(counting, run->function);
    if (run->repeat != REPEAT_NONE) {
        if (counting->repeating == run->address) {
            return;
        }
        counting->odd_load = false;
    }
    counting->repeating = run->repeat == REPEAT_NONE ? 0 : run->address;
    counts->instructions += run->n_instructions;
    counts->calls += run->is_entry ? 1 : 0;
}

/* For counting_access: what an access of a repeated instruction says about its iterations. */
void counting_iterate(struct counting *counting, const struct run *run, bool is_store);

/* A load or store of a run. */
static inline void counting_access(struct counting *counting, const struct run *run, bool is_store)
{
    counting_of(counting, run->function)->accesses[is_store ? ACCESS_STORE : ACCESS_LOAD]++;
    if (run->repeat != REPEAT_NONE) {
        counting_iterate(counting, run, is_store);
    }
}

/* One line of memory that a load or store of a function needs. */
static inline void counting_use(struct counting *counting, size_t function, uint64_t line,
                                bool is_store)
{
    struct counts *counts = counting_of(counting, function);
    hierarchy_use(&counting->hierarchy, line, is_store,
                  &counts->lines[is_store ? ACCESS_STORE : ACCESS_LOAD]);
}

#endif
