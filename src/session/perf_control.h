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

#endif
