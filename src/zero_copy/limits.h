/* What limits zero-copy sends, whichever way they are asked for and their completions read. */
#ifndef COPYCOST_ZERO_COPY_LIMITS_H
#define COPYCOST_ZERO_COPY_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "strategy.h"

/* The most messages that are in flight on a connection, however small they are. */
#define ZERO_COPY_MAX_SLOTS 256U

/* How many messages may be in flight on a connection. */
uint32_t zero_copy_slots(const struct stream *stream);

/* Whether even one message alone is more than this user may lock in memory (RLIMIT_MEMLOCK), from
 * which only root is exempt. */
bool zero_copy_never_fits(const struct stream *stream);

/*
 * Says which limits refuse a send although nothing is in flight, and what to do. The kernel keeps
 * notifications for an error queue in option memory (net.core.optmem_max).
 */
int zero_copy_fail_for_limits(struct stream *stream, bool uses_option_memory);

/* After the last message: whether every send has completed. Returns 0, or -errno, described. */
int zero_copy_check_completed(struct stream *stream);

#endif
