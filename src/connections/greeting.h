/*
 * The greeting: the first bytes on each connection, from receiver to sender. They tell an unknown
 * peer, who says something else or nothing, from the receiver of this very measurement, and number
 * the connections.
 */
#ifndef COPYCOST_GREETING_H
#define COPYCOST_GREETING_H

#include <stddef.h>

#include "connections/unknown_peers.h"
#include "failure.h"
#include "program/options.h"
#include "session/control.h"

/* Sends the greeting of connection `index`. */
int greeting_send(int fd, const struct options *options, size_t index, struct failure *failure);

/*
 * Accepts connections until options->n_threads of them have greeted rightly, and stores each at its
 * index in fds (which holds NO_FD before; the caller closes them also after an error). Unknown
 * peers are dropped, never waited for, and told of at the end.
 */
int greeting_accept_all(int listen_fd, const struct options *options, struct control *control,
                        note_function note, int *fds, struct failure *failure);

#endif
