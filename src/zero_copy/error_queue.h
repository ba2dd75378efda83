/*
 * The error queue of a socket, on which the kernel reports completed sends with MSG_ZEROCOPY. Each
 * successful send has a number, from 0 on; it wraps at 32 bits. Kernel document
 * networking/msg_zerocopy.rst.
 */
#ifndef COPYCOST_ERROR_QUEUE_H
#define COPYCOST_ERROR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "strategy.h"

/* One notification: the kernel has released the memory of sends first .. last. */
struct completion {
    uint32_t first;
    uint32_t last; /* may be less than first, across the wrap */
    bool copied;   /* the kernel copied them after all; see below */
};

/*
 * Reads one notification. Returns 1, 0 if there is none, or -errno.
 *
 * An unread notification is extended by the next one if that continues its range, whatever either
 * says about copies (skb_zerocopy_notify_extend, net/core/skbuff.c). So if the kernel copied only
 * some sends of a range, `copied` says what it did with the first.
 */
int error_queue_read(struct stream *stream, struct completion *completion);

/*
 * Waits until the queue holds something or the connection has an error. Returns 1, 0 when the
 * deadline has passed or a signal came, or -errno.
 */
int error_queue_wait(struct stream *stream, uint64_t deadline_ns);

#endif
