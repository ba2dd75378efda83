#include "connections/greeting.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "connections/net.h"
#include "connections/unknown_peers.h"

#define GREETING_MAGIC "COPYCOST"
#define GREETING_VERSION 1
#define MAGIC_BYTES 8
#define MAX_UNKNOWN_PEERS 64 /* waiting at once, besides the connections we want */
#define OWN_POLL_FDS 2       /* the control socket and the listening one */

/* On the wire, numbers in network byte order. */
struct greeting {
    char magic[MAGIC_BYTES];
    uint32_t version;
    uint32_t index;
    char token[TOKEN_CHARS];
};

_Static_assert(sizeof(struct greeting) == MAGIC_BYTES + 8 + TOKEN_CHARS, "greeting has no padding");

/* A connection whose greeting is not yet complete. */
struct guest {
    int fd;
    struct sockaddr_storage address;
    size_t got_bytes;
    struct greeting greeting;
};

struct reception {
    const struct options *options;
    struct unknown_peers *unknown;
    int *fds; /* by connection index */
    size_t n_greeted;
    struct guest *guests;
    size_t n_guests;
    size_t n_guests_max;
};

int greeting_send(int fd, const struct options *options, size_t index, struct failure *failure)
{
    struct greeting greeting = {
        .version = htonl(GREETING_VERSION),
        .index = htonl((uint32_t)index),
    };
    memcpy(greeting.magic, GREETING_MAGIC, MAGIC_BYTES);
    memcpy(greeting.token, options->token, TOKEN_CHARS);
    /* The first bytes of a connection always fit into its empty send buffer. */
    const ssize_t n = send(fd, &greeting, sizeof(greeting), MSG_NOSIGNAL);
    if (n != (ssize_t)sizeof(greeting)) {
        return fail(failure, n < 0 ? errno : EIO, "greeting: send on fd %d", fd);
    }
    return 0;
}

/* Forgets guest i. The others keep their order, the longest-waiting one first. */
static void remove_guest(struct reception *reception, size_t i)
{
    struct guest *guest = &reception->guests[i];
    reception->n_guests--;
    memmove(guest, guest + 1, (reception->n_guests - i) * sizeof(*guest));
}

/* Drops guest i, with the reason. */
static void send_away(struct reception *reception, size_t i, const char *reason)
{
    unknown_peers_add(reception->unknown, &reception->guests[i].address, reason);
    (void)close(reception->guests[i].fd);
    remove_guest(reception, i);
}

/* Why a complete greeting is not ours, or NULL if it is. */
static const char *find_fault(const struct reception *reception, const struct greeting *greeting)
{
    const uint32_t index = ntohl(greeting->index);
    if (memcmp(greeting->magic, GREETING_MAGIC, MAGIC_BYTES) != 0 ||
        ntohl(greeting->version) != GREETING_VERSION) {
        return "it did not greet as a copycost receiver does";
    }
    if (memcmp(greeting->token, reception->options->token, TOKEN_CHARS) != 0) {
        return "it belongs to another measurement";
    }
    if (index >= reception->options->n_threads || reception->fds[index] != NO_FD) {
        return "its index is out of range or taken";
    }
    return NULL;
}

/* Reads what guest i says; the guest then stays, is accepted, or is dropped. */
static void listen_to(struct reception *reception, size_t i)
{
    struct guest *guest = &reception->guests[i];
    const ssize_t n = recv(guest->fd, (char *)&guest->greeting + guest->got_bytes,
                           sizeof(guest->greeting) - guest->got_bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n <= 0) {
        send_away(reception, i, n == 0 ? "it closed before greeting" : "its connection broke");
        return;
    }
    guest->got_bytes += (size_t)n;
    if (guest->got_bytes < sizeof(guest->greeting)) {
        return;
    }
    const char *fault = find_fault(reception, &guest->greeting);
    if (fault != NULL) {
        send_away(reception, i, fault);
        return;
    }
    reception->fds[ntohl(guest->greeting.index)] = guest->fd;
    reception->n_greeted++;
    remove_guest(reception, i);
}

/* Accepts what is waiting; if there are too many, the longest-waiting guest makes room. */
static int let_in(struct reception *reception, int listen_fd, struct failure *failure)
{
    struct sockaddr_storage address = {0};
    socklen_t n_bytes = sizeof(address);
    const int fd =
        accept4(listen_fd, (struct sockaddr *)&address, &n_bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        /* accept(2): errors of the connection itself should be treated like EAGAIN. */
        return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED
                   ? 0
                   : fail(failure, errno, "greeting: accept on fd %d", listen_fd);
    }
    if (reception->n_guests == reception->n_guests_max) {
        send_away(reception, 0, "too many connections said nothing");
    }
    reception->guests[reception->n_guests++] = (struct guest){.fd = fd, .address = address};
    return 0;
}

static int receive_all(struct reception *reception, int listen_fd, struct control *control,
                       struct pollfd *poll_fds, struct failure *failure)
{
    const struct options *options = reception->options;
    const uint64_t deadline_ns = clock_now_ns() + options->io_timeout_ms * NS_PER_MS;
    while (reception->n_greeted < options->n_threads) {
        if (clock_now_ns() >= deadline_ns) {
            return fail(failure, ETIMEDOUT, "greeting: %zu of %zu connections have greeted",
                        reception->n_greeted, options->n_threads);
        }
        poll_fds[1] = (struct pollfd){.fd = listen_fd, .events = POLLIN};
        for (size_t i = 0; i < reception->n_guests; i++) {
            poll_fds[OWN_POLL_FDS + i] =
                (struct pollfd){.fd = reception->guests[i].fd, .events = POLLIN};
        }
        const int n_ready = control_wait(control, poll_fds, OWN_POLL_FDS + reception->n_guests,
                                         deadline_ns, failure);
        if (n_ready < 0) {
            return n_ready;
        }
        /* Backwards, since guests behind one that leaves move up. */
        for (size_t i = reception->n_guests; n_ready > 0 && i-- > 0;) {
            if (poll_fds[OWN_POLL_FDS + i].revents != 0) {
                listen_to(reception, i);
            }
        }
        const int error = poll_fds[1].revents != 0 ? let_in(reception, listen_fd, failure) : 0;
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

int greeting_accept_all(int listen_fd, const struct options *options, struct control *control,
                        note_function report, int *fds, struct failure *failure)
{
    struct unknown_peers unknown = {0};
    struct reception reception = {
        .options = options,
        .unknown = &unknown,
        .fds = fds,
        .n_guests_max = options->n_threads + MAX_UNKNOWN_PEERS,
    };
    struct pollfd *poll_fds = calloc(OWN_POLL_FDS + reception.n_guests_max, sizeof(*poll_fds));
    int error = 0;
    reception.guests = calloc(reception.n_guests_max, sizeof(*reception.guests));
    if (reception.guests == NULL || poll_fds == NULL) {
        error = fail(failure, ENOMEM, "greeting: calloc");
    } else {
        error = receive_all(&reception, listen_fd, control, poll_fds, failure);
        while (reception.n_guests > 0) {
            send_away(&reception, reception.n_guests - 1, "it said nothing");
        }
        unknown_peers_tell(&unknown, report);
    }
    free(reception.guests);
    free(poll_fds);
    for (size_t i = 0; error == 0 && i < options->n_threads; i++) {
        error = net_configure(fds[i], options, failure);
        if (error == 0) {
            error = net_set_blocking(fds[i], true, failure);
        }
    }
    return error;
}
