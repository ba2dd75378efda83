/*
 * L1d, L2 and the last level of one CPU: write-allocate, write-back, least recently used.
 *
 * A line that is used is put into every level that misses it. No level has to hold what the ones
 * before it hold, and none is emptied by those behind it. A dirty line that has to leave a level is
 * marked dirty in the next one, or put there. Line numbers are physical addresses divided by the
 * size of a line.
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
     * Whatever L1d misses has the line behind it, if that lies in the same page of 4 KiB, put into
     * L2 and the last level too, as the adjacent-line prefetcher of many CPUs does.
     */
    PREFETCHER_NEXT_LINE,
};

struct hierarchy_settings {
    struct geometry levels[N_LEVELS];
    uint64_t line_bytes;
    enum prefetcher prefetcher;
};

/* What uses of lines have caused. */
struct line_counts {
    uint64_t misses[N_LEVELS];
    uint64_t write_backs[N_LEVELS]; /* dirty lines that left that level */
    uint64_t prefetches;            /* lines put into L2 for later */
};

struct hierarchy {
    struct cache levels[N_LEVELS];
    enum prefetcher prefetcher;
    unsigned int line_shift;
    uint64_t page_mask; /* of a line's number: its place in a page */
};

/* Allocates empty caches. Returns 0, -EINVAL or -ENOMEM; hierarchy_close is right in all cases. */
int hierarchy_open(struct hierarchy *hierarchy, const struct hierarchy_settings *settings,
                   struct failure *failure);

void hierarchy_close(struct hierarchy *hierarchy);

/* For hierarchy_use, where L1d does not have the line. */
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
