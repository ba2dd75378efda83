#include "program/options.h"

#include <errno.h>
#include <string.h>

#include "program/option_values.h"

#define MAX_THREADS 1024
#define MAX_MSG_BYTES ((size_t)1 << 30)
#define MAX_BUFFER_BYTES ((size_t)1 << 30)
#define MAX_TIMEOUT_MS 600000
#define MAX_SAMPLE_EVERY 1000000
#define MAX_COUNTED_MESSAGES 1000000000
#define MAX_PORT 65535
#define MAX_BATCH 256
#define LOWAT_MESSAGES 16
#define LOWAT_MIN_MSG_BYTES 4096
#define LOWAT_MAX_BYTES ((size_t)1 << 20)
#define MIN_READ_BYTES ((size_t)64 * 1024) /* a datagram fits */
#define MAX_RING_BYTES ((size_t)1 << 40)
#define MAX_INTERVAL_NS ((size_t)10 * 1000 * 1000 * 1000)
#define MAX_RATE_BYTES_PER_S ((size_t)1 << 40)
#define MAX_FD 1048576
#define DEFAULT_TIMEOUT_MS 10000

/*
 * The maximum per recv. Smaller buffers cost more calls and wake-ups per byte; larger ones push the
 * message and the socket's pages out of the second-level cache. Measured with 64 KiB messages on
 * four connections and 1 MiB of that cache per core, CPU time of both sides: 32 KiB 237 ns/KiB, 64
 * KiB 232, 128 KiB 227, 256 KiB 347.
 */
#define DEFAULT_READ_BYTES ((size_t)128 * 1024)

#define FIELD(name) offsetof(struct options, name)

