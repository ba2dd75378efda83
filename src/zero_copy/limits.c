#include "zero_copy/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "memory.h"

/*
 * Large messages: twice as many bytes as the largest send buffer that Linux chooses by itself
 * (net.ipv4.tcp_wmem, 4 MiB), so that the send buffer is what limits them. Small ones are limited
 * by option memory: the kernel charges each send with MSG_ZEROCOPY some 800 bytes until its
 * completion is read.
 */
#define IN_FLIGHT_BYTES ((size_t)8 << 20)
#define MIN_SLOTS 4U

/* The kernel counts locked pages as (size >> PAGE_SHIFT) + 2 (mm_account_pinned_pages,
 * io_notif_account_mem). */
#define EXTRA_PAGES 2U

#define LIMIT_TEXT_BYTES 24 /* a 64-bit number */

uint32_t zero_copy_slots(const struct stream *stream)
{
    const size_t n = IN_FLIGHT_BYTES / stream->msg_bytes;
    if (n < MIN_SLOTS) {
        return MIN_SLOTS;
    }
    return n > ZERO_COPY_MAX_SLOTS ? ZERO_COPY_MAX_SLOTS : (uint32_t)n;
}

static uint64_t needed_bytes(const struct stream *stream)
{
    const uint64_t page_bytes = memory_page_bytes();
    return (stream->msg_bytes / page_bytes + EXTRA_PAGES) * page_bytes;
}

static rlim_t memlock_bytes(void)
{
    struct rlimit memlock = {.rlim_cur = RLIM_INFINITY};
    /* Fails only for an unknown limit or a bad address (getrlimit(2)); both are constants here. */
    (void)getrlimit(RLIMIT_MEMLOCK, &memlock);
    return memlock.rlim_cur;
}

bool zero_copy_never_fits(const struct stream *stream)
{
    count(stream->counters, COUNT_OTHER_CALLS, 1);
    return needed_bytes(stream) > memlock_bytes(); /* RLIM_INFINITY is the largest value */
}

static void tell_memlock(char *text, size_t text_bytes)
{
    const rlim_t limit_bytes = memlock_bytes();
    if (limit_bytes == RLIM_INFINITY) {
        (void)snprintf(text, text_bytes, "unlimited");
    } else {
        (void)snprintf(text, text_bytes, "%" PRIu64, (uint64_t)limit_bytes);
    }
}

/* The option memory that one socket may use. */
static void tell_optmem_max(char *text, size_t text_bytes)
{
    FILE *file = fopen("/proc/sys/net/core/optmem_max", "re");
    (void)snprintf(text, text_bytes, "unknown");
    if (file != NULL) {
        char line[LIMIT_TEXT_BYTES] = "";
        if (fgets(line, sizeof(line), file) != NULL) {
            (void)snprintf(text, text_bytes, "%llu", strtoull(line, NULL, 10));
        }
        (void)fclose(file); /* was only read */
    }
}

int zero_copy_fail_for_limits(struct stream *stream, bool uses_option_memory)
{
    char memlock[LIMIT_TEXT_BYTES];
    char optmem_max[LIMIT_TEXT_BYTES];
    tell_memlock(memlock, sizeof(memlock));
    if (!uses_option_memory) {
        return fail(stream->failure, ENOBUFS,
                    "%s: send on fd %d refused with nothing in flight: it needs %" PRIu64
                    " bytes of locked memory (RLIMIT_MEMLOCK is %s for all of this user's "
                    "sockets); raise it (ulimit -l), run as root, or send smaller messages",
                    the_strategy.name, stream->fd, needed_bytes(stream), memlock);
    }
    tell_optmem_max(optmem_max, sizeof(optmem_max));
    return fail(stream->failure, ENOBUFS,
                "%s: send on fd %d refused with nothing in flight: it needs %" PRIu64
                " bytes of locked memory (RLIMIT_MEMLOCK is %s for all of this user's sockets) "
                "and option memory (net.core.optmem_max is %s); raise them (ulimit -l, sysctl -w "
                "net.core.optmem_max=131072), run as root, or send smaller messages",
                the_strategy.name, stream->fd, needed_bytes(stream), memlock, optmem_max);
}

int zero_copy_check_completed(struct stream *stream)
{
    const uint64_t n_sent = counter_value(stream->counters, COUNT_ZC_SENT);
    const uint64_t n_completed = counter_value(stream->counters, COUNT_ZC_COMPLETED);
    return n_sent == n_completed
               ? 0
               : fail(stream->failure, 0,
                      "%s: %" PRIu64 " sends on fd %d, but %" PRIu64 " completions",
                      the_strategy.name, n_sent, stream->fd, n_completed);
}
