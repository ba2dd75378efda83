/* Sends messages through a pipe into a socket, for the strategies that splice. */
#ifndef COPYCOST_SPLICE_PIPE_H
#define COPYCOST_SPLICE_PIPE_H

#include <stddef.h>
#include <sys/uio.h>

#include "strategy.h"

struct splice_pipe {
    unsigned int map_flags; /* of vmsplice: 0 or SPLICE_F_GIFT */
    int read_fd;
    int write_fd;
};

/*
 * Opens a pipe that holds a message of this size, or as much as this user's pipes may hold
 * (fs.pipe-max-size). Returns 0 or -errno; call splice_pipe_close in both cases.
 */
int splice_pipe_open(struct splice_pipe *pipe, struct stream *stream);

void splice_pipe_close(struct splice_pipe *pipe);

/*
 * Sends memory: vmsplice(2) puts its pages into the pipe, splice(2) moves them on to the socket, in
 * as many rounds as the pipe's size requires. The iovecs are consumed. Returns 0 or -errno.
 */
int splice_pipe_send(const struct splice_pipe *pipe, struct stream *stream, struct iovec *iov,
                     size_t n_iov);

#endif
