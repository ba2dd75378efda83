/* The parts of the result that sender and receiver have in common. */
#ifndef COPYCOST_REPORT_H
#define COPYCOST_REPORT_H

#include <stddef.h>

#include "counters.h"
#include "program/json.h"
#include "program/options.h"
#include "session/threads.h"
#include "session/window.h"

#define RESULT_SCHEMA_VERSION 1

void report_options(struct json *json, enum program_role role, const struct options *options);
void report_effective(struct json *json, enum program_role role, const struct socket_facts *facts);
void report_window(struct json *json, const struct options *options, const struct window *window);

/* "in_window" and "total". */
void report_counts(struct json *json, enum program_role role, const struct options *options,
                   const struct window *window);

/* "process" and "tcp": differences over the window; there is no "tcp" over UDP. */
void report_process(struct json *json, const struct window *window);

/* "threads": what each worker did in the window, and where it ran. */
void report_threads(struct json *json, enum program_role role, const struct crew *crew,
                    const struct window *window);

#endif
