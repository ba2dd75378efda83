/*
 * Sending in turns with another sender, as the orchestrator says: one sends while the other sleeps.
 * What is counted between `begin` and `end` is so of turns alone, each of them whole.
 */
#ifndef COPYCOST_TURNS_H
#define COPYCOST_TURNS_H

#include "failure.h"
#include "session/session.h"

/*
 * Does what the orchestrator says until it says `end`, beginning with a line that has been read
 * (session/control.h). Returns 0 or the first error.
 */
int turns_take(struct session *session, const char *line, struct failure *failure);

#endif
