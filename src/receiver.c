/* Connects to a sender, receives until it says goodbye, and tells what arrived in the measured
 * window. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "clock.h"
#include "greeting.h"
#include "net.h"
#include "options.h"
#include "pattern.h"
#include "report.h"
#include "session.h"

#define PROGRAM "receiver"

/*
 * How much one recv may take. Smaller buffers cost more calls and wake-ups per byte; larger ones
 * push the message and the socket's pages out of the second-level cache. Measured with 64 KiB
 * messages on four connections and 1 MiB of that cache per core, CPU time of both sides: 32 KiB 237
 * ns/KiB, 64 KiB 232, 128 KiB 227, 256 KiB 347.
 *
 * SO_RCVLOWAT, which lets the kernel wake us less often, stays the kernel's unless asked for: 32
 * KiB gives a third more with 4 KiB messages on four connections, but zero-copy senders of small
 * messages, which the send buffer stops before they have filled it, come to a near halt.
 */
#define BUFFER_BYTES ((size_t)128 * 1024)

/* The work of one receiving thread. */
struct receiving {
    uint64_t offset; /* in the stream, under --verify */
    uint64_t wrong_bytes;
    uint64_t first_wrong_offset;
    void (*inspect)(struct receiving *receiving, size_t connection, size_t n_bytes);
    unsigned char buffer[BUFFER_BYTES];
};

static void take_unseen(struct receiving *receiving, size_t connection, size_t n_bytes)
{
    (void)receiving;
    (void)connection;
    (void)n_bytes;
}

static void check_pattern(struct receiving *receiving, size_t connection, size_t n_bytes)
{
    uint64_t first_wrong = 0;
    const uint64_t n_wrong = pattern_count_wrong(receiving->buffer, n_bytes, connection,
                                                 receiving->offset, &first_wrong);
    if (n_wrong > 0 && receiving->wrong_bytes == 0) {
        receiving->first_wrong_offset = first_wrong;
    }
    receiving->wrong_bytes += n_wrong;
    receiving->offset += n_bytes;
}

static int prepare(struct worker *worker)
{
    struct receiving *receiving = calloc(1, sizeof(*receiving));
    worker->work = receiving;
    if (receiving == NULL) {
        return fail(&worker->failure, ENOMEM, "memory for a buffer of %zu bytes", BUFFER_BYTES);
    }
    receiving->inspect = worker->crew->options->verify ? check_pattern : take_unseen;
    return 0;
}

/* The sender's goodbye, which must not come before the window's end. */
static int take_leave(struct worker *worker, const struct receiving *receiving)
{
    if (clock_now_ns() < worker->crew->planned_end_ns) {
        return fail(&worker->failure, 0,
                    "connection %zu: the sender closed it before the end of the window",
                    worker->index);
    }
    if (receiving->wrong_bytes > 0) {
        return fail(&worker->failure, 0,
                    "connection %zu: %" PRIu64 " of %" PRIu64
                    " bytes differ from the pattern, the first at offset %" PRIu64,
                    worker->index, receiving->wrong_bytes, receiving->offset,
                    receiving->first_wrong_offset);
    }
    return 0;
}

static int work(struct worker *worker)
{
    struct receiving *receiving = worker->work;
    struct counters *counters = &worker->counters;
    for (;;) {
        const ssize_t n = recv(worker->fd, receiving->buffer, BUFFER_BYTES, 0);
        count(counters, COUNT_DATA_CALLS, 1);
        if (n > 0) {
            count(counters, COUNT_BYTES, (uint64_t)n);
            receiving->inspect(receiving, worker->index, (size_t)n);
        } else if (n == 0) {
            return take_leave(worker, receiving);
        } else if (errno == EINTR) {
            count(counters, COUNT_EINTR, 1);
        } else {
            /* EAGAIN: SO_RCVTIMEO ran out, the sender is silent. */
            return fail(&worker->failure, errno == EAGAIN ? ETIMEDOUT : errno,
                        "connection %zu: recv on fd %d", worker->index, worker->fd);
        }
    }
}

static void clean_up(struct worker *worker)
{
    (void)worker; /* crew_dismiss frees the receiving, which main still reads */
}

/* Makes all connections, each greeted at once. */
static int make_connections(struct session *session, struct failure *failure)
{
    for (size_t i = 0; i < session->options->n_threads; i++) {
        const int fd = net_connect(session->options, &session->control, failure);
        if (fd < 0) {
            return fd;
        }
        session->fds[i] = fd;
        const int error = greeting_send(fd, session->options, i, failure);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

static void report_verify(struct json *json, const struct session *session)
{
    uint64_t checked_bytes = 0;
    if (!session->options->verify) {
        json_null(json, "verify");
        return;
    }
    for (size_t i = 0; i < session->crew.n_workers; i++) {
        const struct receiving *receiving = session->crew.workers[i].work;
        checked_bytes += receiving->offset;
    }
    /* Wrong bytes end in a failure, not in a report. */
    json_begin_object(json, "verify");
    json_uint(json, "checked_bytes", checked_bytes);
    json_uint(json, "wrong_bytes", 0);
    json_null(json, "first_wrong_offset");
    json_end_object(json);
}

static int report(const struct session *session, struct failure *failure)
{
    struct json json = {.file = stdout};
    json_begin_object(&json, NULL);
    json_uint(&json, "schema_version", RESULT_SCHEMA_VERSION);
    json_string(&json, "program", PROGRAM);
    report_build(&json);
    report_options(&json, ROLE_RECEIVER, session->options);
    report_effective(&json, ROLE_RECEIVER, &session->window.facts);
    report_window(&json, &session->window);
    report_counts(&json, ROLE_RECEIVER, &session->window);
    report_verify(&json, session);
    report_process(&json, &session->window);
    report_threads(&json, ROLE_RECEIVER, &session->crew, &session->window);
    json_end_object(&json);
    const int error = json_finish(&json);
    return error != 0 ? fail(failure, -error, "write to stdout") : 0;
}

static int run(const struct options *options, struct failure *failure)
{
    static const struct crew_duty DUTY = {prepare, work, clean_up};
    struct session session;
    int error = session_open(&session, options, failure);
    if (error == 0) {
        error = make_connections(&session, failure);
    }
    if (error == 0) {
        error = session_run(&session, &DUTY, failure);
    }
    if (error == 0) {
        error = report(&session, failure);
    }
    session_close(&session);
    return error;
}

int main(int argc, char **argv)
{
    struct options options;
    struct failure failure = {0};
    if (options_parse(ROLE_RECEIVER, argc, argv, &options, &failure) != 0) {
        report_failure(PROGRAM, &failure);
        return EXIT_BAD_USAGE;
    }
    if (options.action == ACTION_HELP) {
        options_usage(ROLE_RECEIVER, PROGRAM, stdout);
        return EXIT_MEASURED;
    }
    if (options.action == ACTION_VERSION) {
        (void)printf(PROGRAM ", ");
        report_version(stdout);
        return EXIT_MEASURED;
    }
    if (options.action == ACTION_PROBE) {
        return EXIT_MEASURED; /* a receiver needs nothing that any Linux lacks */
    }
    if (run(&options, &failure) != 0) {
        report_failure(PROGRAM, &failure);
        return EXIT_FAILED;
    }
    return EXIT_MEASURED;
}
