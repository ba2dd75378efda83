/* Compares the histogram's quantiles with those of the sorted samples, over ten powers of ten. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"

#define N_SAMPLES 100000
#define MAX_RELATIVE_ERROR 0.004 /* half of 1/128, as stats.h has it */

static int compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* A small generator with a fixed seed (Marsaglia's xorshift64). */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

int main(void)
{
    static uint64_t samples[N_SAMPLES];
    struct histogram *odd = calloc(1, sizeof(*odd));
    struct histogram *all = calloc(1, sizeof(*all));
    uint64_t state = 88172645463325252U;
    double worst = 0.0;
    CHECK(odd != NULL && all != NULL);
    CHECK(histogram_quantile_ns(all, 0.5) == 0 && histogram_mean_ns(all) == 0.0);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        /* Log-uniform from 1 ns to 10^10 ns. */
        const double share = (double)(next_random(&state) >> 11) / 9007199254740992.0;
        samples[i] = (uint64_t)pow(10.0, 10.0 * share);
        histogram_record(i % 2 == 0 ? all : odd, samples[i]);
    }
    histogram_merge(all, odd);
    qsort(samples, N_SAMPLES, sizeof(samples[0]), compare);
    for (unsigned permille = 1; permille <= 1000; permille++) {
        const double share = permille / 1000.0;
        const uint64_t exact = samples[(size_t)ceil(share * N_SAMPLES) - 1];
        const uint64_t found = histogram_quantile_ns(all, share);
        const double error = fabs((double)found - (double)exact) / (double)exact;
        worst = error > worst ? error : worst;
    }
    printf("worst relative error %f\n", worst);
    CHECK(worst <= MAX_RELATIVE_ERROR);
    CHECK(all->n_samples == N_SAMPLES && all->max_ns == samples[N_SAMPLES - 1]);
    /* Beyond the last bucket: the maximum stays exact, nothing is written past the end. */
    histogram_record(all, UINT64_MAX >> 1);
    CHECK(all->max_ns == UINT64_MAX >> 1);
    free(odd);
    free(all);
    return EXIT_SUCCESS;
}
