#include "connections/socket_facts.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "compat.h"
#include "connections/socket_option.h"

/* An option whose value is an int, and where to put it. */
struct reading {
    struct socket_option option;
    int *value;
};

static int read_all(int fd, const struct reading *readings, size_t n, struct failure *failure)
{
    int error = 0;
    for (size_t i = 0; error == 0 && i < n; i++) {
        error = socket_option_get(fd, readings[i].option, readings[i].value,
                                  sizeof(*readings[i].value), failure);
    }
    return error;
}

static int read_stream_facts(int fd, struct socket_facts *facts, struct failure *failure)
{
    int nodelay = 0;
    const struct reading readings[] = {
        {SOCKET_OPTION(IPPROTO_TCP, TCP_NODELAY), &nodelay},
        {SOCKET_OPTION(IPPROTO_TCP, TCP_MAXSEG), &facts->mss_bytes},
    };
    int error = read_all(fd, readings, sizeof(readings) / sizeof(readings[0]), failure);
    if (error == 0) {
        error = socket_option_get(fd, SOCKET_OPTION(IPPROTO_TCP, TCP_CONGESTION), facts->congestion,
                                  sizeof(facts->congestion), failure);
    }
    facts->congestion[sizeof(facts->congestion) - 1] = '\0';
    facts->nodelay = nodelay != 0;
    return error;
}

int socket_facts_read(int fd, struct socket_facts *facts, struct failure *failure)
{
    int type = 0;
    int zero_copy = 0;
    socklen_t zero_copy_bytes = sizeof(zero_copy);
    *facts = (struct socket_facts){0};
    const struct reading readings[] = {
        {SOCKET_OPTION(SOL_SOCKET, SO_TYPE), &type},
        {SOCKET_OPTION(SOL_SOCKET, SO_SNDBUF), &facts->send_buffer_bytes},
        {SOCKET_OPTION(SOL_SOCKET, SO_RCVBUF), &facts->receive_buffer_bytes},
        {SOCKET_OPTION(SOL_SOCKET, SO_RCVLOWAT), &facts->receive_lowat_bytes},
    };
    const int error = read_all(fd, readings, sizeof(readings) / sizeof(readings[0]), failure);
    if (error != 0) {
        return error;
    }
    /* Kernels before 4.14 do not have this option, so it is off. */
    if (getsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &zero_copy, &zero_copy_bytes) != 0) {
        zero_copy = 0;
    }
    facts->zero_copy = zero_copy != 0;
    facts->is_stream = type == SOCK_STREAM;
    return facts->is_stream ? read_stream_facts(fd, facts, failure) : 0;
}

int socket_facts_read_retransmits(int fd, uint64_t *n_segments, struct failure *failure)
{
    struct tcp_info info = {0};
    const int error =
        socket_option_get(fd, SOCKET_OPTION(IPPROTO_TCP, TCP_INFO), &info, sizeof(info), failure);
    *n_segments = info.tcpi_total_retrans;
    return error;
}
