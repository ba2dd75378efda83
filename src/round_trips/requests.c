#include "round_trips/requests.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "clock.h"
#include "memory.h"
#include "messages/pattern.h"

/* For this long before a request is due the thread polls the clock: a sleeper is woken late, by
 * some 50 us through timer slack alone (prctl(2), PR_SET_TIMERSLACK). */
#define WATCH_NS (200 * NS_PER_US)

/* The longest sleep without checking for the stop. */
#define NAP_NS (20 * NS_PER_MS)

/* A percentile is reported if this many samples lie above it; with fewer, it is down to chance. */
#define MIN_SAMPLES_ABOVE 10

/* Points of the curve: a twelfth of a decade apart in the share that lies above, as in
 * HdrHistogram; five decades are 60. */
#define POINTS_PER_DECADE 12
#define MAX_POINTS 60

/* Waits for a moment. Returns the phase at that moment, or the one that ended the wait. */
static enum phase wait_until(uint64_t due_ns, struct worker *worker)
{
    enum phase phase = crew_phase(worker->crew);
    while (phase < PHASE_PAUSE) {
        const uint64_t now_ns = clock_now_ns();
        if (now_ns >= due_ns) {
            return phase;
        }
        const uint64_t left_ns = due_ns - now_ns;
        if (left_ns > WATCH_NS) {
            const uint64_t sleep_ns = left_ns - WATCH_NS < NAP_NS ? left_ns - WATCH_NS : NAP_NS;
            const struct timespec nap = {.tv_nsec = (long)sleep_ns};
            /* A signal only shortens the nap. */
            (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
            count(&worker->counters, COUNT_OTHER_CALLS, 1);
        }
        phase = crew_phase(worker->crew);
    }
    return phase;
}

/* Receives one whole answer. */
static int take_answer(struct stream *stream, char *answer)
{
    size_t got_bytes = 0;
    while (got_bytes < stream->msg_bytes) {
        const ssize_t n = recv(stream->fd, answer + got_bytes, stream->msg_bytes - got_bytes, 0);
        count(stream->counters, COUNT_OTHER_CALLS, 1);
        if (n > 0) {
            got_bytes += (size_t)n;
        } else if (n == 0) {
            return fail(stream->failure, 0, "connection %zu: the receiver closed it",
                        stream->connection);
        } else if (errno == EINTR) {
            count(stream->counters, COUNT_EINTR, 1);
        } else {
            /* EAGAIN: SO_RCVTIMEO expired, the receiver is silent. */
            return fail(stream->failure, errno == EAGAIN ? ETIMEDOUT : errno,
                        "connection %zu: recv of an answer on fd %d", stream->connection,
                        stream->fd);
        }
    }
    return 0;
}

/* Under --verify an answer must equal its request. */
static int check_answer(struct stream *stream, const char *answer)
{
    uint64_t first_wrong = 0;
    const uint64_t offset = (stream->n_written - 1) * stream->msg_bytes;
    const uint64_t n_wrong =
        pattern_count_wrong(answer, stream->msg_bytes, stream->connection, offset, &first_wrong);
    return n_wrong == 0 ? 0
                        : fail(stream->failure, 0,
                               "connection %zu: %" PRIu64
                               " bytes of an answer differ from the pattern, the first at offset "
                               "%" PRIu64,
                               stream->connection, n_wrong, first_wrong);
}

static int ask(struct worker *worker, struct stream *stream, char *answer)
{
    int error = the_strategy.send_messages(stream);
    if (error == 0) {
        count(stream->counters, COUNT_MESSAGES, 1);
        error = take_answer(stream, answer);
    }
    return error == 0 && worker->crew->options->verify ? check_answer(stream, answer) : error;
}

int requests_make(struct worker *worker, struct stream *stream, struct histogram *round_trips)
{
    const uint64_t interval_ns = worker->crew->options->interval_ns;
    char *answer = memory_allocate_aligned(stream->msg_bytes);
    uint64_t due_ns = clock_now_ns();
    enum phase phase = PHASE_WARM_UP;
    int error = 0;
    if (answer == NULL) {
        return fail(stream->failure, ENOMEM, "an answer of %zu bytes", stream->msg_bytes);
    }
    while (error == 0 && (phase = wait_until(due_ns, worker)) < PHASE_PAUSE) {
        const uint64_t began_ns = interval_ns > 0 ? due_ns : clock_now_ns();
        error = ask(worker, stream, answer);
        if (error == 0 && phase == PHASE_WINDOW) {
            histogram_record(round_trips, clock_now_ns() - began_ns);
        }
        due_ns += interval_ns;
    }
    free(answer);
    return error;
}

static bool is_carried(const struct histogram *round_trips, double share)
{
    /* Rounded, since 0.1 % of 10000 must not be 9.99. */
    return round((1.0 - share) * (double)round_trips->n_samples) >= MIN_SAMPLES_ABOVE;
}

static void report_percentile(struct json *json, const char *key,
                              const struct histogram *round_trips, double share)
{
    if (is_carried(round_trips, share)) {
        json_uint(json, key, histogram_quantile_ns(round_trips, share));
    } else {
        json_null(json, key);
    }
}

static void report_curve(struct json *json, const struct histogram *round_trips)
{
    json_begin_array(json, "percentiles");
    for (size_t i = 0; i <= MAX_POINTS; i++) {
        const double share = 1.0 - pow(10.0, -(double)i / POINTS_PER_DECADE);
        if (!is_carried(round_trips, share)) {
            break;
        }
        json_begin_array(json, NULL);
        json_real(json, NULL, share);
        json_uint(json, NULL, histogram_quantile_ns(round_trips, share));
        json_end_array(json);
    }
    json_end_array(json);
}

void requests_report(struct json *json, const struct options *options,
                     const struct histogram *round_trips)
{
    if (options->mode != MODE_REQUEST_RESPONSE) {
        json_null(json, "round_trip");
        return;
    }
    json_begin_object(json, "round_trip");
    json_uint(json, "samples", round_trips->n_samples);
    if (round_trips->n_samples > 0) {
        json_real(json, "mean_ns", histogram_mean_ns(round_trips));
        json_uint(json, "max_ns", round_trips->max_ns);
    } else {
        json_null(json, "mean_ns");
        json_null(json, "max_ns");
    }
    report_percentile(json, "p50_ns", round_trips, 0.5);
    report_percentile(json, "p90_ns", round_trips, 0.9);
    report_percentile(json, "p99_ns", round_trips, 0.99);
    report_percentile(json, "p999_ns", round_trips, 0.999);
    report_curve(json, round_trips);
    json_end_object(json);
}
