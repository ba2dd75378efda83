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

/* Bits, so that a strategy can name all that it can send over. */
enum transport { TRANSPORT_STREAM = 1, TRANSPORT_DATAGRAM = 2 };

enum mode { MODE_STREAM, MODE_REQUEST_RESPONSE };

struct options {
    enum action action;
    enum transport transport;
    enum mode mode;
    size_t n_threads;
    size_t msg_bytes;
    size_t io_timeout_ms;
    size_t sndbuf_bytes;        /* 0: the kernel's */
    size_t rcvbuf_bytes;        /* 0: the kernel's */
    size_t receive_lowat_bytes; /* LOWAT_BY_SIZE, or 0: the kernel's, which is 1 */
    size_t read_bytes;          /* how much one recv may take */
    size_t ring_bytes;          /* of all threads together; 0: hot */
    size_t batch;               /* messages per system call */
    size_t interval_ns;         /* between requests; 0: each as soon as the last is answered */
    size_t rate_bytes_per_s;    /* of all threads together, at most; 0: as fast as can be */
    size_t sample_every;        /* SAMPLE_BY_SIZE, or one message in how many is timed; 0: none */
    size_t port;
    size_t last_port; /* of a range that begins with port; 0: of that one only */
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
    bool sink;               /* a sender connects to where nobody receives */
    size_t counted_messages; /* exactly so many are sent within the window; 0: as many as can be */
    size_t warmup_messages;  /* before them, likewise */
};

/*
 * Reads the command line into *options. Returns 0, or -EINVAL with the first thing that is wrong.
 * When the action is not ACTION_RUN, required options may be missing.
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
