#include "connections/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "clock.h"
#include "connections/socket_option.h"

/* A numeric address with its port. */
struct endpoint {
    struct sockaddr_storage address;
    socklen_t address_bytes;
};

static int parse_endpoint(const char *address, size_t port, struct endpoint *endpoint,
                          struct failure *failure)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    *endpoint = (struct endpoint){0};
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1) {
        memcpy(&endpoint->address, &v4, sizeof(v4));
        endpoint->address_bytes = sizeof(v4);
        return 0;
    }
    if (inet_pton(AF_INET6, address, &v6.sin6_addr) == 1) {
        memcpy(&endpoint->address, &v6, sizeof(v6));
        endpoint->address_bytes = sizeof(v6);
        return 0;
    }
    return fail(failure, EINVAL, "net: '%s' is not a numeric address", address);
}

/* Takes the first congestion control of the list that this kernel allows. */
static int set_congestion(int fd, const char *names, struct failure *failure)
{
    const char *name = names;
    int error = -ENOENT;
    while (name != NULL && *name != '\0') {
        const size_t length = strcspn(name, ",");
        if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)length) == 0) {
            return 0;
        }
        error = -errno;
        name = name[length] == ',' ? name + length + 1 : NULL;
    }
    return fail(failure, -error, "net: setsockopt(TCP_CONGESTION) of each of '%s'", names);
}

static int set_timeouts(int fd, size_t timeout_ms, struct failure *failure)
{
    const struct timeval timeout = {
        .tv_sec = (time_t)(timeout_ms / 1000),
        .tv_usec = (suseconds_t)(timeout_ms % 1000 * 1000),
    };
    const int error = socket_option_set(fd, SOCKET_OPTION(SOL_SOCKET, SO_SNDTIMEO), &timeout,
                                        sizeof(timeout), failure);
    return error != 0 ? error
                      : socket_option_set(fd, SOCKET_OPTION(SOL_SOCKET, SO_RCVTIMEO), &timeout,
                                          sizeof(timeout), failure);
}

int net_configure(int fd, const struct options *options, struct failure *failure)
{
    const bool is_stream = options->transport == TRANSPORT_STREAM;
    const struct {
        bool wanted;
        struct socket_option option;
        size_t value;
    } settings[] = {
        {is_stream && options->nodelay != NODELAY_KERNEL, SOCKET_OPTION(IPPROTO_TCP, TCP_NODELAY),
         options->nodelay == NODELAY_ON ? 1 : 0},
        {options->sndbuf_bytes > 0, SOCKET_OPTION(SOL_SOCKET, SO_SNDBUF), options->sndbuf_bytes},
        {options->rcvbuf_bytes > 0, SOCKET_OPTION(SOL_SOCKET, SO_RCVBUF), options->rcvbuf_bytes},
        {options->receive_lowat_bytes > 0, SOCKET_OPTION(SOL_SOCKET, SO_RCVLOWAT),
         options->receive_lowat_bytes},
    };
    int error = 0;
    for (size_t i = 0; error == 0 && i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (settings[i].wanted) {
            error = socket_option_set_int(fd, settings[i].option, (int)settings[i].value, failure);
        }
    }
    if (error == 0 && is_stream && options->congestion != NULL) {
        error = set_congestion(fd, options->congestion, failure);
    }
    return error != 0 ? error : set_timeouts(fd, options->io_timeout_ms, failure);
}

int net_set_blocking(int fd, bool blocking, struct failure *failure)
{
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK) != 0) {
        return fail(failure, errno, "net: fcntl(O_NONBLOCK) on fd %d", fd);
    }
    return 0;
}

/* Closes a socket after an error, which is the one to report. */
static int close_after(int fd, int error)
{
    (void)close(fd);
    return error;
}

int net_open(int family, const struct options *options, struct failure *failure)
{
    const int type =
        options->transport == TRANSPORT_STREAM ? SOCK_STREAM | SOCK_NONBLOCK : SOCK_DGRAM;
    const int fd = socket(family, type | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return fail(failure, errno, "net: socket");
    }
    /* Buffer sizes must be set before the handshake, which fixes the window scale (tcp(7)). */
    const int error = net_configure(fd, options, failure);
    return error == 0 ? fd : close_after(fd, error);
}

int net_share_address(int fd, struct failure *failure)
{
    return socket_option_set_int(fd, SOCKET_OPTION(SOL_SOCKET, SO_REUSEADDR), 1, failure);
}

