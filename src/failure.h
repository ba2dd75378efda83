/* How errors travel: library functions describe what failed and return -errno; only main reports.
 */
#ifndef COPYCOST_FAILURE_H
#define COPYCOST_FAILURE_H

#include <stdbool.h>

#define FAILURE_TEXT_BYTES 384

enum exit_code {
    EXIT_MEASURED = 0,
    EXIT_FAILED = 1,
    EXIT_BAD_USAGE = 2,
    EXIT_NOT_AVAILABLE = 77, /* the code that automake's test driver takes for "skipped" */
};

/* What failed, where, on what; zero-initialised: nothing failed. */
struct failure {
    char text[FAILURE_TEXT_BYTES];
    int error;       /* positive errno, or 0 if the text says it all */
    bool is_of_host; /* this host, or this user on it, cannot do what was requested */
};

/* Describes a failure and returns -error (-EPROTO if error is 0), for the caller to return. */
__attribute__((format(printf, 3, 4))) int fail(struct failure *failure, int error,
                                               const char *format, ...);

/*
 * Marks a failure as one of the host; `error` is what fail has just returned. The program is not
 * broken, since it works elsewhere, so the exit code is EXIT_NOT_AVAILABLE.
 */
int blame_host(struct failure *failure, int error);

/* Prints `program: text: strerror` on stderr and returns the exit code. For main only. */
enum exit_code report_failure(const char *program, const struct failure *failure);

#endif
