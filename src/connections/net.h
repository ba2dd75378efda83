/* TCP and UDP sockets: listen, connect, and set options. */
#ifndef COPYCOST_NET_H
#define COPYCOST_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "failure.h"
#include "program/options.h"
#include "session/control.h"

/* Opens a socket that listens (over UDP, is bound) and stores its port in *port. Returns the
 * descriptor or -errno. */
int net_listen(const struct options *options, uint16_t *port, struct failure *failure);

/*
 * Tries to connect until the timeout or until the orchestrator is gone. Returns the descriptor or
 * -errno.
 */
int net_connect(const struct options *options, struct control *control, struct failure *failure);

/* Opens a socket, over TCP a non-blocking one. Returns the descriptor or -errno. */
int net_open(int family, const struct options *options, struct failure *failure);

/*
 * Lets a UDP socket share its address with another that allows it too: datagrams from a peer then
 * go to the socket connected to it.
 */
int net_share_address(int fd, struct failure *failure);

/* Sets congestion control, TCP_NODELAY, buffers and timeouts as the options say. */
int net_configure(int fd, const struct options *options, struct failure *failure);

int net_set_blocking(int fd, bool blocking, struct failure *failure);

#endif
