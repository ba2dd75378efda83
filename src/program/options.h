/* The command line of both programs. The order of options has no meaning. */
#ifndef COPYCOST_OPTIONS_H
#define COPYCOST_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "failure.h"

#define TOKEN_CHARS 16
#define MAX_CPUS_LISTED 1024
#define NO_FD (-1)
#define SAMPLE_BY_SIZE SIZE_MAX
#define LOWAT_BY_SIZE SIZE_MAX
#define MAX_DATAGRAM_BYTES 65507 /* of payload over IPv4: 65535 less the headers of IP and UDP */

enum program_role { ROLE_SENDER = 1, ROLE_RECEIVER = 2, ROLE_BOTH = 3 };

enum action { ACTION_RUN, ACTION_HELP, ACTION_VERSION, ACTION_PROBE };

enum nodelay { NODELAY_KERNEL, NODELAY_ON, NODELAY_OFF };

/* Bits, so a strategy can name all that it can send over. */
enum transport { TRANSPORT_STREAM = 1, TRANSPORT_DATAGRAM = 2 };

enum mode { MODE_STREAM, MODE_REQUEST_RESPONSE };

struct options {
    enum action action;
    enum transport transport;
    enum mode mode;
    size_t n_threads;
    size_t msg_bytes;
    size_t io_timeout_ms;
    size_t sndbuf_bytes;        /* 0: the kernel's default */
    size_t rcvbuf_bytes;        /* 0: the kernel's default */
    size_t receive_lowat_bytes; /* LOWAT_BY_SIZE, or 0: the kernel's default, which is 1 */
    size_t read_bytes;          /* maximum per recv */
    size_t ring_bytes;          /* of all threads together; 0: hot */
    size_t batch;               /* messages per system call */
    size_t interval_ns;         /* between requests; 0: each once the last is answered */
    size_t rate_bytes_per_s;    /* maximum of all threads together; 0: unlimited */
    size_t sample_every;        /* SAMPLE_BY_SIZE, or one in this many messages is timed; 0: none */
    size_t port;
    size_t last_port; /* of a range from port; 0: only port */
    const char *bind_address;
    const char *connect_address;
    const char *congestion;      /* comma-separated, tried in order */
    char token[TOKEN_CHARS + 1]; /* hexadecimal digits; from the control line */
    int cpus[MAX_CPUS_LISTED];
    size_t n_cpus; /* 0: threads are not pinned */
    int control_fd;
    int perf_control_fd; /* NO_FD without perf */
    int perf_ack_fd;
    enum nodelay nodelay;
    bool verify;
    bool fresh;              /* each message is written before it is sent */
    bool sink;               /* a sender connects to an address without a receiver */
    size_t counted_messages; /* exactly this many are sent in the window; 0: no limit */
    size_t warmup_messages;  /* likewise before the window */
};

/*
 * Reads the command line into *options. Returns 0, or -EINVAL with the first error. If the action
 * is not ACTION_RUN, required options may be missing.
 */
int options_parse(enum program_role role, int argc, char **argv, struct options *options,
                  struct failure *failure);

/* Prints the usage text: each option with its unit and range. */
void options_usage(enum program_role role, const char *program, FILE *to);

/* "stream" or "datagram". */
const char *transport_name(enum transport transport);

/* "stream" or "request_response". */
const char *mode_name(enum mode mode);

/* "kernel", "on" or "off". */
const char *nodelay_name(enum nodelay nodelay);

#endif
