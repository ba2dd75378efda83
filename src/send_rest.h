/* What follows a short write, for every strategy that hands over iovecs: the rest of the message.
 */
#ifndef COPYCOST_SEND_REST_H
#define COPYCOST_SEND_REST_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "strategy.h"

/* Sends iovecs by one system call and counts. Returns the bytes taken, 0 after a signal, or -errno.
 */
typedef ssize_t send_iovecs(struct stream *stream, struct iovec *iov, size_t n_iov);

/* Sends what is left of a message of which sent_bytes are sent, in as many calls as it takes, and
 * counts short writes. Returns 0 or -errno. */
int send_rest(struct stream *stream, const struct message *message, size_t sent_bytes,
              send_iovecs *send_once);

#endif
