/* Shared by strategies around the system call that sends: judge its result, and send the rest of a
 * message after a short write. */
#ifndef COPYCOST_SEND_MESSAGE_H
#define COPYCOST_SEND_MESSAGE_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "strategy.h"

/*
 * After a failed call, with errno as it left it: returns 0 if a signal interrupted it and it must
 * be repeated, else -errno, described. `call` is its name.
 */
int send_error(struct stream *stream, const char *call);

/*
 * Counts a call that sends, and the bytes it took; `n` is what it returned. Returns the bytes taken
 * (0 after a signal), or -errno.
 */
static inline ssize_t count_sent(struct stream *stream, ssize_t n, const char *call)
{
    count(stream->counters, COUNT_DATA_CALLS, 1);
    if (n < 0) {
        return send_error(stream, call);
    }
    count(stream->counters, COUNT_BYTES, (uint64_t)n);
    return n;
}

/* Sends iovecs with one system call and counts it. Returns the bytes taken, 0 to try again, or
 * -errno. */
typedef ssize_t send_iovecs(struct stream *stream, struct iovec *iov, size_t n_iov);

/* Sends the rest of a message after sent_bytes, in as many calls as it takes, and counts short
 * writes. Returns 0 or -errno. */
int send_rest(struct stream *stream, const struct message *message, size_t sent_bytes,
              send_iovecs *send_once);

/*
 * Sends a whole message: its own iovecs by one call, which is normally enough, and the rest, if
 * any, by send_rest. Returns 0 or -errno.
 */
static inline int send_whole(struct stream *stream, struct message *message, send_iovecs *send_once)
{
    const ssize_t n = send_once(stream, message->field, MESSAGE_FIELDS);
    if (n < 0) {
        return (int)n;
    }
    if ((size_t)n == stream->msg_bytes) {
        return 0;
    }
    count(stream->counters, COUNT_SHORT_WRITES, n > 0 ? 1 : 0);
    return send_rest(stream, message, (size_t)n, send_once);
}

#endif
