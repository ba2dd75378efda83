/* Sends messages by one strategy over N connections and reports what it did in the window. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "connections/datagram.h"
#include "connections/greeting.h"
#include "connections/net.h"
#include "program/json.h"
#include "program/options.h"
#include "program/program.h"
#include "round_trips/requests.h"
#include "sending.h"
#include "session/session.h"
#include "stats.h"
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

/* Connects to an address without a receiver. The orchestrator is told as if one had to connect. */
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

/* A count, or null if it is unknown. */
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

static void report_sending(struct json *json, const struct session *session)
{
    struct histogram service_time = {0}; /* of all threads */
    struct histogram round_trip = {0};
    for (size_t i = 0; i < session->crew.n_workers; i++) {
        const struct sending *sending = session->crew.workers[i].work;
        histogram_merge(&service_time, &sending->service_time);
        histogram_merge(&round_trip, &sending->round_trip);
    }
    report_ring(json, session);
    report_zero_copy(json, session);
    report_service_time(json, session->options, &service_time);
    requests_report(json, session->options, &round_trip);
}

static int check_strategy(const struct options *options, struct failure *failure)
{
    if ((the_strategy.transports & options->transport) == 0) {
        return fail(failure, 0, "--transport: %s cannot send %ss", the_strategy.name,
                    transport_name(options->transport));
    }
    if (options->batch > 1 && !the_strategy.batching) {
        return fail(failure, 0, "--batch: %s sends one message per call", the_strategy.name);
    }
    if (the_strategy.batch_is_one_datagram &&
        options->batch * options->msg_bytes > MAX_DATAGRAM_BYTES) {
        return fail(failure, 0,
                    "--batch: a batch of %zu messages of %zu bytes; at most %d bytes "
                    "together, since %s sends it as one datagram",
                    options->batch, options->msg_bytes, MAX_DATAGRAM_BYTES, the_strategy.name);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct crew_duty duty = sending_duty();
    const struct program sender = {
        .name = PROGRAM,
        .role = ROLE_SENDER,
        .part_kind = "strategy",
        .part = the_strategy.name,
        .part_summary = the_strategy.summary,
        .check = check_strategy,
        .probe = the_strategy.probe,
        .connect = gather_connections,
        .duty = &duty,
        .report = report_sending,
    };
    return program_main(&sender, argc, argv);
}
