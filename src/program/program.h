/* Shared by sender and receiver: read the options, run a session, report it, and exit. */
#ifndef COPYCOST_PROGRAM_H
#define COPYCOST_PROGRAM_H

#include "failure.h"
#include "program/json.h"
#include "program/options.h"
#include "session/session.h"
#include "session/threads.h"

struct program {
    const char *name;
    enum program_role role;
    const char *part_kind; /* kind of the one part it is linked with: "strategy", "receiver" */
    const char *part;
    const char *part_summary;

    /* Whether the part can do what the options request: 0, or -errno. */
    int (*check)(const struct options *options, struct failure *failure);

    /* Whether this host can run the part: 0, or -errno. Optional. */
    int (*probe)(struct failure *failure);

    /* Makes all connections. */
    int (*connect)(struct session *session, struct failure *failure);

    /* What the workers do. */
    const struct crew_duty *duty;

    /* Writes what only this program reports, in the middle of the result. */
    void (*report)(struct json *json, const struct session *session);
};

/* Returns the exit code. */
int program_main(const struct program *program, int argc, char **argv);

#endif
