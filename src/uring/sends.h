/*
 * The zero-copy sends of an io_uring that are in flight, by number. Each has a result and, if the
 * result says so, a notification, until which the kernel may read the memory. A send that is
 * refused is over with its result; yet the kernel may send a notification for it too, before or
 * after the result, which must not be taken for that of another send from the same slot.
 */
#ifndef COPYCOST_URING_SENDS_H
#define COPYCOST_URING_SENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "zero_copy/limits.h"

/* A power of two; more than slots, since short writes split a message into several sends. */
#define URING_MAX_SENDS (4 * ZERO_COPY_MAX_SLOTS)

enum uring_send_phase {
    SEND_OVER,
    SEND_SUBMITTED,
    SEND_NOTIFIED, /* before its result */
    SEND_PINNED,   /* the notification is due */
};

struct uring_send {
    uint32_t slot;
    uint16_t place; /* in the batch */
    uint8_t phase;
    bool took_bytes; /* so it counts as a zero-copy send */
};

struct uring_sends {
    uint32_t next; /* number of the next send; wraps */
    uint32_t n_submitted;
    uint32_t n_pinned;
    struct uring_send sends[URING_MAX_SENDS]; /* by number modulo URING_MAX_SENDS */
};

/* Whether n more sends can begin now. */
bool uring_sends_have_room(const struct uring_sends *sends, uint32_t n);

/* Begins a send and returns its number. There must be room. */
uint32_t uring_sends_begin(struct uring_sends *sends, uint32_t slot, uint16_t place);

/*
 * Takes the result of a submitted send; `more`: a notification will follow. Returns the send, which
 * now is either SEND_PINNED or SEND_OVER.
 */
const struct uring_send *uring_sends_take_result(struct uring_sends *sends, uint32_t number,
                                                 bool more, bool took_bytes);

/* Takes a notification. Returns the send that it frees, or NULL if none waited for it. */
const struct uring_send *uring_sends_take_notification(struct uring_sends *sends, uint32_t number);

#endif
