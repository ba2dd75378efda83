#include "simulated/hierarchy.h"

#include <errno.h>
#include <inttypes.h>

#define MIN_LINE_BYTES 16 /* the largest access that is reported as one */
#define PAGE_BYTES 4096

const char *const LEVEL_NAMES[N_LEVELS] = {"l1d", "l2", "llc"};

int hierarchy_open(struct hierarchy *hierarchy, const struct hierarchy_settings *settings,
                   struct failure *failure)
{
    const uint64_t line_bytes = settings->line_bytes;
    int error = 0;
    *hierarchy = (struct hierarchy){.prefetcher = settings->prefetcher};
    if (line_bytes < MIN_LINE_BYTES || line_bytes > PAGE_BYTES ||
        (line_bytes & (line_bytes - 1)) != 0) {
        (void)fail(failure, 0, "line: got %" PRIu64 " bytes, expected a power of two, %d to %d",
                   line_bytes, MIN_LINE_BYTES, PAGE_BYTES);
        return -EINVAL;
    }
    while (line_bytes >> hierarchy->line_shift > 1) {
        hierarchy->line_shift++;
    }
    hierarchy->page_mask = PAGE_BYTES / line_bytes - 1;
    for (int i = 0; error == 0 && i < N_LEVELS; i++) {
        error = cache_open(&hierarchy->levels[i], LEVEL_NAMES[i], &settings->levels[i], line_bytes,
                           failure);
        if (error == 0 && i > 0 &&
            settings->levels[i].size_bytes < settings->levels[i - 1].size_bytes) {
            (void)fail(failure, 0, "%s: got %" PRIu64 " bytes, expected at least those of %s",
                       LEVEL_NAMES[i], settings->levels[i].size_bytes, LEVEL_NAMES[i - 1]);
            error = -EINVAL;
        }
    }
    return error;
}

void hierarchy_close(struct hierarchy *hierarchy)
{
    for (int i = 0; i < N_LEVELS; i++) {
        cache_free(&hierarchy->levels[i]);
    }
}

/* Puts a line into a level that misses it, and the evicted line, if dirty, into the next level. */
static void put(struct hierarchy *hierarchy, int level, uint64_t line, bool is_dirty,
                struct line_counts *counts)
{
    bool is_left = true;
    while (is_left && level < N_LEVELS) {
        const uint64_t leaving = cache_insert(&hierarchy->levels[level], line, is_dirty);
        is_left = leaving != CACHE_EMPTY && cache_is_dirty(leaving);
        counts->write_backs[level] += is_left ? 1 : 0;
        line = cache_line(leaving);
        is_dirty = true;
        level++;
        is_left = is_left && level < N_LEVELS && !cache_mark(&hierarchy->levels[level], line, true);
    }
}

static void prefetch_next(struct hierarchy *hierarchy, uint64_t line, struct line_counts *counts)
{
    if (((line + 1) & hierarchy->page_mask) == 0) {
        return; /* it lies in another page */
    }
    if (!cache_mark(&hierarchy->levels[LEVEL_LLC], line + 1, false)) {
        put(hierarchy, LEVEL_LLC, line + 1, false, counts);
    }
    if (!cache_mark(&hierarchy->levels[LEVEL_L2], line + 1, false)) {
        put(hierarchy, LEVEL_L2, line + 1, false, counts);
        counts->prefetches++;
    }
}

void hierarchy_miss(struct hierarchy *hierarchy, uint64_t line, bool is_store,
                    struct line_counts *counts)
{
    int n_missed = 0;
    do {
        counts->misses[n_missed++]++;
    } while (n_missed < N_LEVELS && !cache_use(&hierarchy->levels[n_missed], line, false));
    for (int i = n_missed - 1; i >= 0; i--) {
        put(hierarchy, i, line, is_store && i == LEVEL_L1D, counts);
    }
    if (hierarchy->prefetcher == PREFETCHER_NEXT_LINE) {
        prefetch_next(hierarchy, line, counts);
    }
}
