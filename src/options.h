/* The command line of both programs. The order of options has no meaning. */
#ifndef COPYCOST_OPTIONS_H
#define COPYCOST_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "die.h"

#define TOKEN_CHARS 16
#define MAX_CPUS_LISTED 1024
#define NO_FD (-1)
#define SAMPLE_BY_SIZE SIZE_MAX

enum program_role { ROLE_SENDER = 1, ROLE_RECEIVER = 2, ROLE_BOTH = 3 };

enum action { ACTION_RUN, ACTION_HELP, ACTION_VERSION, ACTION_PROBE };

enum nodelay { NODELAY_KERNEL, NODELAY_ON, NODELAY_OFF };

struct options {
    enum action action;
    size_t n_threads;
    size_t msg_bytes;
    size_t io_timeout_ms;
    size_t sndbuf_bytes;        /* 0: the kernel's */
    size_t rcvbuf_bytes;        /* 0: the kernel's */
    size_t receive_lowat_bytes; /* 0: the kernel's, which is 1 */
    size_t sample_every;        /* SAMPLE_BY_SIZE, or one message in how many is timed; 0: none */
    size_t port;
    const char *address;    /* to bind, or to connect to */
    const char *congestion; /* comma-separated, tried in order */
    const char *token;      /* TOKEN_CHARS hexadecimal digits */
    int cpus[MAX_CPUS_LISTED];
    size_t n_cpus; /* 0: threads are not pinned */
    int control_fd;
    int perf_control_fd; /* NO_FD without perf */
    int perf_ack_fd;
    enum nodelay nodelay;
    bool verify;
};

/*
 * Reads the command line into *options. Returns 0, or -EINVAL with the first thing that is wrong.
 * When the action is not ACTION_RUN, required options may be missing.
 */
int options_parse(enum program_role role, int argc, char **argv, struct options *options,
                  struct failure *failure);

/* Prints the usage text: each option with its unit and range. */
void options_usage(enum program_role role, const char *program, FILE *to);

/* "kernel", "on" or "off". */
const char *nodelay_name(enum nodelay nodelay);

#endif
