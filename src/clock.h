/* Time: CLOCK_MONOTONIC in nanoseconds, the clock that all processes of a measurement share. */
#ifndef COPYCOST_CLOCK_H
#define COPYCOST_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

/* The time now [ns]. */
uint64_t clock_now_ns(void);

/* The CPU time that this process has used, all threads [ns]. */
uint64_t clock_process_cpu_ns(void);

/* Sleeps until a time; returns at once if it has passed. */
void clock_sleep_until(uint64_t moment_ns);

/* The time left until a deadline, for ppoll; zero if it has passed. */
struct timespec clock_left_until(uint64_t deadline_ns);

#endif
