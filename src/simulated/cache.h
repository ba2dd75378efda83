/*
 * One level of a set-associative cache. A line goes into the set given by its number modulo the
 * number of sets; a full set evicts its least recently used line.
 */
#ifndef COPYCOST_SIMULATED_CACHE_H
#define COPYCOST_SIMULATED_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"

/* No line: an empty way. */
#define CACHE_EMPTY UINT64_MAX

struct geometry {
    uint64_t size_bytes;
    uint64_t n_ways;
};

/* A line's entry: its number (address / size of a line) times two, plus one if it is dirty. */
struct cache {
    uint64_t n_sets;
    uint64_t set_mask; /* n_sets - 1 if n_sets is a power of two, else 0 */
    size_t n_ways;
    uint64_t *entries; /* n_sets * n_ways, each set from the most to the least recently used */
};

/* Allocates an empty cache. Returns 0, -EINVAL if such a cache cannot exist (`name` is for the
 * message), or -ENOMEM; call cache_free in all cases. */
int cache_open(struct cache *cache, const char *name, const struct geometry *geometry,
               uint64_t line_bytes, struct failure *failure);

void cache_free(struct cache *cache);

static inline uint64_t *cache_set(const struct cache *cache, uint64_t line)
{
    const uint64_t set = cache->set_mask != 0 ? line & cache->set_mask : line % cache->n_sets;
    return cache->entries + set * cache->n_ways;
}

static inline uint64_t cache_entry(uint64_t line, bool is_dirty)
{
    return line << 1 | (is_dirty ? 1U : 0U);
}

static inline bool cache_is_dirty(uint64_t entry)
{
    return (entry & 1) != 0;
}

static inline uint64_t cache_line(uint64_t entry)
{
    return entry >> 1;
}

/* For cache_use: the line is not the most recently used one of its set. */
bool cache_use_older(struct cache *cache, uint64_t *set, uint64_t line, bool makes_dirty);

/* Returns whether a line is present, and makes it the most recently used one. */
static inline bool cache_use(struct cache *cache, uint64_t line, bool makes_dirty)
{
    uint64_t *set = cache_set(cache, line);
    if (cache_line(set[0]) == line) {
        set[0] |= makes_dirty ? 1U : 0U;
        return true;
    }
    return cache_use_older(cache, set, line, makes_dirty);
}

/* Returns whether a line is present, and marks it dirty without changing the order. */
bool cache_mark(struct cache *cache, uint64_t line, bool makes_dirty);

/* Inserts a line that is not present. Returns the evicted entry, or CACHE_EMPTY. */
uint64_t cache_insert(struct cache *cache, uint64_t line, bool is_dirty);

#endif
