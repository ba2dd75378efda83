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
 *
 * A field of a page or more begins where a page begins. A packet refers to at most 17 pieces of
 * pages (MAX_SKB_FRAGS, linux/skbuff.h), and the largest datagram has 8 fields of two pages: were
 * they to begin anywhere, they would lie on three pages each, and MSG_ZEROCOPY over UDP would be
 * refused (EMSGSIZE) from some 50 KiB on.
 *
 * Returns 0 or -ENOMEM; message_free is right in both cases.
 */
int message_allocate(struct message *message, size_t msg_bytes);

void message_free(struct message *message);

/*
 * The same in memory that is there already: fields as far apart as malloc would put them, those of
 * a page or more at pages. `memory` has message_span_bytes, begins at a page and is not given to
 * message_free; so may the next message behind it.
 */
void message_place(struct message *message, size_t msg_bytes, char *memory);

/* What message_place takes [bytes], whole pages where a field begins at a page. */
size_t message_span_bytes(size_t msg_bytes);

/* Copies the fields to where `to` points, one after the other. */
void message_gather(const struct message *message, char *to);

/*
 * The memory that a message takes to the caches [bytes]: itself, and for fields smaller than a page
 * what malloc puts around them. Memory that is reserved may be up to twice that, since what lies
 * between two fields that begin at pages is lost.
 */
size_t message_memory_bytes(size_t msg_bytes);

/*
 * Skips the first n bytes of an array of iovecs, after a short write, and returns how many iovecs
 * are used up; the next one is shortened in place.
 */
size_t iovec_skip(struct iovec *iov, size_t n_iov, size_t n_bytes);

#endif
