#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 1024
#define MAX_MSG_BYTES ((size_t)1 << 30)
#define MAX_BUFFER_BYTES ((size_t)1 << 30)
#define MAX_TIMEOUT_MS 600000
#define MAX_SAMPLE_EVERY 1000000
#define MAX_PORT 65535
#define MAX_FD 1048576
#define DEFAULT_TIMEOUT_MS 10000

/* One row per option: parsing, checking and the usage text all read this table. */
struct option_spec {
    const char *name;
    const char *value_name; /* NULL: takes no value */
    const char *help;
    enum program_role role;
    int (*set)(const struct option_spec *spec, const char *text, struct options *options);
    size_t offset; /* of the field, for set_size and set_text */
    size_t min;
    size_t max;
};

static bool parse_size(const char *text, size_t min, size_t max, size_t *value)
{
    char *end = NULL;
    if (!isdigit((unsigned char)text[0])) {
        return false; /* strtoull would take signs and blanks */
    }
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || number < min || number > max) {
        return false;
    }
    *value = (size_t)number;
    return true;
}

static int set_size(const struct option_spec *spec, const char *text, struct options *options)
{
    size_t value = 0;
    if (!parse_size(text, spec->min, spec->max, &value)) {
        return -EINVAL;
    }
    memcpy((char *)options + spec->offset, &value, sizeof(value));
    return 0;
}

static int set_text(const struct option_spec *spec, const char *text, struct options *options)
{
    if (text[0] == '\0') {
        return -EINVAL;
    }
    memcpy((char *)options + spec->offset, (const void *)&text, sizeof(text));
    return 0;
}

