/*
 * Unknown peers that came to a socket, by address. Even a flood of them is reported in a few lines,
 * one per address.
 */
#ifndef COPYCOST_UNKNOWN_PEERS_H
#define COPYCOST_UNKNOWN_PEERS_H

#include <arpa/inet.h>
#include <stddef.h>
#include <sys/socket.h>

#define MAX_UNKNOWN_PEERS_NAMED 8

/* Called for each line about unknown peers; main prints the text. */
typedef void (*note_function)(const char *text);

struct unknown_peer {
    char address[INET6_ADDRSTRLEN];
    size_t n_times;
    const char *reason; /* why the last one was dropped */
};

struct unknown_peers {
    struct unknown_peer named[MAX_UNKNOWN_PEERS_NAMED];
    size_t n_named;
    size_t n_others; /* from further addresses */
};

/* Remembers an unknown peer. `reason` is not copied. */
void unknown_peers_add(struct unknown_peers *unknown, const struct sockaddr_storage *address,
                       const char *reason);

/*
 * "unknown peers: dropped 3 from 192.0.2.1, the last one because it said nothing", one line each.
 */
void unknown_peers_tell(const struct unknown_peers *unknown, note_function report);

#endif
