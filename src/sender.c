/* Sends messages by one strategy over N connections and tells what it did in the window. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "build_info.h"
#include "datagram.h"
#include "greeting.h"
#include "net.h"
#include "options.h"
#include "report.h"
#include "requests.h"
#include "sending.h"
#include "session.h"
#include "strategy.h"

#define PROGRAM "sender"

static void note(const char *text)
{
    (void)fprintf(stderr, PROGRAM ": %s\n", text);
}

/* Listens, tells the orchestrator the port, and waits for the receiver's connections. */
static int await_receiver(struct session *session, struct failure *failure)
{
    const struct options *options = session->options;
    uint16_t port = 0;
    const int listen_fd = net_listen(options, &port, failure);
    if (listen_fd < 0) {
        return listen_fd;
    }
    int error = control_say(&session->control, failure, "listening %u", port);
    if (error == 0) {
        error = options->transport == TRANSPORT_STREAM
                    ? greeting_accept_all(listen_fd, options, &session->control, note, session->fds,
                                          failure)
                    : datagram_welcome_all(listen_fd, options, &session->control, note,
                                           session->fds, failure);
    }
    if (close(listen_fd) != 0 && error == 0) {
        error = fail(failure, errno, "close of fd %d", listen_fd);
    }
    return error;
}

/* Connects to where nobody receives. The orchestrator is told as if somebody had to be waited for.
 */
static int connect_to_sink(struct session *session, struct failure *failure)
{
    for (size_t i = 0; i < session->options->n_threads; i++) {
        const int fd = net_connect(session->options, &session->control, failure);
        if (fd < 0) {
            return fd;
        }
        session->fds[i] = fd;
    }
    return control_say(&session->control, failure, "listening 0");
}

static int gather_connections(struct session *session, struct failure *failure)
{
    return session->options->sink ? connect_to_sink(session, failure)
                                  : await_receiver(session, failure);
}

/* A count, or null where nobody can tell it. */
static void report_if(struct json *json, const char *key, bool is_known, uint64_t n)
{
    if (is_known) {
        json_uint(json, key, n);
    } else {
        json_null(json, key);
    }
}

static void report_zero_copy(struct json *json, const struct session *session)
{
    static const struct {
        enum counter which;
        const char *total;
        const char *in_window;
    } NAMES[] = {
        {COUNT_ZC_SENT, "sent", "sent_in_window"},
        {COUNT_ZC_COMPLETED, "completed", "completed_in_window"},
        {COUNT_ZC_COPIED, "copied", "copied_in_window"},
        {COUNT_ZC_NOTIFICATIONS, "notifications", "notifications_in_window"},
    };
    const struct sending *first = session->crew.workers[0].work;
    const char *copied_unknown = first->stream.copied_unknown;
    if (!the_strategy.zero_copy) {
        json_null(json, "zero_copy");
        return;
    }
    json_begin_object(json, "zero_copy");
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        const bool is_known = NAMES[i].which != COUNT_ZC_COPIED || copied_unknown == NULL;
        report_if(json, NAMES[i].total, is_known, session->window.total.sum.value[NAMES[i].which]);
        report_if(json, NAMES[i].in_window, is_known,
                  window_growth(&session->window, NAMES[i].which));
    }
    json_string(json, "copied_unknown", copied_unknown);
    json_end_object(json);
}

static void report_ring(struct json *json, const struct session *session)
{
    uint64_t n_messages = 0;
    uint64_t n_bytes = 0;
    for (size_t i = 0; i < session->crew.n_workers; i++) {
        const struct sending *sending = session->crew.workers[i].work;
        n_messages += sending->ring_messages;
        n_bytes += sending->ring_bytes;
    }
    json_begin_object(json, "ring");
    json_uint(json, "bytes", n_bytes);
    json_uint(json, "messages", n_messages);
    json_bool(json, "fresh", session->options->fresh);
    json_end_object(json);
}

static void report_service_time(struct json *json, const struct options *options,
                                const struct histogram *histogram)
{
    json_begin_object(json, "service_time");
    json_uint(json, "sample_every", sending_sample_every(options));
    json_uint(json, "samples", histogram->n_samples);
    if (histogram->n_samples > 0) {
        json_real(json, "mean_ns", histogram_mean_ns(histogram));
        json_uint(json, "median_ns", histogram_quantile_ns(histogram, 0.5));
        json_uint(json, "p99_ns", histogram_quantile_ns(histogram, 0.99));
        json_uint(json, "max_ns", histogram->max_ns);
    } else {
        json_null(json, "mean_ns");
        json_null(json, "median_ns");
        json_null(json, "p99_ns");
        json_null(json, "max_ns");
    }
    json_end_object(json);
}

