/*
 * An implementation of sending. Each file in strategies/ defines `the_strategy`, and each sender
 * program is linked with exactly one of them; the file's name is also the strategy's name in the
 * program and in the configuration.
 *
 * Two parts of the file are also read outside C. Its header comment describes the strategy in the
 * tables of the report and the documentation: the summary after its name, `Copies:`, `System
 * calls:`, `Linux:` and `Path of the bytes:`. The fields `transports` to `batch_is_one_datagram` of
 * `the_strategy` say which cells it can have, so they are written out, not hidden in a macro.
 */
#ifndef COPYCOST_STRATEGY_H
#define COPYCOST_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters.h"
#include "failure.h"
#include "messages/message.h"
#include "messages/ring.h"
#include "program/options.h"

/* One connection, as its sending thread sees it. */
struct stream {
    int fd;                   /* connected, blocking, with SO_SNDTIMEO */
    enum transport transport; /* a message over TRANSPORT_DATAGRAM is one datagram */
    size_t msg_bytes;
    size_t batch;        /* messages per call of send_messages; 1 unless --batch says otherwise */
    uint64_t timeout_ns; /* longest wait without progress */
    struct counters *counters;
    struct failure *failure;
    struct ring ring; /* this thread's messages: see next_message, slot_take */
    void *state;      /* the strategy's own; freed by the core */

    /*
     * Whether next_message and slot_take write a message before they return it (--fresh, --verify).
     * Otherwise a message never changes once allocated, and nor may anything made of it that the
     * kernel may still read.
     */
    bool contents_change;
    void (*write_contents)(struct stream *stream, struct message *message); /* for the core */
    size_t connection;
    uint64_t n_written;

    /* Set by setup if the kernel cannot tell which zero-copy sends it copied: why not. */
    const char *copied_unknown;
};

/*
 * All functions return 0 or -errno and describe errors by fail(stream->failure, ...). A strategy
 * counts its bytes, calls, short writes and so on in stream->counters; the caller counts whole
 * messages.
 */
struct strategy {
    const char *name;
    const char *summary;        /* one line for --help */
    unsigned int transports;    /* TRANSPORT_STREAM | TRANSPORT_DATAGRAM */
    bool batching;              /* whether it takes --batch */
    bool zero_copy;             /* whether the zero-copy counters mean anything */
    bool batch_is_one_datagram; /* so all messages of a batch must fit into one */
    size_t state_bytes; /* of stream->state, zeros at first; 0: none, or setup allocates it */

    /*
     * How many messages must exist, and may be in flight, at once; optional, stream->batch if
     * absent. Called on the stream's thread before setup, when state, ring and copied_unknown do
     * not exist yet.
     */
    uint32_t (*slots_in_flight)(const struct stream *stream);

    /* Main thread, before anything else; optional. Non-zero: this host cannot do it (exit code 77).
     */
    int (*probe)(struct failure *failure);

    /* The stream's thread, before the traffic; optional. */
    int (*setup)(struct stream *stream);

    /* The stream's thread, again and again; required. Sends stream->batch whole messages. */
    int (*send_messages)(struct stream *stream);

    /* The stream's thread, after the last message; optional. Waits until the kernel holds no
     * buffer. */
    int (*drain)(struct stream *stream);

    /* The stream's thread, last, even after an error, if there is a state; optional. Releases what
     * the state refers to. */
    void (*teardown)(struct stream *stream);
};

extern const struct strategy the_strategy;

static inline struct message *write_if_changing(struct stream *stream, struct message *message)
{
    if (stream->contents_change) {
        stream->write_contents(stream, message);
    }
    return message;
}

/*
 * The next message to send, for strategies that are done with it when their call returns: if hot,
 * always the same (with a batch, one of `batch` of them); if cold, the next of the ring.
 */
static inline struct message *next_message(struct stream *stream)
{
    return write_if_changing(stream, ring_next(&stream->ring));
}

/*
 * The same for strategies whose messages the kernel reads later. The slot has one holder, the
 * caller; slot_hold adds one for each send in flight, slot_release removes one, and the last one
 * frees the slot. NO_SLOT: wait for a completion, release what it frees, and try again; a wait is
 * counted once, however many attempts it takes.
 */
static inline uint32_t slot_take(struct stream *stream)
{
    struct ring *ring = &stream->ring;
    const uint32_t slot = ring_take(ring);
    if (slot == NO_SLOT) {
        count(stream->counters, COUNT_SLOT_WAITS, ring->waiting ? 0 : 1);
        ring->waiting = true;
        return NO_SLOT;
    }
    ring->waiting = false;
    (void)write_if_changing(stream, &ring->slots[slot].message);
    return slot;
}

static inline void slot_hold(struct stream *stream, uint32_t slot)
{
    ring_hold(&stream->ring, slot);
}

static inline void slot_release(struct stream *stream, uint32_t slot)
{
    ring_release(&stream->ring, slot);
}

static inline struct message *slot_message(struct stream *stream, uint32_t slot)
{
    return &stream->ring.slots[slot].message;
}

#endif
