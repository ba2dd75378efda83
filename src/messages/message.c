#include "messages/message.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Any byte but 0; the contents matter only under --verify, which writes its own. */
#define FILLER 0x5a

/* glibc's malloc puts 8 bytes before each chunk, rounds up to 16 and allocates at least 32. */
#define HEAP_HEADER_BYTES 8U
#define HEAP_STEP_BYTES 16U
#define HEAP_MIN_BYTES 32U

static size_t field_bytes_of(size_t msg_bytes, size_t field)
{
    const size_t share_bytes = msg_bytes / MESSAGE_FIELDS;
    return field + 1 == MESSAGE_FIELDS ? share_bytes + msg_bytes % MESSAGE_FIELDS : share_bytes;
}

static bool begins_at_page(size_t field_bytes)
{
    return field_bytes >= memory_page_bytes();
}

/* The heap space that a field smaller than a page takes. */
static size_t heap_bytes_of(size_t field_bytes)
{
    const size_t steps = (field_bytes + HEAP_HEADER_BYTES + HEAP_STEP_BYTES - 1) / HEAP_STEP_BYTES;
    const size_t heap_bytes = steps * HEAP_STEP_BYTES;
    return heap_bytes < HEAP_MIN_BYTES ? HEAP_MIN_BYTES : heap_bytes;
}

static void set_field(struct message *message, size_t field, void *memory, size_t field_bytes)
{
    memset(memory, FILLER, field_bytes);
    message->field[field] = (struct iovec){.iov_base = memory, .iov_len = field_bytes};
}

int message_allocate(struct message *message, size_t msg_bytes)
{
    *message = (struct message){0};
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        const size_t field_bytes = field_bytes_of(msg_bytes, i);
        /* malloc(0) may return NULL, which would look like a failure. */
        void *memory = begins_at_page(field_bytes) ? memory_allocate_aligned(field_bytes)
                                                   : malloc(field_bytes > 0 ? field_bytes : 1);
        if (memory == NULL) {
            return -ENOMEM;
        }
        set_field(message, i, memory, field_bytes);
    }
    return 0;
}

/* Where a field begins after `offset` bytes of others. */
static size_t place_of(size_t offset, size_t field_bytes)
{
    return begins_at_page(field_bytes) ? memory_whole_pages(offset) : offset;
}

static size_t span_of(size_t field_bytes)
{
    return begins_at_page(field_bytes) ? memory_whole_pages(field_bytes)
                                       : heap_bytes_of(field_bytes);
}

void message_place(struct message *message, size_t msg_bytes, char *memory)
{
    size_t offset = 0;
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        const size_t field_bytes = field_bytes_of(msg_bytes, i);
        offset = place_of(offset, field_bytes);
        set_field(message, i, memory + offset, field_bytes);
        offset += span_of(field_bytes);
    }
}

size_t message_span_bytes(size_t msg_bytes)
{
    size_t offset = 0;
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        const size_t field_bytes = field_bytes_of(msg_bytes, i);
        offset = place_of(offset, field_bytes) + span_of(field_bytes);
    }
    return offset;
}

void message_gather(const struct message *message, char *to)
{
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        const struct iovec *field = &message->field[i];
        memcpy(to, field->iov_base, field->iov_len);
        to += field->iov_len;
    }
}

size_t message_memory_bytes(size_t msg_bytes)
{
    size_t memory_bytes = 0;
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        const size_t field_bytes = field_bytes_of(msg_bytes, i);
        memory_bytes += begins_at_page(field_bytes) ? field_bytes : heap_bytes_of(field_bytes);
    }
    return memory_bytes;
}

void message_free(struct message *message)
{
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        free(message->field[i].iov_base);
    }
    *message = (struct message){0};
}

size_t iovec_skip(struct iovec *iov, size_t n_iov, size_t n_bytes)
{
    size_t used = 0;
    while (used < n_iov && n_bytes >= iov[used].iov_len) {
        n_bytes -= iov[used].iov_len;
        used++;
    }
    if (used < n_iov) {
        iov[used].iov_base = (char *)iov[used].iov_base + n_bytes;
        iov[used].iov_len -= n_bytes;
    }
    return used;
}
