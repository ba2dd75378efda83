#include "messages/ring.h"

#include <errno.h>
#include <stdlib.h>

/* What the cache holds of a message that is sent: its bytes, and the slot that says where they are.
 */
static size_t slot_memory_bytes(size_t msg_bytes)
{
    return message_memory_bytes(msg_bytes) + sizeof(struct slot);
}

int ring_allocate(struct ring *ring, size_t msg_bytes, size_t ring_bytes, uint32_t n_in_flight)
{
    const size_t n_fitting = ring_bytes / slot_memory_bytes(msg_bytes);
    *ring = (struct ring){.max_taken = n_in_flight, .n_slots = n_in_flight};
    if (n_fitting >= NO_SLOT) {
        return -ENOMEM;
    }
    if (n_fitting > n_in_flight) {
        ring->n_slots = (uint32_t)n_fitting;
    }
    ring->slots = calloc(ring->n_slots, sizeof(*ring->slots));
    if (ring->slots == NULL) {
        return -ENOMEM;
    }
    if (ring_bytes == 0) {
        ring->free_slots = calloc(ring->n_slots, sizeof(*ring->free_slots));
        if (ring->free_slots == NULL) {
            return -ENOMEM;
        }
        for (uint32_t i = 0; i < ring->n_slots; i++) {
            ring->free_slots[i] = i;
        }
    }
    for (uint32_t i = 0; i < ring->n_slots; i++) {
        if (message_allocate(&ring->slots[i].message, msg_bytes) != 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

void ring_free(struct ring *ring)
{
    for (uint32_t i = 0; ring->slots != NULL && i < ring->n_slots; i++) {
        message_free(&ring->slots[i].message);
    }
    free(ring->slots);
    free(ring->free_slots);
    *ring = (struct ring){0};
}

uint64_t ring_memory_bytes(const struct ring *ring, size_t msg_bytes)
{
    return (uint64_t)ring->n_slots * slot_memory_bytes(msg_bytes);
}
