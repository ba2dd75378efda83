#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Any byte but 0; the contents matter only under --verify, which writes its own. */
#define FILLER 0x5a

int message_allocate(struct message *message, size_t msg_bytes)
{
    const size_t share_bytes = msg_bytes / MESSAGE_FIELDS;
    *message = (struct message){0};
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        const size_t rest_bytes = i + 1 == MESSAGE_FIELDS ? msg_bytes % MESSAGE_FIELDS : 0;
        const size_t field_bytes = share_bytes + rest_bytes;
        /* malloc(0) may return NULL, which would look like a failure. */
        void *memory = malloc(field_bytes > 0 ? field_bytes : 1);
        if (memory == NULL) {
            return -ENOMEM;
        }
        memset(memory, FILLER, field_bytes);
        message->field[i] = (struct iovec){.iov_base = memory, .iov_len = field_bytes};
    }
    return 0;
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
