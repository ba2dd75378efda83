#include "stats.h"

#include <math.h>

static size_t bucket_of(uint64_t duration_ns)
{
    if (duration_ns < HISTOGRAM_SUB_BUCKETS) {
        return (size_t)duration_ns;
    }
    if (duration_ns >> HISTOGRAM_MAX_BITS != 0) {
        return HISTOGRAM_BUCKETS - 1;
    }
    /* The highest bit gives the power of two, the HISTOGRAM_SUB_BITS - 1 bits below it the bucket.
     */
    const unsigned highest_bit = 63U - (unsigned)__builtin_clzll(duration_ns);
    const unsigned shift = highest_bit - (HISTOGRAM_SUB_BITS - 1);
    return (size_t)(duration_ns >> shift) + shift * (HISTOGRAM_SUB_BUCKETS / 2);
}

static uint64_t middle_of(size_t bucket)
{
    if (bucket < HISTOGRAM_SUB_BUCKETS) {
        return bucket;
    }
    const size_t half = HISTOGRAM_SUB_BUCKETS / 2;
    const size_t shift = bucket / half - 1;
    const uint64_t lowest_ns = (uint64_t)(bucket - shift * half) << shift;
    return lowest_ns + ((UINT64_C(1) << shift) - 1) / 2;
}

void histogram_record(struct histogram *histogram, uint64_t duration_ns)
{
    histogram->bucket_count[bucket_of(duration_ns)]++;
    histogram->n_samples++;
    histogram->sum_ns += duration_ns;
    if (duration_ns > histogram->max_ns) {
        histogram->max_ns = duration_ns;
    }
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        into->bucket_count[i] += from->bucket_count[i];
    }
    into->n_samples += from->n_samples;
    into->sum_ns += from->sum_ns;
    if (from->max_ns > into->max_ns) {
        into->max_ns = from->max_ns;
    }
}

uint64_t histogram_quantile_ns(const struct histogram *histogram, double share)
{
    const uint64_t rank = (uint64_t)ceil(share * (double)histogram->n_samples);
    uint64_t seen = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->bucket_count[i];
        if (seen >= rank && seen > 0) {
            const uint64_t value_ns = middle_of(i);
            return value_ns < histogram->max_ns ? value_ns : histogram->max_ns;
        }
    }
    return 0;
}

double histogram_mean_ns(const struct histogram *histogram)
{
    return histogram->n_samples == 0 ? 0.0
                                     : (double)histogram->sum_ns / (double)histogram->n_samples;
}
