/*
 * Registered buffers that hold the messages of a ring.
 *
 * The kernel looks up and pins the pages of a registered buffer once, when it is registered,
 * instead of for each send. All iovecs of a send must lie in the same buffer, so the fields of
 * messages that are not contiguous are moved into one region. An application designed for
 * registered buffers would allocate its fields there in the first place.
 */
#ifndef COPYCOST_URING_REGION_H
#define COPYCOST_URING_REGION_H

#include "messages/ring.h"
#include "uring/uring.h"

#ifdef HAVE_URING

struct uring_region {
    char *memory;              /* where the messages are */
    char *own_memory;          /* the same if they were moved, else NULL */
    size_t stride_bytes;       /* from one message to the next */
    uint32_t slots_per_buffer; /* how many messages a registered buffer holds */
    struct ring *ring;         /* whose messages are in it */
};

/* Registers the memory of a ring's messages, moving them if needed. Returns 0 or -errno, described;
 * call uring_region_close in both cases. */
int uring_region_open(struct uring_region *region, struct uring *uring, struct ring *ring);

/*
 * Frees the region; messages that were moved are left without fields. Call it before uring_close.
 */
void uring_region_close(struct uring_region *region, struct uring *uring);

/* The registered buffer that a slot's message lies in. */
static inline uint16_t uring_region_buffer(const struct uring_region *region, uint32_t slot)
{
    return (uint16_t)(slot / region->slots_per_buffer);
}

#endif

#endif
