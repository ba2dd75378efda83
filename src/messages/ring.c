#include "messages/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "memory.h"

/* What the cache holds of a sent message: its bytes, and the slot that says where they are. */
static size_t slot_memory_bytes(size_t msg_bytes)
{
    return message_memory_bytes(msg_bytes) + sizeof(struct slot);
}

static int allocate_hot(struct ring *ring, size_t msg_bytes)
{
    ring->free_slots = calloc(ring->n_slots, sizeof(*ring->free_slots));
    if (ring->free_slots == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < ring->n_slots; i++) {
        ring->free_slots[i] = i;
        if (message_allocate(&ring->slots[i].message, msg_bytes) != 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

static size_t mapped_bytes(const struct ring *ring)
{
    return memory_whole_pages(ring->n_slots * ring->span_bytes);
}

/* All messages in one mapping: millions of allocations, and freeing them one by one, would take
 * longer than the window they are made for. */
static int allocate_to_walk(struct ring *ring, size_t msg_bytes)
{
    ring->span_bytes = message_span_bytes(msg_bytes);
    char *memory =
        mmap(NULL, mapped_bytes(ring), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return -ENOMEM;
    }
    ring->memory = memory;
    for (uint32_t i = 0; i < ring->n_slots; i++) {
        message_place(&ring->slots[i].message, msg_bytes, memory + i * ring->span_bytes);
    }
    return 0;
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
    return ring_bytes == 0 ? allocate_hot(ring, msg_bytes) : allocate_to_walk(ring, msg_bytes);
}

void ring_free(struct ring *ring)
{
    if (ring->memory != NULL) {
        munmap(ring->memory, mapped_bytes(ring));
    } else {
        for (uint32_t i = 0; ring->slots != NULL && i < ring->n_slots; i++) {
            message_free(&ring->slots[i].message);
        }
    }
    free(ring->slots);
    free(ring->free_slots);
    *ring = (struct ring){0};
}

uint64_t ring_memory_bytes(const struct ring *ring, size_t msg_bytes)
{
    return (uint64_t)ring->n_slots * slot_memory_bytes(msg_bytes);
}
