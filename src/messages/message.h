/* A message as an application has it: 8 fields, each allocated separately. */
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
 * Allocates the fields, size / 8 bytes each and the last one the rest, and writes to every page:
 * memory never written to is one shared page of zeros, and sending that measures something else.
 *
 * A field of a page or more is page-aligned. A packet refers to at most 17 fragments of pages
 * (MAX_SKB_FRAGS, linux/skbuff.h), and the largest datagram has 8 fields of two pages: unaligned,
 * they would lie on three pages each, and MSG_ZEROCOPY over UDP would be refused (EMSGSIZE) from
 * some 50 KiB on.
 *
 * Returns 0 or -ENOMEM; call message_free in both cases.
 */
int message_allocate(struct message *message, size_t msg_bytes);

void message_free(struct message *message);

/*
 * The same in existing memory: fields as far apart as malloc would put them, those of a page or
 * more page-aligned. `memory` has message_span_bytes, is page-aligned and is not given to
 * message_free; the next message may follow it directly.
 */
void message_place(struct message *message, size_t msg_bytes, char *memory);

/* The size that message_place needs [bytes]: whole pages if a field is page-aligned. */
size_t message_span_bytes(size_t msg_bytes);

/* Copies the fields to `to`, one after another. */
void message_gather(const struct message *message, char *to);

/*
 * The memory that a message brings into the caches [bytes]: itself and, for fields smaller than a
 * page, what malloc puts around them. The reserved memory may be up to twice that, because of the
 * gaps between page-aligned fields.
 */
size_t message_memory_bytes(size_t msg_bytes);

/*
 * Skips the first n bytes of an array of iovecs after a short write. Returns how many iovecs are
 * used up; the next one is shortened in place.
 */
size_t iovec_skip(struct iovec *iov, size_t n_iov, size_t n_bytes);

#endif