/* The samples of all threads. */
struct durations {
    struct histogram service_time;
    struct histogram round_trip;
};

static int report(const struct session *session, const struct durations *durations,
                  struct failure *failure)
{
    struct json json = {.file = stdout};
    json_begin_object(&json, NULL);
    json_uint(&json, "schema_version", RESULT_SCHEMA_VERSION);
    json_string(&json, "program", PROGRAM);
    json_string(&json, "strategy", the_strategy.name);
    build_info_report(&json);
    report_options(&json, ROLE_SENDER, session->options);
    report_effective(&json, ROLE_SENDER, &session->window.facts);
    report_window(&json, &session->window);
    report_counts(&json, ROLE_SENDER, session->options, &session->window);
    report_ring(&json, session);
    report_zero_copy(&json, session);
    report_service_time(&json, session->options, &durations->service_time);
    requests_report(&json, session->options, &durations->round_trip);
    report_process(&json, &session->window);
    report_threads(&json, ROLE_SENDER, &session->crew, &session->window);
    json_end_object(&json);
    const int error = json_finish(&json);
    return error != 0 ? fail(failure, -error, "write to stdout") : 0;
}

static int sum_up(const struct session *session, struct failure *failure)
{
    struct durations *durations = calloc(1, sizeof(*durations));
    if (durations == NULL) {
        return fail(failure, ENOMEM, "memory for histograms");
    }
    for (size_t i = 0; i < session->crew.n_workers; i++) {
        const struct sending *sending = session->crew.workers[i].work;
        histogram_merge(&durations->service_time, &sending->service_time);
        histogram_merge(&durations->round_trip, &sending->round_trip);
    }
    const int error = report(session, durations, failure);
    free(durations);
    return error;
}

static int run(const struct options *options, struct failure *failure)
{
    const struct crew_duty duty = sending_duty();
    struct session session;
    int error = session_open(&session, options, failure);
    if (error == 0) {
        error = gather_connections(&session, failure);
    }
    if (error == 0) {
        error = session_run(&session, &duty, failure);
    }
    if (error == 0) {
        error = sum_up(&session, failure);
    }
    session_close(&session);
    return error;
}

/* Whether the strategy can do what the options ask for: 0, or -EINVAL. */
static int check_strategy(const struct options *options, struct failure *failure)
{
    if ((the_strategy.transports & options->transport) == 0) {
        (void)fail(failure, 0, "--transport: %s sends no %ss", the_strategy.name,
                   transport_name(options->transport));
        return -EINVAL;
    }
    if (options->batch > 1 && !the_strategy.batching) {
        (void)fail(failure, 0, "--batch: %s sends one message per call", the_strategy.name);
        return -EINVAL;
    }
    return 0;
}

static int probe(struct failure *failure)
{
    return the_strategy.probe == NULL ? 0 : the_strategy.probe(failure);
}

int main(int argc, char **argv)
{
    struct options options;
    struct failure failure = {0};
    if (options_parse(ROLE_SENDER, argc, argv, &options, &failure) != 0) {
        report_failure(PROGRAM, &failure);
        return EXIT_BAD_USAGE;
    }
    if (options.action == ACTION_HELP) {
        (void)printf("%s: %s\n", the_strategy.name, the_strategy.summary);
        options_usage(ROLE_SENDER, PROGRAM, stdout);
        return EXIT_MEASURED;
    }
    if (options.action == ACTION_VERSION) {
        (void)printf(PROGRAM " %s, ", the_strategy.name);
        build_info_print(stdout);
        return EXIT_MEASURED;
    }
    if (options.action == ACTION_RUN && check_strategy(&options, &failure) != 0) {
        report_failure(PROGRAM, &failure);
        return EXIT_BAD_USAGE;
    }
    if (probe(&failure) != 0) {
        report_failure(PROGRAM ": not available here", &failure);
        return EXIT_NOT_AVAILABLE;
    }
    if (options.action == ACTION_PROBE) {
        return EXIT_MEASURED;
    }
    if (run(&options, &failure) != 0) {
        report_failure(PROGRAM, &failure);
        return EXIT_FAILED;
    }
    return EXIT_MEASURED;
}