static int set_token(const struct option_spec *spec, const char *text, struct options *options)
{
    if (strlen(text) != TOKEN_CHARS || strspn(text, "0123456789abcdefABCDEF") != TOKEN_CHARS) {
        return -EINVAL;
    }
    return set_text(spec, text, options);
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
        if (!parse_size(digits, 0, max, &value)) {
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

static int set_cpus(const struct option_spec *spec, const char *text, struct options *options)
{
    const int n = parse_numbers(text, spec->max, options->cpus, MAX_CPUS_LISTED);
    if (n < 0) {
        return n;
    }
    options->n_cpus = (size_t)n;
    return 0;
}

static int set_control_fd(const struct option_spec *spec, const char *text, struct options *options)
{
    return parse_numbers(text, spec->max, &options->control_fd, 1) == 1 ? 0 : -EINVAL;
}

static int set_perf_fds(const struct option_spec *spec, const char *text, struct options *options)
{
    int fds[2];
    if (parse_numbers(text, spec->max, fds, 2) != 2) {
        return -EINVAL;
    }
    options->perf_control_fd = fds[0];
    options->perf_ack_fd = fds[1];
    return 0;
}

static int set_nodelay(const struct option_spec *spec, const char *text, struct options *options)
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

static int set_verify(const struct option_spec *spec, const char *text, struct options *options)
{
    (void)spec;
    (void)text;
    options->verify = true;
    return 0;
}

/* --help, --version and --probe: the action is the row's min. */
static int set_action(const struct option_spec *spec, const char *text, struct options *options)
{
    (void)text;
    options->action = (enum action)spec->min;
    return 0;
}

#define FIELD(name) offsetof(struct options, name)

static const struct option_spec SPECS[] = {
    {"--threads", "N", "connections, one thread each; 1..1024, default 1", ROLE_BOTH, set_size,
     FIELD(n_threads), 1, MAX_THREADS},
    {"--msg-bytes", "N", "size of a message [bytes]; 1..1073741824; required", ROLE_BOTH, set_size,
     FIELD(msg_bytes), 1, MAX_MSG_BYTES},
    {"--bind", "ADDR", "numeric address to listen on; required", ROLE_SENDER, set_text,
     FIELD(address), 0, 0},
    {"--connect", "ADDR", "numeric address of the sender; required", ROLE_RECEIVER, set_text,
     FIELD(address), 0, 0},
    {"--port", "N", "TCP port to listen on; 0..65535, default 0: any free one", ROLE_SENDER,
     set_size, FIELD(port), 0, MAX_PORT},
    {"--port", "N", "TCP port of the sender; 1..65535; required", ROLE_RECEIVER, set_size,
     FIELD(port), 1, MAX_PORT},
    {"--control-fd", "FD", "inherited stream socket of the control protocol; required", ROLE_BOTH,
     set_control_fd, 0, 0, MAX_FD},
    {"--token", "HEX16", "16 hexadecimal digits that both sides are given; required", ROLE_BOTH,
     set_token, FIELD(token), 0, 0},
    {"--perf-fds", "CTL,ACK", "inherited ends of perf stat --control; default: no perf", ROLE_BOTH,
     set_perf_fds, 0, 0, MAX_FD},
    {"--cpus", "LIST", "thread i is pinned to entry i modulo length; default: not pinned",
     ROLE_BOTH, set_cpus, 0, 0, MAX_CPUS_LISTED - 1},
    {"--congestion", "LIST",
     "congestion controls, the first that works is taken; default: kernel's", ROLE_BOTH, set_text,
     FIELD(congestion), 0, 0},
    {"--nodelay", "WHICH", "TCP_NODELAY: kernel, on or off; default kernel", ROLE_BOTH, set_nodelay,
     0, 0, 0},
    {"--sndbuf-bytes", "N", "SO_SNDBUF [bytes]; 0..1073741824, default 0: the kernel's", ROLE_BOTH,
     set_size, FIELD(sndbuf_bytes), 0, MAX_BUFFER_BYTES},
    {"--rcvbuf-bytes", "N", "SO_RCVBUF [bytes]; 0..1073741824, default 0: the kernel's", ROLE_BOTH,
     set_size, FIELD(rcvbuf_bytes), 0, MAX_BUFFER_BYTES},
    {"--rcvlowat-bytes", "N", "SO_RCVLOWAT [bytes]; 0..1073741824, default 0: the kernel's",
     ROLE_RECEIVER, set_size, FIELD(receive_lowat_bytes), 0, MAX_BUFFER_BYTES},
    {"--io-timeout-ms", "N", "longest wait without progress [ms]; 1..600000, default 10000",
     ROLE_BOTH, set_size, FIELD(io_timeout_ms), 1, MAX_TIMEOUT_MS},
    {"--sample-every", "N", "one message in N is timed; 0 none, ..1000000, default by message size",
     ROLE_SENDER, set_size, FIELD(sample_every), 0, MAX_SAMPLE_EVERY},
    {"--verify", NULL, "fill, or check, every byte of every message; for tests, slow", ROLE_BOTH,
     set_verify, 0, 0, 0},
    {"--probe", NULL, "exit 0 if this host can run it, else 77 with the reason", ROLE_BOTH,
     set_action, 0, ACTION_PROBE, 0},
    {"--version", NULL, "print source digest, compiler and flags", ROLE_BOTH, set_action, 0,
     ACTION_VERSION, 0},
    {"--help", NULL, "print this text", ROLE_BOTH, set_action, 0, ACTION_HELP, 0},
};

#define N_SPECS (sizeof(SPECS) / sizeof(SPECS[0]))

static const struct option_spec *find_spec(enum program_role role, const char *name)
{
    for (size_t i = 0; i < N_SPECS; i++) {
        if ((SPECS[i].role & role) != 0 && strcmp(SPECS[i].name, name) == 0) {
            return &SPECS[i];
        }
    }
    return NULL;
}

static int check_required(enum program_role role, const struct options *options,
                          struct failure *failure)
{
    const char *missing = NULL;
    if (options->msg_bytes == 0) {
        missing = "--msg-bytes";
    } else if (options->address == NULL) {
        missing = role == ROLE_SENDER ? "--bind" : "--connect";
    } else if (options->port == 0 && role == ROLE_RECEIVER) {
        missing = "--port";
    } else if (options->control_fd == NO_FD) {
        missing = "--control-fd";
    } else if (options->token == NULL) {
        missing = "--token";
    }
    if (missing != NULL) {
        (void)fail(failure, 0, "%s is required (see --help)", missing);
        return -EINVAL;
    }
    return 0;
}

int options_parse(enum program_role role, int argc, char **argv, struct options *options,
                  struct failure *failure)
{
    *options = (struct options){
        .action = ACTION_RUN,
        .n_threads = 1,
        .io_timeout_ms = DEFAULT_TIMEOUT_MS,
        .sample_every = SAMPLE_BY_SIZE,
        .control_fd = NO_FD,
        .perf_control_fd = NO_FD,
        .perf_ack_fd = NO_FD,
    };
    for (int i = 1; i < argc; i++) {
        const struct option_spec *spec = find_spec(role, argv[i]);
        const char *text = NULL;
        if (spec == NULL) {
            (void)fail(failure, 0, "unknown option %s (see --help)", argv[i]);
            return -EINVAL;
        }
        if (spec->value_name != NULL) {
            if (++i == argc) {
                (void)fail(failure, 0, "%s needs a value (see --help)", spec->name);
                return -EINVAL;
            }
            text = argv[i];
        }
        if (spec->set(spec, text, options) != 0) {
            (void)fail(failure, 0, "%s: got '%s', must be: %s", spec->name, text, spec->help);
            return -EINVAL;
        }
    }
    return options->action == ACTION_RUN ? check_required(role, options, failure) : 0;
}

void options_usage(enum program_role role, const char *program, FILE *to)
{
    (void)fprintf(to, "usage: %s OPTIONS\n", program);
    for (size_t i = 0; i < N_SPECS; i++) {
        const char *value_name = SPECS[i].value_name == NULL ? "" : SPECS[i].value_name;
        if ((SPECS[i].role & role) != 0) {
            (void)fprintf(to, "  %-16s %-8s %s\n", SPECS[i].name, value_name, SPECS[i].help);
        }
    }
    (void)fputs("exit codes: 0 measured, 1 failed, 2 bad usage, 77 not available here\n", to);
}

const char *nodelay_name(enum nodelay nodelay)
{
    switch (nodelay) {
    case NODELAY_ON:
        return "on";
    case NODELAY_OFF:
        return "off";
    case NODELAY_KERNEL:
        break;
    }
    return "kernel";
}
