/*
 * Sending in turns with another sender, directed by the orchestrator: one sends while the other
 * sleeps. What is counted between `begin` and `end` comes from whole turns only.
 */
#ifndef COPYCOST_TURNS_H
#define COPYCOST_TURNS_H

#include "failure.h"
#include "session/session.h"

/*
 * Obeys the orchestrator until it says `end`, beginning with a line that has already been read
 * (session/control.h). Returns 0 or the first error.
 */
int turns_take(struct session *session, const char *line, struct failure *failure);

#endif
