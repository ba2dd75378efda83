/*
 * The messages of one sending thread, allocated and touched by that thread before any traffic.
 *
 * Hot: as few messages as must exist at once, and the next one is the one last used, so they stay
 * in the caches. Cold: more memory than the caches hold, walked through in a circle, so each
 * message has left the caches when its turn comes.
 *
 * A message that the kernel still reads after the call that sends it is taken: each send in flight
 * holds it, and it is free again when the last holder has released it.
 */
#ifndef COPYCOST_RING_H
#define COPYCOST_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "messages/message.h"

#define NO_SLOT UINT32_MAX

/* A place in the ring, with its message. */
struct slot {
    struct message message;
    uint32_t n_holders; /* 0: free */
};

struct ring {
    struct slot *slots;
    char *memory;         /* of all messages together; NULL: each field was allocated separately */
    size_t span_bytes;    /* from a message to the next, if they lie together */
    uint32_t *free_slots; /* hot: a stack of n_slots - n_taken; NULL: cold, taken in order */
    uint32_t n_slots;
    uint32_t n_taken;
    uint32_t max_taken; /* at once */
    uint32_t next;      /* the next one, if messages go in order */
    bool waiting;       /* the last attempt to take a slot found none */
};

/*
 * Allocates the messages. `ring_bytes` is the memory to walk through, 0 for a hot ring;
 * `n_in_flight` is how many messages must exist at once, and how many may be taken at once. Returns
 * 0 or -ENOMEM; call ring_free in both cases.
 */
int ring_allocate(struct ring *ring, size_t msg_bytes, size_t ring_bytes, uint32_t n_in_flight);

void ring_free(struct ring *ring);

/* The memory that one round brings into the caches [bytes]. */
uint64_t ring_memory_bytes(const struct ring *ring, size_t msg_bytes);

/* The next message, for a sender that is done with it when its call returns. */
static inline struct message *ring_next(struct ring *ring)
{
    struct message *message = &ring->slots[ring->next].message;
    ring->next = ring->next + 1 == ring->n_slots ? 0 : ring->next + 1;
    return message;
}

/* Takes the next slot, with one holder, the caller. NO_SLOT: one must be released first. */
static inline uint32_t ring_take(struct ring *ring)
{
    uint32_t slot = ring->next;
    if (ring->n_taken == ring->max_taken) {
        return NO_SLOT;
    }
    if (ring->free_slots != NULL) {
        slot = ring->free_slots[ring->n_slots - ring->n_taken - 1];
    } else if (ring->slots[slot].n_holders > 0) {
        return NO_SLOT;
    } else {
        ring->next = slot + 1 == ring->n_slots ? 0 : slot + 1;
    }
    ring->n_taken++;
    ring->slots[slot].n_holders = 1;
    return slot;
}

static inline void ring_hold(struct ring *ring, uint32_t slot)
{
    ring->slots[slot].n_holders++;
}

static inline void ring_release(struct ring *ring, uint32_t slot)
{
    if (--ring->slots[slot].n_holders == 0) {
        ring->n_taken--;
        if (ring->free_slots != NULL) {
            ring->free_slots[ring->n_slots - ring->n_taken - 1] = slot;
        }
    }
}

#endif
