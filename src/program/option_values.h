/* How option values are read: what the rows of the table in options.c refer to. */
#ifndef COPYCOST_OPTION_VALUES_H
#define COPYCOST_OPTION_VALUES_H

#include <stddef.h>

#include "program/options.h"

/* One row per option: parsing, checking and the usage text all read this table. */
struct option_spec {
    const char *name;
    const char *value_name; /* NULL: takes no value */
    const char *help;
    enum program_role role;
    int (*set)(const struct option_spec *spec, const char *text, struct options *options);
    size_t offset; /* of the field, for option_set_size, option_set_text and option_set_flag */
    size_t min;
    size_t max;
};

/* All return 0, or -EINVAL for an invalid text. */
int option_set_size(const struct option_spec *spec, const char *text, struct options *options);
int option_set_text(const struct option_spec *spec, const char *text, struct options *options);
int option_set_cpus(const struct option_spec *spec, const char *text, struct options *options);
int option_set_control_fd(const struct option_spec *spec, const char *text,
                          struct options *options);
int option_set_perf_fds(const struct option_spec *spec, const char *text, struct options *options);
int option_set_nodelay(const struct option_spec *spec, const char *text, struct options *options);
int option_set_transport(const struct option_spec *spec, const char *text, struct options *options);
int option_set_mode(const struct option_spec *spec, const char *text, struct options *options);
int option_set_flag(const struct option_spec *spec, const char *text, struct options *options);
int option_set_action(const struct option_spec *spec, const char *text, struct options *options);

#endif
