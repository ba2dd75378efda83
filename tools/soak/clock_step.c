/* Preloaded into a run that is soaked: the wall clock as it would be after steps, which others make
 * by writing seconds to the file that COPYCOST_SOAK_CLOCK names. Clocks that no step moves stay.
 * Python, perf and our programs read them all by clock_gettime(). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t unmoved;
static const volatile int64_t *shift_s = &unmoved;

__attribute__((constructor)) static void map_shift(void)
{
    const char *path = getenv("COPYCOST_SOAK_CLOCK");
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    void *shared = mmap(NULL, sizeof(*shift_s), PROT_READ, MAP_SHARED, fd, 0);
    if (shared != MAP_FAILED)
        shift_s = shared;
    close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += *shift_s;
    return result;
}
