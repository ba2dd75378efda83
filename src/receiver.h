/*
 * An implementation of receiving. Each file in receivers/ defines `the_receiver`, and each receiver
 * program is linked with exactly one of them; the file's name is also the receiver's name in the
 * program and in the configuration.
 */
#ifndef COPYCOST_RECEIVER_H
#define COPYCOST_RECEIVER_H

#include <stdbool.h>

#include "counters.h"
#include "failure.h"
#include "inflow.h"
#include "program/options.h"

/*
 * All functions return 0 or -errno and describe errors by fail(inflow->failure, ...). A receiver
 * counts its calls in inflow->counters, and hands what arrives to inflow_take.
 */
struct receiver {
    const char *name;
    const char *summary;     /* one line for --help */
    unsigned int transports; /* TRANSPORT_STREAM | TRANSPORT_DATAGRAM */
    bool verifies;           /* whether it sees the bytes, as --verify needs */
    bool answers;            /* whether it allows --mode request_response, which uses recv */
    size_t state_bytes;      /* of inflow->state, zeros at first; 0: setup allocates it */

    /* Main thread, before anything else; optional. Non-zero: this host cannot do it (exit code 77).
     */
    int (*probe)(struct failure *failure);

    /* The connection's thread, before the traffic; required. */
    int (*setup)(struct inflow *inflow);

    /*
     * The connection's thread; required. Receives until the sender says goodbye. Returns 0 at the
     * end of a stream, or on the goodbye of datagrams; -ETIMEDOUT if nothing came within the
     * timeout.
     */
    int (*receive_all)(struct inflow *inflow);

    /* The connection's thread, last, even after an error, if there is a state; optional. Releases
     * what the state refers to. */
    void (*teardown)(struct inflow *inflow);
};

extern const struct receiver the_receiver;

#endif
