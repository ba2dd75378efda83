/* The receiving side of --mode request_response. */
#ifndef COPYCOST_ANSWERS_H
#define COPYCOST_ANSWERS_H

#include "inflow.h"

/* Sends back each whole message as soon as it has arrived, until the end of the stream. Returns 0
 * or -errno. */
int answers_give(struct inflow *inflow);

#endif
