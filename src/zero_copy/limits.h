/* What limits zero-copy sends, through MSG_ZEROCOPY or io_uring. */
#ifndef COPYCOST_ZERO_COPY_LIMITS_H
#define COPYCOST_ZERO_COPY_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "strategy.h"

/* The most messages in flight on a connection, however small they are. */
#define ZERO_COPY_MAX_SLOTS 256U

/* How many messages may be in flight on a connection. */
uint32_t zero_copy_slots(const struct stream *stream);

/* Whether even one message alone needs more locked memory than RLIMIT_MEMLOCK allows this user;
 * only root is exempt. */
bool zero_copy_never_fits(const struct stream *stream);

/*
 * Says which limits cause a send to be refused with nothing in flight, and what to do. The kernel
 * keeps notifications for an error queue in option memory (net.core.optmem_max).
 */
int zero_copy_fail_for_limits(struct stream *stream, bool uses_option_memory);

/* After the last message: checks that every send has completed. Returns 0, or -errno, described. */
int zero_copy_check_completed(struct stream *stream);

#endif
