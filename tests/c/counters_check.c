/*
 * Counters are read as they were between two counts, wherever the reader is held up while the
 * writer sends, and wherever in a message the writer is then held up itself.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

static void before_load(void);

static inline uint64_t load(const _Atomic uint64_t *value, memory_order order)
{
    return atomic_load_explicit(value, order);
}

/* From here on each reading of a counter may be held up. */
#undef atomic_load_explicit
#define atomic_load_explicit(value, order) (before_load(), load(value, order))

#include "check.h"
#include "counters.h"

#define MSG_BYTES 16384U
#define COUNTS_PER_MESSAGE 4U /* of strategies that make one call */
#define MAX_COUNTS (5 * COUNTS_PER_MESSAGE)

static struct counters counters;
static uint64_t n_counts; /* how far the writer is */
static size_t held_up_at; /* the reader's loads until it is held up */
static size_t n_held_up;  /* how far the writer comes meanwhile */
static bool is_reading;
static size_t n_loads;

static void make_counts(size_t n)
{
    static const enum counter WHICH[COUNTS_PER_MESSAGE] = {COUNT_DATA_CALLS, COUNT_BYTES,
                                                           COUNT_SHORT_WRITES, COUNT_MESSAGES};
    static const uint64_t HOW_MANY[COUNTS_PER_MESSAGE] = {1, MSG_BYTES, 0, 1};
    for (size_t i = 0; i < n; i++) {
        const size_t step = n_counts++ % COUNTS_PER_MESSAGE;
        count(&counters, WHICH[step], HOW_MANY[step]);
    }
}

static void before_load(void)
{
    if (is_reading && n_loads++ == held_up_at) {
        is_reading = false; /* the writer's own loads are not held up */
        make_counts(n_held_up);
        is_reading = true;
    }
}

/* The set that the reader got, with one message at most under way. */
static int check_reading(void)
{
    struct counter_values values = {{0}};
    n_loads = 0;
    is_reading = true;
    const bool is_read = counters_read(&counters, &values);
    is_reading = false;
    const uint64_t calls = values.value[COUNT_DATA_CALLS];
    const uint64_t bytes = values.value[COUNT_BYTES];
    const uint64_t messages = values.value[COUNT_MESSAGES];
    CHECK(is_read);
    CHECK(n_loads <= 4 * (size_t)N_COUNTERS); /* it did not wait for the writer */
    CHECK(bytes == calls * MSG_BYTES || bytes + MSG_BYTES == calls * MSG_BYTES);
    CHECK(messages * MSG_BYTES == bytes || (messages + 1) * MSG_BYTES == bytes);
    return EXIT_SUCCESS;
}

int main(void)
{
    for (held_up_at = 0; held_up_at < 3 * (size_t)N_COUNTERS; held_up_at++) {
        for (n_held_up = 0; n_held_up <= MAX_COUNTS; n_held_up++) {
            if (check_reading() != EXIT_SUCCESS) {
                printf("the reader was held up at load %zu for %zu counts\n", held_up_at,
                       n_held_up);
                return EXIT_FAILURE;
            }
        }
    }
    return EXIT_SUCCESS;
}
