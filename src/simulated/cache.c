#include "simulated/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WAYS 1024

int cache_open(struct cache *cache, const char *name, const struct geometry *geometry,
               uint64_t line_bytes, struct failure *failure)
{
    *cache = (struct cache){0};
    if (geometry->n_ways == 0 || geometry->n_ways > MAX_WAYS) {
        (void)fail(failure, 0, "%s: got %" PRIu64 " ways, expected 1 to %d", name, geometry->n_ways,
                   MAX_WAYS);
        return -EINVAL;
    }
    const uint64_t way_bytes = geometry->n_ways * line_bytes;
    if (geometry->size_bytes == 0 || geometry->size_bytes % way_bytes != 0) {
        (void)fail(failure, 0,
                   "%s: got %" PRIu64 " bytes, expected a multiple of %" PRIu64 " (%" PRIu64
                   " ways of lines of %" PRIu64 " bytes)",
                   name, geometry->size_bytes, way_bytes, geometry->n_ways, line_bytes);
        return -EINVAL;
    }
    cache->n_sets = geometry->size_bytes / way_bytes;
    cache->set_mask = (cache->n_sets & (cache->n_sets - 1)) == 0 ? cache->n_sets - 1 : 0;
    cache->n_ways = (size_t)geometry->n_ways;
    const size_t n_bytes = (size_t)cache->n_sets * cache->n_ways * sizeof(*cache->entries);
    cache->entries = malloc(n_bytes);
    if (cache->entries == NULL) {
        return fail(failure, ENOMEM, "%s: memory for %" PRIu64 " lines", name,
                    cache->n_sets * geometry->n_ways);
    }
    memset(cache->entries, UINT8_MAX, n_bytes); /* CACHE_EMPTY */
    return 0;
}

void cache_free(struct cache *cache)
{
    free(cache->entries);
    cache->entries = NULL;
}

/* Moves the entries before `position` back by one, and puts one before them. */
static void put_first(uint64_t *set, size_t position, uint64_t entry)
{
    memmove(set + 1, set, position * sizeof(*set));
    set[0] = entry;
}

bool cache_use_older(struct cache *cache, uint64_t *set, uint64_t line, bool makes_dirty)
{
    for (size_t i = 1; i < cache->n_ways; i++) {
        if (cache_line(set[i]) == line) {
            put_first(set, i, set[i] | (makes_dirty ? 1U : 0U));
            return true;
        }
    }
    return false;
}

bool cache_mark(struct cache *cache, uint64_t line, bool makes_dirty)
{
    uint64_t *set = cache_set(cache, line);
    for (size_t i = 0; i < cache->n_ways; i++) {
        if (cache_line(set[i]) == line) {
            set[i] |= makes_dirty ? 1U : 0U;
            return true;
        }
    }
    return false;
}

uint64_t cache_insert(struct cache *cache, uint64_t line, bool is_dirty)
{
    uint64_t *set = cache_set(cache, line);
    const uint64_t last = set[cache->n_ways - 1];
    put_first(set, cache->n_ways - 1, cache_entry(line, is_dirty));
    return last;
}
