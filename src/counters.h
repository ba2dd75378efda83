/* What each worker counts: one writer, any number of readers, on separate cache lines. */
#ifndef COPYCOST_COUNTERS_H
#define COPYCOST_COUNTERS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two lines of 64 bytes: the adjacent-line prefetcher of x86 moves them in pairs. */
#define CACHE_LINE_PAIR_BYTES 128

enum counter {
    COUNT_BYTES,          /* payload bytes handed to, or taken from, the kernel */
    COUNT_MESSAGES,       /* whole messages */
    COUNT_DATA_CALLS,     /* those that send or receive (sendmsg, splice, io_uring_enter, ...) */
    COUNT_POLL_CALLS,     /* those that only wait: poll, or io_uring_enter with nothing to submit */
    COUNT_ERRQUEUE_CALLS, /* recvmsg(MSG_ERRQUEUE), empty ones included */
    COUNT_OTHER_CALLS,    /* every other system call of a worker */
    COUNT_SHORT_WRITES,   /* sends that took only part of their bytes */
    COUNT_ENOBUFS,        /* sends refused for lack of option memory or locked memory */
    COUNT_EINTR,          /* calls cut short by a signal */
    COUNT_SLOT_WAITS,     /* messages that had to wait until the kernel released another */
    COUNT_MAPPED_BYTES,   /* received bytes that were mapped instead of copied */
    COUNT_ZC_SENT,        /* zero-copy sends that took bytes, each of which will complete */
    COUNT_ZC_COMPLETED,   /* those reported complete; with MSG_ZEROCOPY the sum of the ranges */
    COUNT_ZC_COPIED,      /* those that the kernel copied after all */
    COUNT_ZC_NOTIFICATIONS,
    N_COUNTERS,
};

struct counters {
    alignas(CACHE_LINE_PAIR_BYTES) _Atomic uint64_t value[N_COUNTERS];
};

_Static_assert(sizeof(struct counters) % CACHE_LINE_PAIR_BYTES == 0, "counters share no line");

/* A reading of the counters. */
struct counter_values {
    uint64_t value[N_COUNTERS];
};

/* How often a reader reads counters that keep changing. Two readings are nearly always enough, even
 * beside a strategy that does nothing else; this many take a second or less. */
#define MAX_READINGS 10000000

/*
 * Adds to a counter of the calling thread: a plain load, add and store, no locked instruction. A
 * reader that sees a count sees all earlier ones, which x86 guarantees anyway.
 */
static inline void count(struct counters *counters, enum counter which, uint64_t n)
{
    _Atomic uint64_t *value = &counters->value[which];
    atomic_store_explicit(value, atomic_load_explicit(value, memory_order_relaxed) + n,
                          memory_order_release);
}

static inline uint64_t counter_value(const struct counters *counters, enum counter which)
{
    return atomic_load_explicit(&counters->value[which], memory_order_acquire);
}

/*
 * Reads all counters as they were between two counts of their writer: repeatedly, until two
 * readings agree. Counts never fall, so values that agree held from the end of the first reading to
 * the beginning of the second, however long the reader was delayed in between; a delayed writer,
 * wherever it stands, changes nothing. So this costs the writer nothing.
 *
 * `values` holds zeros or an earlier reading of the same counters. Returns whether two readings
 * agreed.
 */
static inline bool counters_read(const struct counters *counters, struct counter_values *values)
{
    bool is_same = false;
    for (size_t i = 0; i < MAX_READINGS && !is_same; i++) {
        is_same = true;
        for (size_t which = 0; which < N_COUNTERS; which++) {
            const uint64_t before = values->value[which];
            values->value[which] = counter_value(counters, (enum counter)which);
            is_same = is_same && values->value[which] == before;
        }
    }
    return is_same;
}

#endif
