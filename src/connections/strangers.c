#include "connections/strangers.h"

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

void strangers_add(struct strangers *strangers, const struct sockaddr_storage *address,
                   const char *reason)
{
    char name[INET6_ADDRSTRLEN];
    name_of(address, name, sizeof(name));
    size_t i = 0;
    while (i < strangers->n_named && strcmp(strangers->named[i].address, name) != 0) {
        i++;
    }
    if (i == MAX_STRANGERS_NAMED) {
        strangers->n_others++;
        return;
    }
    struct stranger *stranger = &strangers->named[i];
    if (i == strangers->n_named) {
        strangers->n_named++;
        memcpy(stranger->address, name, sizeof(name));
    }
    stranger->n_times++;
    stranger->reason = reason;
}

void strangers_tell(const struct strangers *strangers, note_function note)
{
    char text[LINE_BYTES];
    for (size_t i = 0; i < strangers->n_named; i++) {
        const struct stranger *stranger = &strangers->named[i];
        (void)snprintf(text, sizeof(text),
                       "strangers: dropped %zu from %s, the last one because %s", stranger->n_times,
                       stranger->address, stranger->reason);
        note(text);
    }
    if (strangers->n_others > 0) {
        (void)snprintf(text, sizeof(text),
                       "strangers: dropped %zu from other addresses, more than are named",
                       strangers->n_others);
        note(text);
    }
}
