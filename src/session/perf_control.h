/* Switches perf stat on and off through its --control descriptors, with acknowledgement. */
#ifndef COPYCOST_PERF_CONTROL_H
#define COPYCOST_PERF_CONTROL_H

#include <stdint.h>

#include "failure.h"

struct perf_control {
    int control_fd; /* NO_FD: there is no perf, and nothing is done */
    int ack_fd;
};

#define PERF_NOT_USED (-1)

/*
 * Sends a command (`enable` or `disable`) and waits for `ack`. *round_trip_ns is how long that
 * took, or PERF_NOT_USED. Returns 0, -ETIMEDOUT or -errno.
 */
int perf_command(const struct perf_control *perf, const char *command, uint64_t timeout_ns,
                 int64_t *round_trip_ns, struct failure *failure);

/*
 * Switches the counters on and off again while nothing is sent yet. In a virtual machine the first
 * time takes up to a quarter of a second, since the host has to set its own counters up; at an edge
 * of the window that would put its counts beside it. Adds the few events of the switching itself.
 * Returns 0, -ETIMEDOUT or -errno.
 */
int perf_rehearse(const struct perf_control *perf, uint64_t timeout_ns, struct failure *failure);

#endif
