#include "failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fail(struct failure *failure, int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* A text truncated at the buffer's end still names the place; truncation is no error. */
    (void)vsnprintf(failure->text, sizeof(failure->text), format, arguments);
    va_end(arguments);
    failure->error = error;
    failure->is_of_host = false;
    return error == 0 ? -EPROTO : -error;
}

int blame_host(struct failure *failure, int error)
{
    failure->is_of_host = true;
    return error;
}

enum exit_code report_failure(const char *program, const struct failure *failure)
{
    const char *verdict = failure->is_of_host ? ": not available here" : "";
    /* Nothing can be done if stderr cannot be written; the exit code still tells. */
    if (failure->error == 0) {
        (void)fprintf(stderr, "%s%s: %s\n", program, verdict, failure->text);
    } else {
        (void)fprintf(stderr, "%s%s: %s: %s\n", program, verdict, failure->text,
                      strerror(failure->error));
    }
    return failure->is_of_host ? EXIT_NOT_AVAILABLE : EXIT_FAILED;
}
