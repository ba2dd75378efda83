#include "program/option_values.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "program/size_text.h"

int option_set_size(const struct option_spec *spec, const char *text, struct options *options)
{
    size_t value = 0;
    if (!size_text_parse(text, spec->min, spec->max, &value)) {
        return -EINVAL;
    }
    memcpy((char *)options + spec->offset, &value, sizeof(value));
    return 0;
}

int option_set_text(const struct option_spec *spec, const char *text, struct options *options)
{
    if (text[0] == '\0') {
        return -EINVAL;
    }
    memcpy((char *)options + spec->offset, (const void *)&text, sizeof(text));
    return 0;
}

/* Reads comma-separated numbers; returns how many, or -EINVAL. */
static int parse_numbers(const char *text, size_t max, int *numbers, size_t n_max)
{
    size_t n = 0;
    while (*text != '\0') {
        char digits[8];
        const size_t length = strcspn(text, ",");
        size_t value = 0;
        if (length >= sizeof(digits) || n == n_max) {
            return -EINVAL;
        }
        memcpy(digits, text, length);
        digits[length] = '\0';
        if (!size_text_parse(digits, 0, max, &value)) {
            return -EINVAL;
        }
        numbers[n++] = (int)value;
        text += length;
        if (*text == ',') {
            text++;
            if (*text == '\0') {
                return -EINVAL;
            }
        }
    }
    return (int)n;
}

int option_set_cpus(const struct option_spec *spec, const char *text, struct options *options)
{
    const int n = parse_numbers(text, spec->max, options->cpus, MAX_CPUS_LISTED);
    if (n < 0) {
        return n;
    }
    options->n_cpus = (size_t)n;
    return 0;
}

int option_set_control_fd(const struct option_spec *spec, const char *text, struct options *options)
{
    return parse_numbers(text, spec->max, &options->control_fd, 1) == 1 ? 0 : -EINVAL;
}

int option_set_perf_fds(const struct option_spec *spec, const char *text, struct options *options)
{
    int fds[2];
    if (parse_numbers(text, spec->max, fds, 2) != 2) {
        return -EINVAL;
    }
    options->perf_control_fd = fds[0];
    options->perf_ack_fd = fds[1];
    return 0;
}

int option_set_nodelay(const struct option_spec *spec, const char *text, struct options *options)
{
    (void)spec;
    for (enum nodelay i = NODELAY_KERNEL; i <= NODELAY_OFF; i++) {
        if (strcmp(text, nodelay_name(i)) == 0) {
            options->nodelay = i;
            return 0;
        }
    }
    return -EINVAL;
}

int option_set_transport(const struct option_spec *spec, const char *text, struct options *options)
{
    (void)spec;
    for (enum transport i = TRANSPORT_STREAM; i <= TRANSPORT_DATAGRAM; i++) {
        if (strcmp(text, transport_name(i)) == 0) {
            options->transport = i;
            return 0;
        }
    }
    return -EINVAL;
}

int option_set_mode(const struct option_spec *spec, const char *text, struct options *options)
{
    (void)spec;
    for (enum mode i = MODE_STREAM; i <= MODE_REQUEST_RESPONSE; i++) {
        if (strcmp(text, mode_name(i)) == 0) {
            options->mode = i;
            return 0;
        }
    }
    return -EINVAL;
}

/* A flag without a value: the row's offset says which one. */
int option_set_flag(const struct option_spec *spec, const char *text, struct options *options)
{
    const bool on = true;
    (void)text;
    memcpy((char *)options + spec->offset, &on, sizeof(on));
    return 0;
}

/* --help, --version and --probe: the action is the row's min. */
int option_set_action(const struct option_spec *spec, const char *text, struct options *options)
{
    (void)text;
    options->action = (enum action)spec->min;
    return 0;
}
