#include "connections/datagram.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "connections/net.h"

#define MAGIC_BYTES 8

/* How long a note may remain unanswered before it is repeated. */
#define PATIENCE_NS (20 * NS_PER_MS)

/* A note on the wire, the index in network byte order. */
struct wire_note {
    char magic[MAGIC_BYTES];
    uint32_t which;
    uint32_t index;
    char token[TOKEN_CHARS];
};

_Static_assert(sizeof(struct wire_note) == NOTE_BYTES, "a note has no padding");

static struct wire_note make_note(enum note which, const char *token, size_t index)
{
    struct wire_note wire = {.which = htonl(which), .index = htonl((uint32_t)index)};
    memcpy(wire.magic, "COPYNOTE", MAGIC_BYTES);
    memcpy(wire.token, token, TOKEN_CHARS);
    return wire;
}

bool datagram_is_note(const void *memory, enum note which, const char *token, size_t index)
{
    const struct wire_note expected = make_note(which, token, index);
    return memcmp(memory, &expected, sizeof(expected)) == 0;
}

static int say(int fd, enum note which, const char *token, size_t index, struct failure *failure)
{
    const struct wire_note wire = make_note(which, token, index);
    ssize_t n = 0;
    do {
        n = send(fd, &wire, sizeof(wire), MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n >= 0 ? 0 : fail(failure, errno, "datagram: send on fd %d", fd);
}

int datagram_answer_goodbye(int fd, const char *token, size_t index, struct failure *failure)
{
    return say(fd, NOTE_GOODBYE, token, index, failure);
}

/* Reads what has come. Returns whether the expected note was among it, or -errno. */
static int find_note(int fd, enum note which, const char *token, size_t index,
                     struct failure *failure)
{
    for (;;) {
        char memory[NOTE_BYTES + 1];
        const ssize_t n = recv(fd, memory, sizeof(memory), MSG_DONTWAIT);
        if (n == NOTE_BYTES && datagram_is_note(memory, which, token, index)) {
            return 1;
        }
        if (n < 0 && errno != EINTR) {
            return errno == EAGAIN ? 0 : fail(failure, errno, "datagram: recv on fd %d", fd);
        }
    }
}

int datagram_say_hello(int fd, const struct options *options, size_t index, struct control *control,
                       struct failure *failure)
{
    const uint64_t deadline_ns = clock_now_ns() + options->io_timeout_ms * NS_PER_MS;
    while (clock_now_ns() < deadline_ns) {
        struct pollfd poll_fds[2] = {{0}, {.fd = fd, .events = POLLIN}};
        int error = say(fd, NOTE_HELLO, options->token, index, failure);
        if (error == 0) {
            const int n_ready =
                control_wait(control, poll_fds, 2, clock_now_ns() + PATIENCE_NS, failure);
            error = n_ready < 0 ? n_ready : 0;
        }
        const int found =
            error != 0 ? error : find_note(fd, NOTE_WELCOME, options->token, index, failure);
        if (found != 0) {
            return found < 0 ? found : 0;
        }
    }
    return fail(failure, ETIMEDOUT, "datagram: connection %zu: no welcome", index);
}

int datagram_say_goodbye(int fd, const struct options *options, size_t index,
                         struct failure *failure)
{
    const uint64_t deadline_ns = clock_now_ns() + options->io_timeout_ms * NS_PER_MS;
    while (clock_now_ns() < deadline_ns) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        const struct timespec patience = {.tv_nsec = PATIENCE_NS};
        int error = say(fd, NOTE_GOODBYE, options->token, index, failure);
        if (error == 0 && ppoll(&poll_fd, 1, &patience, NULL) < 0 && errno != EINTR) {
            error = fail(failure, errno, "datagram: poll on fd %d", fd);
        }
        const int found =
            error != 0 ? error : find_note(fd, NOTE_GOODBYE, options->token, index, failure);
        /* Refused: the peer has closed its socket, which it does only after our goodbye. */
        if (found == -ECONNREFUSED || found > 0) {
            return 0;
        }
        if (found < 0) {
            return found;
        }
    }
    return fail(failure, ETIMEDOUT, "datagram: connection %zu: no answer to the goodbye", index);
}

/* Opens a socket with the address of `fd`, connected to a socket of the receiver. */
static int connect_back(int fd, const struct options *options, const struct sockaddr *peer,
                        socklen_t peer_bytes, struct failure *failure)
{
    struct sockaddr_storage own = {0};
    socklen_t own_bytes = sizeof(own);
    if (getsockname(fd, (struct sockaddr *)&own, &own_bytes) != 0) {
        return fail(failure, errno, "datagram: getsockname on fd %d", fd);
    }
    const int new_fd = net_open(own.ss_family, options, failure);
    if (new_fd < 0) {
        return new_fd;
    }
    int error = net_share_address(new_fd, failure);
    /* Until connected it may get datagrams meant for `fd`; a hello is then repeated. */
    if (error == 0 && (bind(new_fd, (const struct sockaddr *)&own, own_bytes) != 0 ||
                       connect(new_fd, peer, peer_bytes) != 0)) {
        error = fail(failure, errno, "datagram: bind and connect of fd %d", new_fd);
    }
    if (error != 0) {
        (void)close(new_fd);
        return error;
    }
    return new_fd;
}

/* Reads a datagram from the bound socket. Returns how many connections are new (0, 1) or -errno. */
static int take_hello(int fd, const struct options *options, struct unknown_peers *unknown,
                      int *fds, struct failure *failure)
{
    struct sockaddr_storage peer = {0};
    socklen_t peer_bytes = sizeof(peer);
    struct wire_note wire = {0};
    const ssize_t n = recvfrom(fd, &wire, sizeof(wire), MSG_DONTWAIT | MSG_TRUNC,
                               (struct sockaddr *)&peer, &peer_bytes);
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR
                   ? 0
                   : fail(failure, errno, "datagram: recv on fd %d", fd);
    }
    const size_t index = ntohl(wire.index);
    if (n != NOTE_BYTES || !datagram_is_note(&wire, NOTE_HELLO, options->token, index)) {
        unknown_peers_add(unknown, &peer, "it sent no hello of this measurement");
        return 0;
    }
    if (index >= options->n_threads) {
        unknown_peers_add(unknown, &peer, "its index is out of range");
        return 0;
    }
    const bool is_new = fds[index] == NO_FD;
    if (is_new) {
        fds[index] = connect_back(fd, options, (const struct sockaddr *)&peer, peer_bytes, failure);
        if (fds[index] < 0) {
            const int error = fds[index];
            fds[index] = NO_FD;
            return error;
        }
    }
    /* Repeated for a hello that was sent twice. */
    const int error = say(fds[index], NOTE_WELCOME, options->token, index, failure);
    return error != 0 ? error : (int)is_new;
}

