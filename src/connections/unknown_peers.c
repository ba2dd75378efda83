#include "connections/unknown_peers.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 256

static void name_of(const struct sockaddr_storage *address, char *name, size_t n_bytes)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    const char *found = NULL;
    if (address->ss_family == AF_INET) {
        memcpy(&v4, address, sizeof(v4));
        found = inet_ntop(AF_INET, &v4.sin_addr, name, (socklen_t)n_bytes);
    } else if (address->ss_family == AF_INET6) {
        memcpy(&v6, address, sizeof(v6));
        found = inet_ntop(AF_INET6, &v6.sin6_addr, name, (socklen_t)n_bytes);
    }
    if (found == NULL) {
        (void)snprintf(name, n_bytes, "nowhere");
    }
}

void unknown_peers_add(struct unknown_peers *unknown, const struct sockaddr_storage *address,
                       const char *reason)
{
    char name[INET6_ADDRSTRLEN];
    name_of(address, name, sizeof(name));
    size_t i = 0;
    while (i < unknown->n_named && strcmp(unknown->named[i].address, name) != 0) {
        i++;
    }
    if (i == MAX_UNKNOWN_PEERS_NAMED) {
        unknown->n_others++;
        return;
    }
    struct unknown_peer *peer = &unknown->named[i];
    if (i == unknown->n_named) {
        unknown->n_named++;
        memcpy(peer->address, name, sizeof(name));
    }
    peer->n_times++;
    peer->reason = reason;
}

void unknown_peers_tell(const struct unknown_peers *unknown, note_function report)
{
    char text[LINE_BYTES];
    for (size_t i = 0; i < unknown->n_named; i++) {
        const struct unknown_peer *peer = &unknown->named[i];
        (void)snprintf(text, sizeof(text),
                       "unknown peers: dropped %zu from %s, the last one because %s", peer->n_times,
                       peer->address, peer->reason);
        report(text);
    }
    if (unknown->n_others > 0) {
        (void)snprintf(text, sizeof(text),
                       "unknown peers: dropped %zu from other addresses, more than are named",
                       unknown->n_others);
        report(text);
    }
}
