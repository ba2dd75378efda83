#include "splice/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "memory.h"
#include "send_message.h"

/* The largest pipe that an unprivileged user may have by default (fs.pipe-max-size). */
#define MAX_PIPE_BYTES ((size_t)1 << 20)

int splice_pipe_open(struct splice_pipe *pipe, struct stream *stream, bool new_pages)
{
    /* A pipe buffer holds one page; each field may take one page more than its size says. */
    const size_t n_bytes = stream->msg_bytes + MESSAGE_FIELDS * memory_page_bytes();
    int fds[2];
    pipe->read_fd = NO_FD;
    pipe->write_fd = NO_FD;
    if (pipe2(fds, O_CLOEXEC) != 0) {
        return fail(stream->failure, errno, "%s: pipe2", the_strategy.name);
    }
    pipe->read_fd = fds[0];
    pipe->write_fd = fds[1];
    /* Refused (EPERM) to users whose pipes together hold too much, or if fs.pipe-max-size is less:
     * the pipe then keeps its size. */
    const size_t wanted_bytes = n_bytes < MAX_PIPE_BYTES ? n_bytes : MAX_PIPE_BYTES;
    if (fcntl(pipe->write_fd, F_SETPIPE_SZ, (int)wanted_bytes) < 0 && errno != EPERM) {
        return fail(stream->failure, errno, "%s: fcntl(F_SETPIPE_SZ) to %zu bytes",
                    the_strategy.name, wanted_bytes);
    }
    return new_pages ? pages_allocate(&pipe->pages, stream) : 0;
}

void splice_pipe_close(struct splice_pipe *pipe)
{
    /* After an error, data still in the pipe is lost with it: nothing to check. */
    if (pipe->read_fd != NO_FD) {
        (void)close(pipe->read_fd);
        (void)close(pipe->write_fd);
    }
    pipe->read_fd = NO_FD;
    pipe->write_fd = NO_FD;
    pages_free(&pipe->pages);
}

/* Moves the pipe's contents to the socket; `more` says that more of the message follows. */
static int empty_pipe(const struct splice_pipe *pipe, struct stream *stream, size_t n_bytes,
                      bool more)
{
    const unsigned int flags = SPLICE_F_MOVE | (more ? SPLICE_F_MORE : 0U);
    while (n_bytes > 0) {
        const ssize_t n = splice(pipe->read_fd, NULL, stream->fd, NULL, n_bytes, flags);
        const ssize_t n_taken = count_sent(stream, n, "splice");
        if (n_taken < 0) {
            return (int)n_taken;
        }
        if (n == 0) {
            return fail(stream->failure, 0, "%s: splice to fd %d: nothing moved", the_strategy.name,
                        stream->fd);
        }
        count(stream->counters, COUNT_SHORT_WRITES, n > 0 && (size_t)n < n_bytes ? 1 : 0);
        n_bytes -= (size_t)n_taken;
    }
    return 0;
}

int splice_pipe_send(const struct splice_pipe *pipe, struct stream *stream, struct iovec *iov,
                     size_t n_iov)
{
    size_t left_bytes = stream->msg_bytes;
    size_t used = 0;
    while (left_bytes > 0) {
        /* The pipe is empty, so without waiting vmsplice takes what fits. */
        const ssize_t n =
            vmsplice(pipe->write_fd, iov + used, n_iov - used, pipe->map_flags | SPLICE_F_NONBLOCK);
        count(stream->counters, COUNT_OTHER_CALLS, 1);
        int error = n < 0 ? send_error(stream, "vmsplice") : 0;
        if (n > 0) {
            if (stream->transport == TRANSPORT_DATAGRAM && (size_t)n < left_bytes) {
                return fail(stream->failure, EMSGSIZE,
                            "%s: the pipe took %zd of %zu bytes, but a datagram must go whole",
                            the_strategy.name, n, left_bytes);
            }
            left_bytes -= (size_t)n;
            used += iovec_skip(iov + used, n_iov - used, (size_t)n);
            error = empty_pipe(pipe, stream, (size_t)n, left_bytes > 0);
        }
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

int splice_pipe_send_new_pages(const struct splice_pipe *pipe, struct stream *stream,
                               const struct message *message)
{
    struct iovec whole = {.iov_base = pipe->pages.memory, .iov_len = stream->msg_bytes};
    message_gather(message, pipe->pages.memory);
    const int error = splice_pipe_send(pipe, stream, &whole, 1);
    return error != 0 ? error : pages_give_up(&pipe->pages, stream);
}