static int welcome_all(int fd, const struct options *options, struct control *control,
                       struct unknown_peers *unknown, int *fds, struct failure *failure)
{
    const uint64_t deadline_ns = clock_now_ns() + options->io_timeout_ms * NS_PER_MS;
    size_t n_greeted = 0;
    while (n_greeted < options->n_threads) {
        struct pollfd poll_fds[2] = {{0}, {.fd = fd, .events = POLLIN}};
        if (clock_now_ns() >= deadline_ns) {
            return fail(failure, ETIMEDOUT, "datagram: %zu of %zu connections have greeted",
                        n_greeted, options->n_threads);
        }
        const int n_ready = control_wait(control, poll_fds, 2, deadline_ns, failure);
        if (n_ready < 0) {
            return n_ready;
        }
        const int n_new = take_hello(fd, options, unknown, fds, failure);
        if (n_new < 0) {
            return n_new;
        }
        n_greeted += (size_t)n_new;
    }
    return 0;
}

int datagram_welcome_all(int fd, const struct options *options, struct control *control,
                         note_function report, int *fds, struct failure *failure)
{
    struct unknown_peers unknown = {0};
    const int error = welcome_all(fd, options, control, &unknown, fds, failure);
    unknown_peers_tell(&unknown, report);
    return error;
}
