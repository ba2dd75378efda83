/*
 * Pages that are sent by reference and never written to again.
 *
 * splice(2) and sendfile(2) give the page itself to a socket. It stays in the socket's queue until
 * the peer's kernel has acknowledged it (SIOCOUTQ, tcp(7), counts down to that). If the peer is on
 * the same host (loopback, veth), the very same page then waits in the peer's receive queue until
 * it is read, and nothing tells the sender when that was. So a message that changes must not
 * overwrite the last one. Instead, each goes to new pages, which are given up once they are sent:
 * the kernel keeps them as long as anything refers to them, and the next write to the same address
 * gets another page, of zeros.
 */
#ifndef COPYCOST_PAGES_H
#define COPYCOST_PAGES_H

#include <stddef.h>

#include "strategy.h"

struct pages {
    char *memory;
    size_t n_bytes; /* whole pages */
};

/* Maps memory for one message. Returns 0 or -errno; call pages_free in both cases. */
int pages_allocate(struct pages *pages, struct stream *stream);

void pages_free(struct pages *pages);

/* Gives up the pages, so that the next write gets new ones. One system call. 0 or -errno. */
int pages_give_up(const struct pages *pages, struct stream *stream);

#endif
