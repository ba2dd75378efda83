/*
 * L1d, L2 and the last level of one CPU: write-allocate, write-back, least recently used. A line
 * that is used is put into every level that misses it. The levels are neither inclusive nor
 * exclusive. A dirty line evicted from a level is marked dirty in the next one, or put there. Line
 * numbers are physical addresses divided by the size of a line.
 */
#ifndef COPYCOST_SIMULATED_HIERARCHY_H
#define COPYCOST_SIMULATED_HIERARCHY_H

#include <stdbool.h>
#include <stdint.h>

#include "failure.h"
#include "simulated/cache.h"

enum level { LEVEL_L1D, LEVEL_L2, LEVEL_LLC, N_LEVELS };

/* As options and results name them. */
extern const char *const LEVEL_NAMES[N_LEVELS];

enum prefetcher {
    PREFETCHER_NONE,
    /*
     * After each miss of L1d, the next line, if in the same page of 4 KiB, is put into L2 and the
     * last level too, as by the adjacent-line prefetcher of many CPUs.
     */
    PREFETCHER_NEXT_LINE,
};

struct hierarchy_settings {
    struct geometry levels[N_LEVELS];
    uint64_t line_bytes;
    enum prefetcher prefetcher;
};

/* What the uses of lines have caused. */
struct line_counts {
    uint64_t misses[N_LEVELS];
    uint64_t write_backs[N_LEVELS]; /* dirty lines evicted from that level */
    uint64_t prefetches;            /* lines prefetched into L2 */
};

struct hierarchy {
    struct cache levels[N_LEVELS];
    enum prefetcher prefetcher;
    unsigned int line_shift;
    uint64_t page_mask; /* of a line's number: its position in a page */
};

/* Allocates empty caches. Returns 0, -EINVAL or -ENOMEM; call hierarchy_close in all cases. */
int hierarchy_open(struct hierarchy *hierarchy, const struct hierarchy_settings *settings,
                   struct failure *failure);

void hierarchy_close(struct hierarchy *hierarchy);

/* For hierarchy_use, if L1d misses the line. */
void hierarchy_miss(struct hierarchy *hierarchy, uint64_t line, bool is_store,
                    struct line_counts *counts);

/* Loads from a line, or stores to it. */
static inline void hierarchy_use(struct hierarchy *hierarchy, uint64_t line, bool is_store,
                                 struct line_counts *counts)
{
    if (!cache_use(&hierarchy->levels[LEVEL_L1D], line, is_store)) {
        hierarchy_miss(hierarchy, line, is_store, counts);
    }
}

#endif
