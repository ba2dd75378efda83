#include "zero_copy/error_queue.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/errqueue.h>
#include <netinet/in.h>

#include "clock.h"
#include "compat.h"

/* The extended error of a message from the queue, or NULL if it has none. */
static const void *find_extended_error(struct msghdr *header)
{
    const struct cmsghdr *cmsg = CMSG_FIRSTHDR(header);
    const bool is_there = cmsg != NULL && (header->msg_flags & MSG_CTRUNC) == 0 &&
                          ((cmsg->cmsg_level == SOL_IP && cmsg->cmsg_type == IP_RECVERR) ||
                           (cmsg->cmsg_level == SOL_IPV6 && cmsg->cmsg_type == IPV6_RECVERR));
    return is_there ? CMSG_DATA(cmsg) : NULL;
}

int error_queue_read(struct stream *stream, struct completion *completion)
{
    /* One extended error with the address that IP_RECVERR appends (ip(7)); aligned for cmsghdr. */
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in6))];
    } control;
    struct sock_extended_err said;
    struct msghdr header = {.msg_control = &control, .msg_controllen = sizeof(control)};
    const ssize_t n = recvmsg(stream->fd, &header, MSG_ERRQUEUE | MSG_DONTWAIT);
    count(stream->counters, COUNT_ERRQUEUE_CALLS, 1);
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR
                   ? 0
                   : fail(stream->failure, errno, "%s: recvmsg(MSG_ERRQUEUE) on fd %d",
                          the_strategy.name, stream->fd);
    }
    const void *extended_error = find_extended_error(&header);
    if (extended_error == NULL) {
        return fail(stream->failure, 0, "%s: error queue of fd %d: no extended error",
                    the_strategy.name, stream->fd);
    }
    memcpy(&said, extended_error, sizeof(said));
    if (said.ee_origin != SO_EE_ORIGIN_ZEROCOPY || said.ee_errno != 0) {
        return fail(stream->failure, (int)said.ee_errno, "%s: error queue of fd %d: origin %u",
                    the_strategy.name, stream->fd, said.ee_origin);
    }
    *completion = (struct completion){
        .first = said.ee_info,
        .last = said.ee_data,
        .copied = (said.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0,
    };
    return 1;
}

int error_queue_wait(struct stream *stream, uint64_t deadline_ns)
{
    struct pollfd poll_fd = {.fd = stream->fd}; /* POLLERR and POLLHUP are always reported */
    const struct timespec left = clock_left_until(deadline_ns);
    const int n_ready = ppoll(&poll_fd, 1, &left, NULL);
    count(stream->counters, COUNT_POLL_CALLS, 1);
    if (n_ready < 0) {
        return errno == EINTR ? 0
                              : fail(stream->failure, errno, "%s: poll on fd %d", the_strategy.name,
                                     stream->fd);
    }
    return n_ready;
}
