/* The receiving side of --mode request_response. */
#ifndef COPYCOST_ANSWERS_H
#define COPYCOST_ANSWERS_H

#include "inflow.h"

/* Sends each message back as soon as it has come whole, until the end of the stream. Returns 0 or
 * -errno. */
int answers_give(struct inflow *inflow);

#endif