static const struct option_spec SPECS[] = {
    {"--threads", "N", "connections, one thread each; 1..1024, default 1", ROLE_BOTH,
     option_set_size, FIELD(n_threads), 1, MAX_THREADS},
    {"--msg-bytes", "N", "size of a message [bytes]; 1..1073741824; required", ROLE_BOTH,
     option_set_size, FIELD(msg_bytes), 1, MAX_MSG_BYTES},
    {"--transport", "WHICH", "stream (TCP) or datagram (UDP); default stream", ROLE_BOTH,
     option_set_transport, 0, 0, 0},
    {"--mode", "WHICH", "stream, or request_response: each message is answered; default stream",
     ROLE_BOTH, option_set_mode, 0, 0, 0},
    {"--bind", "ADDR", "numeric address to listen on; required without --sink", ROLE_SENDER,
     option_set_text, FIELD(bind_address), 0, 0},
    {"--sink", NULL, "send datagrams to --connect and --port, without a receiver", ROLE_SENDER,
     option_set_flag, FIELD(sink), 0, 0},
    {"--connect", "ADDR", "numeric address to send to; required with --sink", ROLE_SENDER,
     option_set_text, FIELD(connect_address), 0, 0},
    {"--connect", "ADDR", "numeric address of the sender; required", ROLE_RECEIVER, option_set_text,
     FIELD(connect_address), 0, 0},
    {"--port", "N", "port to listen on, or to send to; 0..65535, default 0: any free one",
     ROLE_SENDER, option_set_size, FIELD(port), 0, MAX_PORT},
    {"--last-port", "N", "highest port to try, from --port up; 0..65535, default 0: only --port",
     ROLE_SENDER, option_set_size, FIELD(last_port), 0, MAX_PORT},
    {"--port", "N", "port of the sender; 1..65535; required", ROLE_RECEIVER, option_set_size,
     FIELD(port), 1, MAX_PORT},
    {"--ring-bytes", "N",
     "messages to cycle through, all threads [bytes]; 0..2^40, default 0: the last used one",
     ROLE_SENDER, option_set_size, FIELD(ring_bytes), 0, MAX_RING_BYTES},
    {"--fresh", NULL, "write every byte of a message right before it is sent", ROLE_SENDER,
     option_set_flag, FIELD(fresh), 0, 0},
    {"--batch", "N", "messages per system call; 1..256, default 1", ROLE_SENDER, option_set_size,
     FIELD(batch), 1, MAX_BATCH},
    {"--interval-ns", "N",
     "time between requests [ns]; 0..10^10, default 0: each once the last is answered", ROLE_SENDER,
     option_set_size, FIELD(interval_ns), 0, MAX_INTERVAL_NS},
    {"--rate", "N", "maximum payload rate, all threads [byte/s]; 0..2^40, default 0: unlimited",
     ROLE_SENDER, option_set_size, FIELD(rate_bytes_per_s), 0, MAX_RATE_BYTES_PER_S},
    {"--control-fd", "FD", "inherited stream socket of the control protocol; required", ROLE_BOTH,
     option_set_control_fd, 0, 0, MAX_FD},
    {"--perf-fds", "CTL,ACK", "inherited ends of perf stat --control; default: no perf", ROLE_BOTH,
     option_set_perf_fds, 0, 0, MAX_FD},
    {"--cpus", "LIST", "CPUs: thread i is pinned to entry i modulo length; default: not pinned",
     ROLE_BOTH, option_set_cpus, 0, 0, MAX_CPUS_LISTED - 1},
    {"--congestion", "LIST",
     "congestion controls: the first that works is used; default: the kernel's", ROLE_BOTH,
     option_set_text, FIELD(congestion), 0, 0},
    {"--nodelay", "WHICH", "TCP_NODELAY: kernel, on or off; default kernel", ROLE_BOTH,
     option_set_nodelay, 0, 0, 0},
    {"--sndbuf-bytes", "N", "SO_SNDBUF [bytes]; 0..1073741824, default 0: the kernel's", ROLE_BOTH,
     option_set_size, FIELD(sndbuf_bytes), 0, MAX_BUFFER_BYTES},
    {"--rcvbuf-bytes", "N", "SO_RCVBUF [bytes]; 0..1073741824, default 0: the kernel's", ROLE_BOTH,
     option_set_size, FIELD(rcvbuf_bytes), 0, MAX_BUFFER_BYTES},
    {"--rcvlowat-bytes", "N",
     "SO_RCVLOWAT [bytes]; 0..1073741824, 0: the kernel's, default by message size", ROLE_RECEIVER,
     option_set_size, FIELD(receive_lowat_bytes), 0, MAX_BUFFER_BYTES},
    {"--read-bytes", "N", "maximum per recv [bytes]; 65536..1073741824, default 131072",
     ROLE_RECEIVER, option_set_size, FIELD(read_bytes), MIN_READ_BYTES, MAX_BUFFER_BYTES},
    {"--io-timeout-ms", "N", "longest wait without progress [ms]; 1..600000, default 10000",
     ROLE_BOTH, option_set_size, FIELD(io_timeout_ms), 1, MAX_TIMEOUT_MS},
    {"--sample-every", "N", "time one message in N; 0..1000000, 0: none, default by message size",
     ROLE_SENDER, option_set_size, FIELD(sample_every), 0, MAX_SAMPLE_EVERY},
    {"--counted-messages", "N",
     "send exactly this many in the window; 1..10^9, default 0: no limit", ROLE_SENDER,
     option_set_size, FIELD(counted_messages), 0, MAX_COUNTED_MESSAGES},
    {"--warmup-messages", "N", "send this many before the window; 0..10^9, default 0", ROLE_SENDER,
     option_set_size, FIELD(warmup_messages), 0, MAX_COUNTED_MESSAGES},
    {"--verify", NULL, "fill or check every byte of every message; for tests, slow", ROLE_BOTH,
     option_set_flag, FIELD(verify), 0, 0},
    {"--probe", NULL, "exit with 0 if this host can run it, else with 77 and the reason", ROLE_BOTH,
     option_set_action, 0, ACTION_PROBE, 0},
    {"--version", NULL, "print source digest, compiler and flags", ROLE_BOTH, option_set_action, 0,
     ACTION_VERSION, 0},
    {"--help", NULL, "print this text", ROLE_BOTH, option_set_action, 0, ACTION_HELP, 0},
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

/* The first missing required option, or NULL. */
static const char *find_missing(enum program_role role, const struct options *options)
{
    const bool connects = role == ROLE_RECEIVER || options->sink;
    if (options->msg_bytes == 0) {
        return "--msg-bytes";
    }
    if (connects && options->connect_address == NULL) {
        return "--connect";
    }
    if (!connects && options->bind_address == NULL) {
        return "--bind";
    }
    if (connects && options->port == 0) {
        return "--port";
    }
    return options->control_fd == NO_FD ? "--control-fd" : NULL;
}

/* Two options that exclude each other, as a sentence, or NULL. */
static const char *find_contradiction(enum program_role role, const struct options *options)
{
    const bool datagram = options->transport == TRANSPORT_DATAGRAM;
    if (options->sink && !datagram) {
        return "--sink needs --transport datagram: there is no receiver to connect to";
    }
    if (role == ROLE_SENDER && !options->sink && options->connect_address != NULL) {
        return "--connect needs --sink: otherwise a sender listens";
    }
    if (options->sink && options->bind_address != NULL) {
        return "--bind and --sink are mutually exclusive";
    }
    if (datagram && options->msg_bytes > MAX_DATAGRAM_BYTES) {
        return "--msg-bytes: a datagram holds 65507 bytes at most";
    }
    if (options->mode == MODE_REQUEST_RESPONSE && datagram) {
        return "--mode request_response needs --transport stream";
    }
    if (options->mode == MODE_REQUEST_RESPONSE && options->batch > 1) {
        return "--mode request_response needs --batch 1: each message awaits its answer";
    }
    if (options->warmup_messages > 0 && options->counted_messages == 0) {
        return "--warmup-messages needs --counted-messages";
    }
    if (options->counted_messages > 0 && options->mode != MODE_STREAM) {
        return "--counted-messages needs --mode stream";
    }
    if (options->counted_messages % options->batch != 0 ||
        options->warmup_messages % options->batch != 0) {
        return "--counted-messages and --warmup-messages must be multiples of --batch";
    }
    if (options->rate_bytes_per_s > 0 &&
        (options->mode != MODE_STREAM || options->counted_messages > 0)) {
        return "--rate needs --mode stream, without --counted-messages";
    }
    if (options->interval_ns > 0 && options->mode != MODE_REQUEST_RESPONSE) {
        return "--interval-ns needs --mode request_response";
    }
    return NULL;
}

static int check(enum program_role role, const struct options *options, struct failure *failure)
{
    const char *missing = find_missing(role, options);
    const char *contradiction = find_contradiction(role, options);
    if (missing != NULL) {
        (void)fail(failure, 0, "%s is required (see --help)", missing);
        return -EINVAL;
    }
    if (contradiction != NULL) {
        (void)fail(failure, 0, "%s (see --help)", contradiction);
        return -EINVAL;
    }
    return 0;
}

/*
 * SO_RCVLOWAT: how much must have arrived before the kernel wakes a receiver. A wake-up per segment
 * costs both sides: on veth and loopback the sender wakes the receiver. With 64 KiB messages on one
 * connection, waking after 16 of them gives 1.2 times the throughput for 20 % less CPU time of both
 * sides. No sender waits for it: below the mark the kernel acknowledges at once
 * (__tcp_ack_snd_check, net/ipv4/tcp_input.c).
 *
 * Messages below 4 KiB do not fill a segment and would be acknowledged late; zero-copy senders,
 * whose send buffer such messages soon fill, would come to a near halt.
 */
static size_t choose_receive_lowat(const struct options *options)
{
    const size_t mark_bytes = LOWAT_MESSAGES * options->msg_bytes;
    if (options->mode != MODE_STREAM || options->transport != TRANSPORT_STREAM ||
        options->msg_bytes < LOWAT_MIN_MSG_BYTES) {
        return 0;
    }
    return mark_bytes < LOWAT_MAX_BYTES ? mark_bytes : LOWAT_MAX_BYTES;
}

int options_parse(enum program_role role, int argc, char **argv, struct options *options,
                  struct failure *failure)
{
    *options = (struct options){
        .action = ACTION_RUN,
        .transport = TRANSPORT_STREAM,
        .n_threads = 1,
        .batch = 1,
        .receive_lowat_bytes = role == ROLE_RECEIVER ? LOWAT_BY_SIZE : 0,
        .read_bytes = role == ROLE_RECEIVER ? DEFAULT_READ_BYTES : 0,
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
    if (options->receive_lowat_bytes == LOWAT_BY_SIZE) {
        options->receive_lowat_bytes = choose_receive_lowat(options);
    }
    return options->action == ACTION_RUN ? check(role, options, failure) : 0;
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

const char *transport_name(enum transport transport)
{
    return transport == TRANSPORT_DATAGRAM ? "datagram" : "stream";
}

const char *mode_name(enum mode mode)
{
    return mode == MODE_REQUEST_RESPONSE ? "request_response" : "stream";
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
