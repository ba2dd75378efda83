/*
 * Who else came to a socket: strangers, by their addresses. A flood of them is told in as few lines
 * as one of each.
 */
#ifndef COPYCOST_STRANGERS_H
#define COPYCOST_STRANGERS_H

#include <arpa/inet.h>
#include <stddef.h>
#include <sys/socket.h>

#define MAX_STRANGERS_NAMED 8

/* Called for each line about strangers; main prints the text. */
typedef void (*note_function)(const char *text);

struct stranger {
    char address[INET6_ADDRSTRLEN];
    size_t n_times;
    const char *reason; /* why the last one was dropped */
};

struct strangers {
    struct stranger named[MAX_STRANGERS_NAMED];
    size_t n_named;
    size_t n_others; /* of more addresses than are named */
};

/* Remembers a stranger. `reason` is not copied. */
void strangers_add(struct strangers *strangers, const struct sockaddr_storage *address,
                   const char *reason);

/* "strangers: dropped 3 from 192.0.2.1, the last one because it said nothing", a line for each. */
void strangers_tell(const struct strangers *strangers, note_function note);

#endif
