#include "clock.h"

#include <errno.h>

static uint64_t read_clock_ns(clockid_t clock)
{
    struct timespec now = {0};
    /* Fails only for an unknown clock or a bad address (clock_gettime(2)); both are constants here.
     */
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t clock_now_ns(void)
{
    return read_clock_ns(CLOCK_MONOTONIC);
}

uint64_t clock_process_cpu_ns(void)
{
    return read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

struct timespec clock_left_until(uint64_t deadline_ns)
{
    const uint64_t now_ns = clock_now_ns();
    const uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    return (struct timespec){
        .tv_sec = (time_t)(left_ns / NS_PER_S),
        .tv_nsec = (long)(left_ns % NS_PER_S),
    };
}

void clock_sleep_until(uint64_t moment_ns)
{
    const struct timespec moment = {
        .tv_sec = (time_t)(moment_ns / NS_PER_S),
        .tv_nsec = (long)(moment_ns % NS_PER_S),
    };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL) == EINTR) {
    }
}
