/* A socket's options as the kernel has set them. */
#ifndef COPYCOST_SOCKET_FACTS_H
#define COPYCOST_SOCKET_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "failure.h"

#define CONGESTION_NAME_BYTES 16 /* TCP_CA_NAME_MAX of the kernel */

/* What the kernel reports. */
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

/* Both return 0 or -errno. */
int socket_facts_read(int fd, struct socket_facts *facts, struct failure *failure);

/* Segments retransmitted on a TCP connection since it began (TCP_INFO). */
int socket_facts_read_retransmits(int fd, uint64_t *n_segments, struct failure *failure);

#endif
