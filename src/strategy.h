/*
 * A way to send a message. Each file in strategies/ defines `the_strategy`, and each sender program
 * is linked with exactly one of them; the file's name is the strategy's name, the program's and the
 * configuration's.
 */
#ifndef COPYCOST_STRATEGY_H
#define COPYCOST_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters.h"
#include "die.h"
#include "message.h"

/* One connection, as its sending thread sees it. */
struct stream {
    int fd; /* connected, blocking, with SO_SNDTIMEO */
    size_t msg_bytes;
    uint64_t timeout_ns; /* longest wait without progress */
    struct counters *counters;
    struct failure *failure;
    void *state; /* the strategy's own, from setup to teardown */

    /*
     * A strategy calls this for each message, once, right before it sends the first byte, when
     * nothing else reads the fields any more. Under --verify it writes the pattern of this place in
     * the stream; otherwise it does nothing: an application's fields are hot from whatever produced
     * them.
     */
    void (*refill)(struct stream *stream, struct message *message);
    size_t connection; /* for refill */
    uint64_t offset;   /* for refill */
};

/*
 * All functions return 0 or -errno and describe errors by fail(stream->failure, ...). A strategy
 * counts its bytes, calls, short writes and so on in stream->counters; whole messages are counted
 * by the caller.
 */
struct strategy {
    const char *name;
    const char *summary; /* one line for --help */
    bool zero_copy;      /* whether the zero-copy counters mean anything */

    /* Main thread, before anything else; optional. Non-zero: this host cannot do it (exit code 77).
     */
    int (*probe)(struct failure *failure);

    /* The stream's thread, before the traffic; required. teardown is called even after an error. */
    int (*setup)(struct stream *stream);

    /* The stream's thread, again and again; required. Sends one whole message. */
    int (*send_message)(struct stream *stream);

    /* The stream's thread, after the last message; optional. Waits until the kernel holds no
     * buffer. */
    int (*drain)(struct stream *stream);

    /* The stream's thread, last; required. Frees the state. */
    void (*teardown)(struct stream *stream);
};

extern const struct strategy the_strategy;

#endif
