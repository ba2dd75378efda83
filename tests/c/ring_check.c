/* Messages and their rings: hot ones give back the slot last freed, cold ones go round; neither
 * gives one that is held. */
#include "messages/ring.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define MSG_BYTES 4096
#define MAX_SMALL_BYTES 100

static size_t gather(const struct iovec *iov, size_t n_iov, unsigned char *to)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i < n_iov; i++) {
        memcpy(to + n_bytes, iov[i].iov_base, iov[i].iov_len);
        n_bytes += iov[i].iov_len;
    }
    return n_bytes;
}

/* Every size has 8 fields that add up; iovec_skip gives the same bytes as an offset does. */
static int check_size(size_t msg_bytes)
{
    unsigned char whole[MAX_SMALL_BYTES];
    unsigned char rest[MAX_SMALL_BYTES];
    struct message message;
    CHECK(message_allocate(&message, msg_bytes) == 0);
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        memset(message.field[i].iov_base, (int)i, message.field[i].iov_len);
    }
    CHECK(gather(message.field, MESSAGE_FIELDS, whole) == msg_bytes);
    for (size_t skip = 0; skip <= msg_bytes; skip++) {
        struct iovec iov[MESSAGE_FIELDS];
        memcpy(iov, message.field, sizeof(iov));
        const size_t used = iovec_skip(iov, MESSAGE_FIELDS, skip);
        CHECK(gather(iov + used, MESSAGE_FIELDS - used, rest) == msg_bytes - skip);
        CHECK(memcmp(rest, whole + skip, msg_bytes - skip) == 0);
    }
    message_free(&message);
    return EXIT_SUCCESS;
}

static int check_hot(void)
{
    struct ring ring;
    CHECK(ring_allocate(&ring, MSG_BYTES, 0, 3) == 0);
    CHECK(ring.n_slots == 3);
    const uint32_t first = ring_take(&ring);
    const uint32_t second = ring_take(&ring);
    const uint32_t third = ring_take(&ring);
    CHECK(first != second && second != third && first != third);
    CHECK(ring_take(&ring) == NO_SLOT);
    ring_hold(&ring, second);
    ring_release(&ring, second);
    CHECK(ring_take(&ring) == NO_SLOT); /* a holder is left */
    ring_release(&ring, second);
    CHECK(ring_take(&ring) == second);
    ring_release(&ring, third);
    ring_release(&ring, first);
    CHECK(ring_take(&ring) == first && ring_take(&ring) == third);
    ring_free(&ring);

    /* A sender that is done when its call returns always gets the same message. */
    CHECK(ring_allocate(&ring, MSG_BYTES, 0, 1) == 0);
    const struct message *message = ring_next(&ring);
    CHECK(ring_next(&ring) == message);
    ring_free(&ring);
    return EXIT_SUCCESS;
}

static int check_cold(void)
{
    struct ring ring;
    CHECK(ring_allocate(&ring, MSG_BYTES, (size_t)1 << 20, 4) == 0);
    CHECK(ring.n_slots > 200 && ring.n_slots < 256);
    CHECK(ring_memory_bytes(&ring, MSG_BYTES) <= (size_t)1 << 20);
    CHECK(ring_memory_bytes(&ring, MSG_BYTES) > ((size_t)1 << 20) - 2 * MSG_BYTES);
    for (uint32_t i = 0; i < 2 * ring.n_slots; i++) {
        const uint32_t slot = ring_take(&ring);
        CHECK(slot == i % ring.n_slots);
        ring_release(&ring, slot);
    }
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(ring_take(&ring) == i);
    }
    CHECK(ring_take(&ring) == NO_SLOT); /* as many as may be taken */
    ring_free(&ring);

    /* In copying order. */
    CHECK(ring_allocate(&ring, MSG_BYTES, (size_t)1 << 20, 1) == 0);
    for (uint32_t i = 0; i < 2 * ring.n_slots; i++) {
        CHECK(ring_next(&ring) == &ring.slots[i % ring.n_slots].message);
    }
    ring_free(&ring);

    /* Smaller than what must be in flight: it holds that, in order, and waits for whose turn it is.
     */
    CHECK(ring_allocate(&ring, MSG_BYTES, 1, 2) == 0);
    CHECK(ring.n_slots == 2);
    CHECK(ring_take(&ring) == 0 && ring_take(&ring) == 1);
    ring_release(&ring, 1);
    CHECK(ring_take(&ring) == NO_SLOT);
    ring_release(&ring, 0);
    CHECK(ring_take(&ring) == 0);
    ring_free(&ring);
    return EXIT_SUCCESS;
}

/* Fields of a page begin at pages; the memory named is what malloc takes for smaller ones. */
static int check_memory(void)
{
    struct message message;
    CHECK(message_allocate(&message, 65507) == 0);
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        CHECK((uintptr_t)message.field[i].iov_base % 4096 == 0);
    }
    message_free(&message);
    CHECK(message_memory_bytes(65536) == 65536);
    CHECK(message_memory_bytes(1) == MESSAGE_FIELDS * 32U);
    CHECK(message_memory_bytes(MESSAGE_FIELDS * 100U) == MESSAGE_FIELDS * 112U);
    return EXIT_SUCCESS;
}

/* Messages of a ring lie behind one another, in as many bytes as are said, and no two share one. */
static int check_places(void)
{
    const size_t sizes[] = {1, 100, 2048, 32767, 32768, 65507};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct ring ring;
        CHECK(ring_allocate(&ring, sizes[i], (size_t)1 << 20, 1) == 0);
        CHECK(ring.n_slots > 4);
        const char *end = ring.memory;
        for (uint32_t slot = 0; slot < ring.n_slots; slot++) {
            size_t n_bytes = 0;
            for (size_t field = 0; field < MESSAGE_FIELDS; field++) {
                const struct iovec *at = &ring.slots[slot].message.field[field];
                CHECK((const char *)at->iov_base >= end);
                CHECK((uintptr_t)at->iov_base % (at->iov_len >= 4096 ? 4096 : 16) == 0);
                end = (const char *)at->iov_base + at->iov_len;
                n_bytes += at->iov_len;
            }
            CHECK(n_bytes == sizes[i]);
        }
        CHECK(end <= ring.memory + ring.n_slots * ring.span_bytes);
        CHECK((size_t)(end - ring.memory) > (ring.n_slots - 1) * ring.span_bytes);
        ring_free(&ring);
    }
    return EXIT_SUCCESS;
}

int main(void)
{
    int code = check_hot() | check_cold() | check_memory() | check_places();
    for (size_t msg_bytes = 1; msg_bytes <= MAX_SMALL_BYTES; msg_bytes++) {
        code |= check_size(msg_bytes);
    }
    return code;
}
