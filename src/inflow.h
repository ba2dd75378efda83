/* One connection, as its receiving thread sees it, and what happens to arriving bytes. */
#ifndef COPYCOST_INFLOW_H
#define COPYCOST_INFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters.h"
#include "failure.h"
#include "program/options.h"

/* A datagram may arrive after up to this many that were sent after it; one that comes even later
 * cannot be told from a duplicate. */
#define LATEST_DATAGRAM 1024U

struct inflow {
    int fd;                   /* connected, blocking, with SO_RCVTIMEO */
    enum transport transport; /* a message over TRANSPORT_DATAGRAM is one datagram */
    size_t msg_bytes;
    size_t read_bytes;   /* how much one recv may take */
    uint64_t timeout_ns; /* longest wait without progress */
    size_t connection;
    struct counters *counters;
    struct failure *failure;
    void *state; /* the receiver's own; freed by the core */
    bool verify;
    const char *token; /* of the goodbye, over TRANSPORT_DATAGRAM */

    /* Under --verify; for inflow.c. */
    uint64_t checked_bytes;
    uint64_t next_number;          /* of a datagram: one more than the highest so far */
    bool arrived[LATEST_DATAGRAM]; /* of those before it, by number modulo LATEST_DATAGRAM */
    uint64_t wrong_bytes;
    uint64_t first_wrong_offset;
};

/*
 * After a failed call, with errno as it left it: returns 0 if a signal interrupted it and it must
 * be repeated, else -errno, described. `call` is its name.
 */
int inflow_error(struct inflow *inflow, const char *call);

/* Compares the next bytes of a stream with the pattern. */
void inflow_check(struct inflow *inflow, const void *memory, size_t n_bytes);

/* What a datagram was. After ARRIVAL_WRONG the failure is described. */
enum arrival { ARRIVAL_MESSAGE, ARRIVAL_WELCOME, ARRIVAL_GOODBYE, ARRIVAL_WRONG };

/* Tells what a datagram is and, under --verify, compares it with the pattern. */
enum arrival inflow_check_datagram(struct inflow *inflow, const void *memory, size_t n_bytes);

/* Takes the next bytes of a stream: counts them, and checks them under --verify. */
static inline void inflow_take(struct inflow *inflow, const void *memory, size_t n_bytes)
{
    count(inflow->counters, COUNT_BYTES, n_bytes);
    if (inflow->verify) {
        inflow_check(inflow, memory, n_bytes);
    }
}

/*
 * Takes a datagram of `n_bytes`. `memory` holds at least its first NOTE_BYTES
 * (connections/datagram.h), and all of it under --verify. Only messages are counted.
 */
static inline enum arrival inflow_take_datagram(struct inflow *inflow, const void *memory,
                                                size_t n_bytes)
{
    const enum arrival arrival = inflow_check_datagram(inflow, memory, n_bytes);
    if (arrival == ARRIVAL_MESSAGE) {
        count(inflow->counters, COUNT_BYTES, n_bytes);
    }
    return arrival;
}

#endif
