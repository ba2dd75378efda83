/* Shared by sender and receiver once their connections are made. */
#ifndef COPYCOST_SESSION_H
#define COPYCOST_SESSION_H

#include "failure.h"
#include "program/options.h"
#include "session/control.h"
#include "session/threads.h"
#include "session/window.h"

struct session {
    struct crew crew; /* first: it is aligned to separate cache lines */
    const struct options *options;
    int *fds; /* n_threads of them, NO_FD if there is none yet */
    struct control control;
    struct window window;
};

/* Allocates what a session needs. Returns 0 or -errno; call session_close in both cases. */
int session_open(struct session *session, const struct options *options, struct failure *failure);

/*
 * Starts the workers, says `ready`, reads the window's times, measures, and waits for the workers.
 * Afterwards session->window holds the readings. Returns 0 or the first error.
 */
int session_run(struct session *session, const struct crew_duty *duty, struct failure *failure);

/* Stops what is still running, closes all sockets and frees the memory. */
void session_close(struct session *session);

#endif
