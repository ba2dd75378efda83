#include "net.h"

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
#include "compat.h"

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
    return fail(failure, EINVAL, "net: '%s' is no numeric address", address);
}

static int set_int(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value)) == 0 ? 0 : -errno;
}

/* Takes the first congestion control of the list that this kernel lets us use. */
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
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) != 0) {
        return fail(failure, errno, "net: setsockopt(SO_SNDTIMEO) on fd %d", fd);
    }
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) != 0) {
        return fail(failure, errno, "net: setsockopt(SO_RCVTIMEO) on fd %d", fd);
    }
    return 0;
}

int net_configure(int fd, const struct options *options, struct failure *failure)
{
    const bool is_stream = options->transport == TRANSPORT_STREAM;
    const struct {
        const char *name;
        int level;
        int option;
        int value;
        bool wanted;
    } settings[] = {
        {"TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY, options->nodelay == NODELAY_ON ? 1 : 0,
         is_stream && options->nodelay != NODELAY_KERNEL},
        {"SO_SNDBUF", SOL_SOCKET, SO_SNDBUF, (int)options->sndbuf_bytes, options->sndbuf_bytes > 0},
        {"SO_RCVBUF", SOL_SOCKET, SO_RCVBUF, (int)options->rcvbuf_bytes, options->rcvbuf_bytes > 0},
        {"SO_RCVLOWAT", SOL_SOCKET, SO_RCVLOWAT, (int)options->receive_lowat_bytes,
         options->receive_lowat_bytes > 0},
    };
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const int error = settings[i].wanted ? set_int(fd, settings[i].level, settings[i].option,
                                                       settings[i].value)
                                             : 0;
        if (error != 0) {
            return fail(failure, -error, "net: setsockopt(%s) on fd %d", settings[i].name, fd);
        }
    }
    if (is_stream && options->congestion != NULL) {
        const int error = set_congestion(fd, options->congestion, failure);
        if (error != 0) {
            return error;
        }
    }
    return set_timeouts(fd, options->io_timeout_ms, failure);
}

int net_set_blocking(int fd, bool blocking, struct failure *failure)
{
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK) != 0) {
        return fail(failure, errno, "net: fcntl(O_NONBLOCK) on fd %d", fd);
    }
    return 0;
}

/* Closes a socket that an error has made useless; the error at hand is the one to tell. */
static int close_after(int fd, int error)
{
    (void)close(fd);
    return error;
}

int net_open_datagram(int family, const struct options *options, struct failure *failure)
{
    const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return fail(failure, errno, "net: socket");
    }
    const int error = set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (error != 0) {
        return close_after(fd, fail(failure, -error, "net: setsockopt(SO_REUSEADDR) on fd %d", fd));
    }
    const int configure_error = net_configure(fd, options, failure);
    return configure_error == 0 ? fd : close_after(fd, configure_error);
}

static int open_stream(int family, const struct options *options, struct failure *failure)
{
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return fail(failure, errno, "net: socket");
    }
    /* Buffer sizes must be set before the handshake, which fixes the window scale (tcp(7)). */
    const int error = net_configure(fd, options, failure);
    return error == 0 ? fd : close_after(fd, error);
}

static int open_socket(const struct endpoint *endpoint, const struct options *options,
                       struct failure *failure)
{
    const int family = endpoint->address.ss_family;
    return options->transport == TRANSPORT_STREAM ? open_stream(family, options, failure)
                                                  : net_open_datagram(family, options, failure);
}

