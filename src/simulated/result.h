/* Writes what was counted as one JSON object. */
#ifndef COPYCOST_SIMULATED_RESULT_H
#define COPYCOST_SIMULATED_RESULT_H

#include <stdio.h>

#include "failure.h"
#include "simulated/counting.h"
#include "simulated/hierarchy.h"
#include "simulated/symbols.h"

#define SIMULATED_SCHEMA_VERSION 1

/* Writes the settings and, by side, the counts of every function that has any. Returns 0 or -errno.
 */
int result_write(FILE *file, const struct hierarchy_settings *settings,
                 const struct counting *counting, const struct symbols *symbols,
                 struct failure *failure);

#endif
