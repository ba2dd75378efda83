/*
 * A histogram of durations in fixed memory, log-linear like HdrHistogram: 256 buckets of 1 ns, then
 * 128 buckets per power of two. A bucket is at most 1/128 of its value wide and is represented by
 * its middle, so a percentile is at most 0.4 % off.
 */
#ifndef COPYCOST_STATS_H
#define COPYCOST_STATS_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS 8  /* 2^8 buckets of 1 ns, half as many per power of two above */
#define HISTOGRAM_MAX_BITS 40 /* 2^40 ns are 18 minutes, longer than any run */
#define HISTOGRAM_SUB_BUCKETS ((size_t)1 << HISTOGRAM_SUB_BITS)
#define HISTOGRAM_BUCKETS                                                                          \
    (HISTOGRAM_SUB_BUCKETS +                                                                       \
     (HISTOGRAM_MAX_BITS - HISTOGRAM_SUB_BITS) * (HISTOGRAM_SUB_BUCKETS / 2))

struct histogram {
    uint64_t n_samples;
    uint64_t sum_ns;
    uint64_t max_ns; /* exact */
    uint64_t bucket_count[HISTOGRAM_BUCKETS];
};

/* Adds a sample. Durations of 2^40 ns and more fall into the last bucket; max_ns stays exact. */
void histogram_record(struct histogram *histogram, uint64_t duration_ns);

/* Adds all samples of one histogram to another. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/* The duration that a share of the samples (0 .. 1; 0: the shortest) does not exceed; 0 without
 * samples. */
uint64_t histogram_quantile_ns(const struct histogram *histogram, double share);

/* The mean of the samples, from their exact sum; 0 without samples. */
double histogram_mean_ns(const struct histogram *histogram);

#endif
