/* The loop of recv(2) that ends with the sender's goodbye, for receivers that differ in where the
 * bytes go. */
#ifndef COPYCOST_RECV_LOOP_H
#define COPYCOST_RECV_LOOP_H

#include <stddef.h>

#include "inflow.h"

/* How recv is called. */
struct recv_call {
    const char *name; /* for messages */
    void *memory;
    size_t n_bytes; /* for datagrams, the size of the largest, or with MSG_TRUNC of a note */
    int flags;
};

/* Receives as receive_all of a receiver does (receiver.h). */
int recv_loop(struct inflow *inflow, const struct recv_call *call);

#endif
