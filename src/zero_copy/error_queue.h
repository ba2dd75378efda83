/*
 * The error queue of a socket, on which the kernel tells what became of sends with MSG_ZEROCOPY.
 * Each successful one has a number, from 0 on; it wraps at 32 bits. Kernel document
 * networking/msg_zerocopy.rst.
 */
#ifndef COPYCOST_ERROR_QUEUE_H
#define COPYCOST_ERROR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "strategy.h"

/* One notification: the kernel has let go of the memory of sends first .. last. */
struct completion {
    uint32_t first;
    uint32_t last; /* may be less than first, across the wrap */
    bool copied;   /* it had to copy them after all; see below */
};

/*
 * Reads one notification. Returns 1, 0 when there is none, or -errno.
 *
 * A notification that waits to be read is extended by the next one if that goes on where it ends,
 * whatever that says of copies (skb_zerocopy_notify_extend, net/core/skbuff.c). So where the kernel
 * copied some sends of a range and not others, `copied` is what it did with the first.
 */
int error_queue_read(struct stream *stream, struct completion *completion);

/*
 * Waits until the queue holds something or the connection has an error. Returns 1, 0 when the
 * deadline has passed or a signal came, or -errno.
 */
int error_queue_wait(struct stream *stream, uint64_t deadline_ns);

#endif
