/* TCP and UDP sockets: listen, connect, options, and what the kernel made of them. */
#ifndef COPYCOST_NET_H
#define COPYCOST_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control.h"
#include "die.h"
#include "options.h"

#define CONGESTION_NAME_BYTES 16 /* TCP_CA_NAME_MAX of the kernel */

/* The options of a socket as the kernel reports them. */
struct socket_facts {
    bool is_stream; /* if not, congestion, mss_bytes and nodelay mean nothing */
    char congestion[CONGESTION_NAME_BYTES];
    int send_buffer_bytes;
    int receive_buffer_bytes;
    int receive_lowat_bytes;
    int mss_bytes;
    bool nodelay;
    bool zero_copy;
};

/*
 * Opens a non-blocking socket that listens, or over UDP is bound, and tells its port. Returns the
 * descriptor or -errno.
 */
int net_listen(const struct options *options, uint16_t *port, struct failure *failure);

/* Connects, bounded by the timeout and by the orchestrator's life. Returns the descriptor or
 * -errno. */
int net_connect(const struct options *options, struct control *control, struct failure *failure);

/*
 * Opens a UDP socket that shares its address with others of this user: what comes from a peer goes
 * to the one connected to it. Returns the descriptor or -errno.
 */
int net_open_datagram(int family, const struct options *options, struct failure *failure);

/* Sets congestion control, TCP_NODELAY, buffers and timeouts as the options say. */
int net_configure(int fd, const struct options *options, struct failure *failure);

int net_set_blocking(int fd, bool blocking, struct failure *failure);

int net_read_facts(int fd, struct socket_facts *facts, struct failure *failure);

/* Segments retransmitted on a connection since it began (TCP_INFO). */
int net_read_retransmits(int fd, uint64_t *n_segments, struct failure *failure);

#endif
