/* Switches perf stat on and off through its --control descriptors, with acknowledgement. */
#ifndef COPYCOST_PERF_CONTROL_H
#define COPYCOST_PERF_CONTROL_H

#include <stdint.h>

#include "failure.h"

struct perf_control {
    int control_fd; /* NO_FD: without perf, nothing is done */
    int ack_fd;
};

/* Sends a command (`enable` or `disable`) and waits for `ack`. Returns 0, -ETIMEDOUT or -errno. */
int perf_command(const struct perf_control *perf, const char *command, uint64_t timeout_ns,
                 struct failure *failure);

#endif
