/* A message as an application has it: 8 fields, each allocated on its own. */
#ifndef COPYCOST_MESSAGE_H
#define COPYCOST_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define MESSAGE_FIELDS 8

struct message {
    struct iovec field[MESSAGE_FIELDS]; /* in sending order; fields of 0 bytes are possible */
};

/*
 * Allocates the fields, size / 8 bytes each, the last one takes the rest, and writes to every page:
 * memory never written to is one shared page of zeros, and sending that measures something else.
 * Returns 0 or -ENOMEM; message_free is right in both cases.
 */
int message_allocate(struct message *message, size_t msg_bytes);

void message_free(struct message *message);

/*
 * Skips the first n bytes of an array of iovecs, after a short write, and returns how many iovecs
 * are used up; the next one is shortened in place.
 */
size_t iovec_skip(struct iovec *iov, size_t n_iov, size_t n_bytes);

#endif