static void set_port(struct endpoint *endpoint, size_t port)
{
    struct sockaddr_in v4; /* sockaddr_in6 has the port at the same offset */
    memcpy(&v4, &endpoint->address, sizeof(v4));
    v4.sin_port = htons((uint16_t)port);
    memcpy(&endpoint->address, &v4, sizeof(v4));
}

/* Binds a socket to the first port from options->port on that is free. */
static int take_port(int fd, const struct options *options, struct endpoint *endpoint,
                     struct failure *failure)
{
    size_t port = options->port;
    for (;; port++) {
        set_port(endpoint, port);
        const struct sockaddr *address = (const struct sockaddr *)&endpoint->address;
        if (bind(fd, address, endpoint->address_bytes) == 0) {
            return 0;
        }
        if (errno != EADDRINUSE || port >= options->last_port) {
            break;
        }
    }
    return fail(failure, errno, "net: bind to %s port %zu", options->bind_address, port);
}

/* Binds a socket, makes it listen, and reads back its address. */
static int bind_and_listen(int fd, const struct options *options, struct endpoint *endpoint,
                           struct failure *failure)
{
    const bool is_stream = options->transport == TRANSPORT_STREAM;
    /* A port of a range can be reused while connections of the last measurement linger. */
    int error = is_stream && options->port != 0 ? net_share_address(fd, failure) : 0;
    if (error == 0) {
        error = take_port(fd, options, endpoint, failure);
    }
    if (error == 0 && is_stream && listen(fd, SOMAXCONN) != 0) {
        error = fail(failure, errno, "net: listen on %s", options->bind_address);
    }
    /* Over UDP only now, so that nobody else has the port. */
    if (error == 0 && !is_stream) {
        error = net_share_address(fd, failure);
    }
    if (error != 0) {
        return error;
    }
    return getsockname(fd, (struct sockaddr *)&endpoint->address, &endpoint->address_bytes) == 0
               ? 0
               : fail(failure, errno, "net: getsockname on fd %d", fd);
}

int net_listen(const struct options *options, uint16_t *port, struct failure *failure)
{
    struct endpoint endpoint;
    struct sockaddr_in bound;
    int error = parse_endpoint(options->bind_address, options->port, &endpoint, failure);
    if (error != 0) {
        return error;
    }
    const int fd = net_open(endpoint.address.ss_family, options, failure);
    if (fd < 0) {
        return fd;
    }
    error = bind_and_listen(fd, options, &endpoint, failure);
    if (error != 0) {
        return close_after(fd, error);
    }
    memcpy(&bound, &endpoint.address, sizeof(bound));
    *port = ntohs(bound.sin_port); /* at the same offset in sockaddr_in6 */
    return fd;
}

/* Waits for a connection attempt to end. Returns 0 or -errno. */
static int await_connection(int fd, const struct options *options, struct control *control,
                            struct failure *failure)
{
    const uint64_t deadline_ns = clock_now_ns() + options->io_timeout_ms * NS_PER_MS;
    struct pollfd poll_fds[2] = {{0}, {.fd = fd, .events = POLLOUT}};
    while (poll_fds[1].revents == 0) {
        if (clock_now_ns() >= deadline_ns) {
            return fail(failure, ETIMEDOUT, "net: connect to %s port %zu", options->connect_address,
                        options->port);
        }
        const int n_ready = control_wait(control, poll_fds, 2, deadline_ns, failure);
        if (n_ready < 0) {
            return n_ready;
        }
    }
    int reason = 0;
    const int error = socket_option_get(fd, SOCKET_OPTION(SOL_SOCKET, SO_ERROR), &reason,
                                        sizeof(reason), failure);
    if (error != 0 || reason == 0) {
        return error;
    }
    return fail(failure, reason, "net: connect to %s port %zu", options->connect_address,
                options->port);
}

int net_connect(const struct options *options, struct control *control, struct failure *failure)
{
    struct endpoint endpoint;
    int error = parse_endpoint(options->connect_address, options->port, &endpoint, failure);
    if (error != 0) {
        return error;
    }
    const int fd = net_open(endpoint.address.ss_family, options, failure);
    if (fd < 0) {
        return fd;
    }
    if (connect(fd, (const struct sockaddr *)&endpoint.address, endpoint.address_bytes) != 0) {
        if (errno != EINPROGRESS) {
            return close_after(fd, fail(failure, errno, "net: connect to %s port %zu",
                                        options->connect_address, options->port));
        }
        error = await_connection(fd, options, control, failure);
    }
    if (error == 0) {
        error = net_set_blocking(fd, true, failure);
    }
    return error == 0 ? fd : close_after(fd, error);
}
