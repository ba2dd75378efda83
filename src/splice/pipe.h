/* Sends messages through a pipe into a socket, for the strategies that splice. */
#ifndef COPYCOST_SPLICE_PIPE_H
#define COPYCOST_SPLICE_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "splice/pages.h"
#include "strategy.h"

struct splice_pipe {
    unsigned int map_flags; /* of vmsplice: 0 or SPLICE_F_GIFT */
    struct pages pages;     /* for splice_pipe_send_new_pages */
    int read_fd;
    int write_fd;
};

/*
 * Opens a pipe that holds a message of this size, or as much as this user's pipes may hold
 * (fs.pipe-max-size); new_pages: messages are sent by splice_pipe_send_new_pages. Returns 0 or
 * -errno; call splice_pipe_close in both cases.
 */
int splice_pipe_open(struct splice_pipe *pipe, struct stream *stream, bool new_pages);

void splice_pipe_close(struct splice_pipe *pipe);

/*
 * Sends memory: vmsplice(2) puts its pages into the pipe, splice(2) moves them on to the socket, in
 * as many rounds as the pipe's size requires. The iovecs are consumed. Returns 0 or -errno.
 */
int splice_pipe_send(const struct splice_pipe *pipe, struct stream *stream, struct iovec *iov,
                     size_t n_iov);

/* Copies a message to new pages, sends these, and gives them up. Returns 0 or -errno. */
int splice_pipe_send_new_pages(const struct splice_pipe *pipe, struct stream *stream,
                               const struct message *message);

#endif
