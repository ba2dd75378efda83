#include "uring/region.h"

#ifdef HAVE_URING

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* The largest buffer that can be registered (io_buffer_validate, io_uring/rsrc.c). */
#define MAX_BUFFER_BYTES ((size_t)1 << 30)

/* malloc's alignment. */
#define MALLOC_ALIGNMENT 16

/* How much room a field takes: as from malloc, or whole pages (messages/message.h). */
static size_t room_for(size_t field_bytes)
{
    if (field_bytes >= memory_page_bytes()) {
        return memory_whole_pages(field_bytes);
    }
    return (field_bytes + MALLOC_ALIGNMENT - 1) / MALLOC_ALIGNMENT * MALLOC_ALIGNMENT;
}

static size_t room_for_message(const struct message *message)
{
    size_t room_bytes = 0;
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        room_bytes += room_for(message->field[i].iov_len);
    }
    return room_bytes;
}

static void move_message(struct message *message, char *to)
{
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        struct iovec *field = &message->field[i];
        memcpy(to, field->iov_base, field->iov_len);
        free(field->iov_base);
        field->iov_base = to;
        to += room_for(field->iov_len);
    }
}

/* Registers the region in as few buffers as possible. Returns 0 or -errno. */
static int register_region(const struct uring_region *region, struct uring *uring)
{
    const uint32_t n_slots = region->ring->n_slots;
    const uint32_t per_buffer = region->slots_per_buffer;
    const uint32_t n_buffers = (n_slots + per_buffer - 1) / per_buffer;
    struct iovec *buffers = calloc(n_buffers, sizeof(*buffers));
    if (buffers == NULL) {
        return fail(uring->failure, ENOMEM, "%s: %u registered buffers", uring->user, n_buffers);
    }
    for (uint32_t i = 0; i < n_buffers; i++) {
        const uint32_t first = i * per_buffer;
        const uint32_t n = n_slots - first < per_buffer ? n_slots - first : per_buffer;
        buffers[i].iov_base = region->memory + first * region->stride_bytes;
        buffers[i].iov_len = n * region->stride_bytes;
    }
    const int error = io_uring_register_buffers(&uring->ring, buffers, n_buffers);
    free(buffers);
    if (error == -ENOMEM) {
        return blame_host(
            uring->failure,
            fail(uring->failure, ENOMEM,
                 "%s: registering %zu bytes: more locked memory than RLIMIT_MEMLOCK allows; "
                 "raise it (ulimit -l), run as root, or use a smaller working set",
                 uring->user, n_slots * region->stride_bytes));
    }
    return error == 0 ? 0
                      : fail(uring->failure, -error, "%s: registering %zu bytes", uring->user,
                             n_slots * region->stride_bytes);
}

/* Moves the messages into contiguous memory. Returns 0 or -errno. */
static int gather_messages(struct uring_region *region, struct uring *uring)
{
    struct ring *ring = region->ring;
    region->stride_bytes = room_for_message(&ring->slots[0].message);
    region->own_memory = memory_allocate_aligned(ring->n_slots * region->stride_bytes);
    if (region->own_memory == NULL) {
        return fail(uring->failure, ENOMEM, "%s: a region of %zu bytes", uring->user,
                    ring->n_slots * region->stride_bytes);
    }
    region->memory = region->own_memory;
    for (uint32_t i = 0; i < ring->n_slots; i++) {
        move_message(&ring->slots[i].message, region->memory + i * region->stride_bytes);
    }
    return 0;
}

int uring_region_open(struct uring_region *region, struct uring *uring, struct ring *ring)
{
    *region = (struct uring_region){
        .ring = ring,
        .memory = ring->memory,
        .stride_bytes = ring->span_bytes,
    };
    const int error = region->memory == NULL ? gather_messages(region, uring) : 0;
    if (error != 0) {
        return error;
    }
    const size_t fitting = MAX_BUFFER_BYTES / region->stride_bytes;
    if (fitting == 0) {
        return fail(uring->failure, EFBIG, "%s: a message of %zu bytes is too large to register",
                    uring->user, region->stride_bytes);
    }
    region->slots_per_buffer = fitting < ring->n_slots ? (uint32_t)fitting : ring->n_slots;
    return register_region(region, uring);
}

void uring_region_close(struct uring_region *region, struct uring *uring)
{
    if (uring->is_open) {
        /* If left to the end of the ring, the kernel would return the locked memory some time
         * later, when the next program may already ask for it. Refused if none is registered. */
        (void)io_uring_unregister_buffers(&uring->ring);
    }
    for (uint32_t i = 0; region->own_memory != NULL && i < region->ring->n_slots; i++) {
        for (size_t j = 0; j < MESSAGE_FIELDS; j++) {
            region->ring->slots[i].message.field[j].iov_base = NULL; /* is not malloc's */
        }
    }
    free(region->own_memory);
    *region = (struct uring_region){0};
}

#endif
