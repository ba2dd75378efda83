/* Every size has 8 fields that add up; iovec_skip gives the same bytes as an offset does. */
#include "messages/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES 100

static size_t gather(const struct iovec *iov, size_t n_iov, unsigned char *to)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i < n_iov; i++) {
        memcpy(to + n_bytes, iov[i].iov_base, iov[i].iov_len);
        n_bytes += iov[i].iov_len;
    }
    return n_bytes;
}

static int check_size(size_t msg_bytes)
{
    unsigned char whole[MAX_BYTES];
    unsigned char rest[MAX_BYTES];
    struct message message;
    if (message_allocate(&message, msg_bytes) != 0) {
        return -1;
    }
    for (size_t i = 0; i < MESSAGE_FIELDS; i++) {
        memset(message.field[i].iov_base, (int)i, message.field[i].iov_len);
    }
    if (gather(message.field, MESSAGE_FIELDS, whole) != msg_bytes) {
        return -1;
    }
    for (size_t skip = 0; skip <= msg_bytes; skip++) {
        struct iovec iov[MESSAGE_FIELDS];
        memcpy(iov, message.field, sizeof(iov));
        const size_t used = iovec_skip(iov, MESSAGE_FIELDS, skip);
        if (gather(iov + used, MESSAGE_FIELDS - used, rest) != msg_bytes - skip ||
            memcmp(rest, whole + skip, msg_bytes - skip) != 0) {
            return -1;
        }
    }
    message_free(&message);
    return 0;
}

int main(void)
{
    for (size_t msg_bytes = 1; msg_bytes <= MAX_BYTES; msg_bytes++) {
        if (check_size(msg_bytes) != 0) {
            printf("wrong for %zu bytes\n", msg_bytes);
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}
