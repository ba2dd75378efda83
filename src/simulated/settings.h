/* The settings of a simulation, as words KEY=VALUE: l1d=BYTES:WAYS l2=BYTES:WAYS llc=BYTES:WAYS
 * line=BYTES prefetcher=none|next_line symbols=FILE result=FILE; each is required. */
#ifndef COPYCOST_SIMULATED_SETTINGS_H
#define COPYCOST_SIMULATED_SETTINGS_H

#include "failure.h"
#include "simulated/hierarchy.h"

struct settings {
    struct hierarchy_settings hierarchy;
    const char *symbols_path;
    const char *result_path;
};

/*
 * Reads words into *settings, which points into them. Returns 0, or -EINVAL with the first error.
 */
int settings_parse(struct settings *settings, int n_words, char **words, struct failure *failure);

#endif
