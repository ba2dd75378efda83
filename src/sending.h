/* What each sending thread does. */
#ifndef COPYCOST_SENDING_H
#define COPYCOST_SENDING_H

#include <stddef.h>
#include <stdint.h>

#include "program/options.h"
#include "session/threads.h"
#include "stats.h"
#include "strategy.h"

/* The work of one sending thread. */
struct sending {
    struct stream stream;
    uint64_t ring_messages; /* how many messages there are, and the memory they take */
    uint64_t ring_bytes;
    struct histogram service_time;
    struct histogram round_trip;
};

/* The duty of a sender's crew; each worker's work is a struct sending. */
struct crew_duty sending_duty(void);

/* One in this many messages is timed; 0: none. */
size_t sending_sample_every(const struct options *options);

#endif
