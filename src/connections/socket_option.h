/* Socket options, with their names for messages. */
#ifndef COPYCOST_SOCKET_OPTION_H
#define COPYCOST_SOCKET_OPTION_H

#include <sys/socket.h>

#include "failure.h"

struct socket_option {
    const char *name;
    int level;
    int number;
};

/* SOCKET_OPTION(SOL_SOCKET, SO_SNDBUF): the option, with its name as written. */
#define SOCKET_OPTION(its_level, its_number)                                                       \
    ((struct socket_option){.name = #its_number, .level = (its_level), .number = (its_number)})

/* All return 0, or -errno with the option named. */
int socket_option_set(int fd, struct socket_option option, const void *value, socklen_t n_bytes,
                      struct failure *failure);
int socket_option_set_int(int fd, struct socket_option option, int value, struct failure *failure);
int socket_option_get(int fd, struct socket_option option, void *value, socklen_t n_bytes,
                      struct failure *failure);

/*
 * Tells whether an option can be set on a new socket, for probes: returns 0, or -errno with the
 * Linux version needed. `type` is SOCK_STREAM or SOCK_DGRAM.
 */
int socket_option_probe(int type, struct socket_option option, int value, const char *needed_linux,
                        struct failure *failure);

#endif
