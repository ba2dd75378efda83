/* Every size has 8 fields that add up; iovec_skip gives the same bytes as an offset does. */
#include "messages/message.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

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

int main(void)
{
    int code = EXIT_SUCCESS;
    for (size_t msg_bytes = 1; msg_bytes <= MAX_BYTES; msg_bytes++) {
        code |= check_size(msg_bytes);
    }
    return code;
}
