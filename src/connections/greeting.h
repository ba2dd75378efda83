/*
 * The greeting: the first bytes on each connection, from receiver to sender. It tells this
 * measurement's receiver from unknown peers, which send something else or nothing, and numbers the
 * connections.
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
 * Accepts connections until options->n_threads of them have sent a correct greeting, and stores
 * each at its index in fds (which holds NO_FD before; the caller closes them even after an error).
 * Unknown peers are dropped, never waited for, and reported at the end.
 */
int greeting_accept_all(int listen_fd, const struct options *options, struct control *control,
                        note_function report, int *fds, struct failure *failure);

#endif
