/* The way of a message through a pipe into a socket, for the strategies that splice. */
#ifndef COPYCOST_SPLICE_PIPE_H
#define COPYCOST_SPLICE_PIPE_H

#include <stddef.h>
#include <sys/uio.h>

#include "strategy.h"

struct splice_pipe {
    unsigned int map_flags; /* for vmsplice, SPLICE_F_GIFT for one */
    int read_fd;
    int write_fd;
};

/*
 * Makes a pipe that holds a message of this size, or as much as this user's pipes may (fs.pipe-
 * max-size). Returns 0 or -errno; splice_pipe_close is right in both cases.
 */
int splice_pipe_open(struct splice_pipe *pipe, struct stream *stream);

void splice_pipe_close(struct splice_pipe *pipe);

/*
 * Sends memory: vmsplice(2) puts its pages into the pipe, splice(2) moves them on to the socket,
 * in as many rounds as the pipe takes. The iovecs are used up. Returns 0 or -errno.
 */
int splice_pipe_send(const struct splice_pipe *pipe, struct stream *stream, struct iovec *iov,
                     size_t n_iov);

#endif
