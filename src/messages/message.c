#include "messages/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Any byte but 0; the contents matter only under --verify, which writes its own. */
#define FILLER 0x5a

/* glibc's malloc puts 8 bytes before each piece, rounds up to 16 and gives no less than 32. */
#define HEAP_HEADER_BYTES 8U
#define HEAP_STEP_BYTES 16U
#define HEAP_MIN_BYTES 32U

static size_t field_bytes_of(size_t msg_bytes, size_t field)
{
    const size_t share_bytes = msg_bytes / MESSAGE_FIELDS;
    return field + 1 == MESSAGE_FIELDS ? share_bytes + msg_bytes % MESSAGE_FIELDS : share_bytes;
}

int message_allocate(struct message *message, size_t msg_bytes)
{
    *message = (struct message){0};
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        const size_t field_bytes = field_bytes_of(msg_bytes, i);
        /* malloc(0) may return NULL, which would look like a failure. */
        void *memory = field_bytes >= memory_page_bytes()
                           ? memory_allocate_aligned(field_bytes)
                           : malloc(field_bytes > 0 ? field_bytes : 1);
        if (memory == NULL) {
            return -ENOMEM;
        }
        memset(memory, FILLER, field_bytes);
        message->field[i] = (struct iovec){.iov_base = memory, .iov_len = field_bytes};
    }
    return 0;
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
        const size_t steps =
            (field_bytes + HEAP_HEADER_BYTES + HEAP_STEP_BYTES - 1) / HEAP_STEP_BYTES;
        const size_t heap_bytes =
            steps * HEAP_STEP_BYTES < HEAP_MIN_BYTES ? HEAP_MIN_BYTES : steps * HEAP_STEP_BYTES;
        memory_bytes += field_bytes >= memory_page_bytes() ? field_bytes : heap_bytes;
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