int net_listen(const struct options *options, uint16_t *port, struct failure *failure)
{
    struct endpoint endpoint;
    const int error = parse_endpoint(options->bind_address, options->port, &endpoint, failure);
    if (error != 0) {
        return error;
    }
    const int fd = open_socket(&endpoint, options, failure);
    if (fd < 0) {
        return fd;
    }
    if (bind(fd, (const struct sockaddr *)&endpoint.address, endpoint.address_bytes) != 0) {
        return close_after(fd, fail(failure, errno, "net: bind to %s port %zu",
                                    options->bind_address, options->port));
    }
    if (options->transport == TRANSPORT_STREAM && listen(fd, SOMAXCONN) != 0) {
        return close_after(fd, fail(failure, errno, "net: listen on %s port %zu",
                                    options->bind_address, options->port));
    }
    if (getsockname(fd, (struct sockaddr *)&endpoint.address, &endpoint.address_bytes) != 0) {
        return close_after(fd, fail(failure, errno, "net: getsockname on fd %d", fd));
    }
    struct sockaddr_in bound;
    memcpy(&bound, &endpoint.address, sizeof(bound));
    *port = ntohs(bound.sin_port); /* at the same place in sockaddr_in6 */
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
    int error = 0;
    socklen_t error_bytes = sizeof(error);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_bytes) != 0) {
        return fail(failure, errno, "net: getsockopt(SO_ERROR) on fd %d", fd);
    }
    if (error != 0) {
        return fail(failure, error, "net: connect to %s port %zu", options->connect_address,
                    options->port);
    }
    return 0;
}

int net_connect(const struct options *options, struct control *control, struct failure *failure)
{
    struct endpoint endpoint;
    int error = parse_endpoint(options->connect_address, options->port, &endpoint, failure);
    if (error != 0) {
        return error;
    }
    const int fd = open_socket(&endpoint, options, failure);
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

static int get_int(int fd, int level, int name, int *value)
{
    socklen_t value_bytes = sizeof(*value);
    return getsockopt(fd, level, name, value, &value_bytes) == 0 ? 0 : -errno;
}

static int read_stream_facts(int fd, struct socket_facts *facts, struct failure *failure)
{
    int nodelay = 0;
    int error = get_int(fd, IPPROTO_TCP, TCP_NODELAY, &nodelay);
    if (error != 0) {
        return fail(failure, -error, "net: getsockopt(TCP_NODELAY) on fd %d", fd);
    }
    error = get_int(fd, IPPROTO_TCP, TCP_MAXSEG, &facts->mss_bytes);
    if (error != 0) {
        return fail(failure, -error, "net: getsockopt(TCP_MAXSEG) on fd %d", fd);
    }
    socklen_t name_bytes = sizeof(facts->congestion);
    if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, facts->congestion, &name_bytes) != 0) {
        return fail(failure, errno, "net: getsockopt(TCP_CONGESTION) on fd %d", fd);
    }
    facts->congestion[sizeof(facts->congestion) - 1] = '\0';
    facts->nodelay = nodelay != 0;
    return 0;
}

int net_read_facts(int fd, struct socket_facts *facts, struct failure *failure)
{
    int type = 0;
    int zero_copy = 0;
    *facts = (struct socket_facts){0};
    const struct {
        const char *name;
        int option;
        int *value;
    } readings[] = {
        {"SO_TYPE", SO_TYPE, &type},
        {"SO_SNDBUF", SO_SNDBUF, &facts->send_buffer_bytes},
        {"SO_RCVBUF", SO_RCVBUF, &facts->receive_buffer_bytes},
        {"SO_RCVLOWAT", SO_RCVLOWAT, &facts->receive_lowat_bytes},
    };
    for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
        const int error = get_int(fd, SOL_SOCKET, readings[i].option, readings[i].value);
        if (error != 0) {
            return fail(failure, -error, "net: getsockopt(%s) on fd %d", readings[i].name, fd);
        }
    }
    /* Kernels before 4.14 do not know this option, and then do not have it on. */
    if (get_int(fd, SOL_SOCKET, SO_ZEROCOPY, &zero_copy) != 0) {
        zero_copy = 0;
    }
    facts->zero_copy = zero_copy != 0;
    facts->is_stream = type == SOCK_STREAM;
    return facts->is_stream ? read_stream_facts(fd, facts, failure) : 0;
}

int net_read_retransmits(int fd, uint64_t *n_segments, struct failure *failure)
{
    struct tcp_info info = {0};
    socklen_t info_bytes = sizeof(info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &info_bytes) != 0) {
        return fail(failure, errno, "net: getsockopt(TCP_INFO) on fd %d", fd);
    }
    *n_segments = info.tcpi_total_retrans;
    return 0;
}
