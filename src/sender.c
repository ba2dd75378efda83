/* Sends messages by one strategy over N connections and tells what it did in the window. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "build_info.h"
#include "clock.h"
#include "contents.h"
#include "datagram.h"
#include "greeting.h"
#include "net.h"
#include "options.h"
#include "report.h"
#include "session.h"
#include "stats.h"
#include "strategy.h"

#define PROGRAM "sender"

/* The work of one sending thread. */
struct sending {
    struct stream stream;
    uint64_t ring_messages; /* how many there are, and the memory they take */
    uint64_t ring_bytes;
    struct histogram service_time;
};

/* The summed service times, and how many messages there were to one sample. */
struct service_times {
    struct histogram histogram;
    size_t sample_every;
};

/*
 * One message in how many is timed. Reading the clock twice costs some 50 ns: more than 1 % of a
 * small message, nothing beside a large one. Odd numbers, so that the samples do not fall in step
 * with something that the kernel does every 2^n messages.
 */
static size_t choose_sample_every(const struct options *options)
{
    if (options->sample_every != SAMPLE_BY_SIZE) {
        return options->sample_every;
    }
    if (options->msg_bytes <= 4096) {
        return 31;
    }
    return options->msg_bytes <= 65536 ? 7 : 1;
}

static int prepare(struct worker *worker)
{
    const struct options *options = worker->crew->options;
    struct sending *sending = calloc(1, sizeof(*sending));
    worker->work = sending;
    if (sending == NULL) {
        return fail(&worker->failure, ENOMEM, "memory for a histogram");
    }
    struct stream *stream = &sending->stream;
    *stream = (struct stream){
        .fd = worker->fd,
        .transport = options->transport,
        .msg_bytes = options->msg_bytes,
        .batch = options->batch,
        .timeout_ns = options->io_timeout_ms * NS_PER_MS,
        .counters = &worker->counters,
        .failure = &worker->failure,
        .connection = worker->index,
    };
    contents_choose(stream, options);
    const uint32_t n_in_flight = the_strategy.slots_in_flight != NULL
                                     ? the_strategy.slots_in_flight(stream)
                                     : (uint32_t)options->batch;
    /* Here, on the thread that sends: Linux gives memory from the node of the CPU that first
     * touches it. */
    if (ring_allocate(&stream->ring, options->msg_bytes, options->ring_bytes / options->n_threads,
                      n_in_flight) != 0) {
        return fail(&worker->failure, ENOMEM,
                    "ring of %zu bytes, at least %u messages of %zu bytes",
                    options->ring_bytes / options->n_threads, n_in_flight, options->msg_bytes);
    }
    sending->ring_messages = stream->ring.n_slots;
    sending->ring_bytes = ring_memory_bytes(&stream->ring, options->msg_bytes);
    return the_strategy.setup(stream);
}

/* Sends n batches, or fewer when told to stop. The only loop that matters. */
static int send_batches(struct worker *worker, struct stream *stream, size_t n)
{
    int error = 0;
    for (size_t i = 0; error == 0 && i < n && crew_phase(worker->crew) != PHASE_STOP; i++) {
        error = the_strategy.send_messages(stream);
        if (error == 0) {
            count(stream->counters, COUNT_MESSAGES, stream->batch);
        }
    }
    return error;
}

/* With samples: every so many calls one is timed. A batch counts as that many equal messages. */
static int send_sampled(struct worker *worker, struct sending *sending, size_t sample_every)
{
    int error = 0;
    while (error == 0 && crew_phase(worker->crew) != PHASE_STOP) {
        error = send_batches(worker, &sending->stream, sample_every - 1);
        if (error != 0) {
            return error;
        }
        const uint64_t began_ns = clock_now_ns();
        error = send_batches(worker, &sending->stream, 1);
        const uint64_t ended_ns = clock_now_ns();
        if (error == 0 && crew_phase(worker->crew) == PHASE_WINDOW) {
            histogram_record(&sending->service_time, (ended_ns - began_ns) / sending->stream.batch);
        }
    }
    return error;
}

/* Without: what the samples cost is the difference. */
static int send_unsampled(struct worker *worker, struct sending *sending)
{
    return send_batches(worker, &sending->stream, SIZE_MAX);
}

static int say_goodbye(struct worker *worker)
{
    const struct options *options = worker->crew->options;
    if (options->sink) {
        return 0; /* nobody is there */
    }
    if (options->transport == TRANSPORT_DATAGRAM) {
        return datagram_say_goodbye(worker->fd, options, worker->index, &worker->failure);
    }
    count(&worker->counters, COUNT_OTHER_CALLS, 1);
    if (shutdown(worker->fd, SHUT_WR) != 0) {
        return fail(&worker->failure, errno, "shutdown of fd %d", worker->fd);
    }
    return 0;
}

static int work(struct worker *worker)
{
    struct sending *sending = worker->work;
    const size_t sample_every = choose_sample_every(worker->crew->options);
    int error = sample_every > 0 ? send_sampled(worker, sending, sample_every)
                                 : send_unsampled(worker, sending);
    if (error == 0 && the_strategy.drain != NULL) {
        error = the_strategy.drain(&sending->stream);
    }
    if (error != 0) {
        return error;
    }
    return say_goodbye(worker);
}

/* The sending itself stays, for its service times. */
static void clean_up(struct worker *worker)
{
    struct sending *sending = worker->work;
    if (sending != NULL) {
        the_strategy.teardown(&sending->stream);
        ring_free(&sending->stream.ring);
    }
}

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

static void report_zero_copy(struct json *json, const struct window *window)
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
    if (!the_strategy.zero_copy) {
        json_null(json, "zero_copy");
        return;
    }
    json_begin_object(json, "zero_copy");
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        json_uint(json, NAMES[i].total, window->total.sum.value[NAMES[i].which]);
        json_uint(json, NAMES[i].in_window, window_growth(window, NAMES[i].which));
    }
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

static void report_service_time(struct json *json, const struct service_times *times)
{
    const struct histogram *histogram = &times->histogram;
    json_begin_object(json, "service_time");
    json_uint(json, "sample_every", times->sample_every);
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

static int report(const struct session *session, const struct service_times *times,
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
    report_zero_copy(&json, &session->window);
    report_service_time(&json, times);
    report_process(&json, &session->window);
    report_threads(&json, ROLE_SENDER, &session->crew, &session->window);
    json_end_object(&json);
    const int error = json_finish(&json);
    return error != 0 ? fail(failure, -error, "write to stdout") : 0;
}

static int run(const struct options *options, struct failure *failure)
{
    static const struct crew_duty DUTY = {prepare, work, clean_up};
    struct session session;
    struct service_times times = {.sample_every = choose_sample_every(options)};
    int error = session_open(&session, options, failure);
    if (error == 0) {
        error = gather_connections(&session, failure);
    }
    if (error == 0) {
        error = session_run(&session, &DUTY, failure);
    }
    if (error == 0) {
        for (size_t i = 0; i < session.crew.n_workers; i++) {
            const struct sending *sending = session.crew.workers[i].work;
            histogram_merge(&times.histogram, &sending->service_time);
        }
        error = report(&session, &times, failure);
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
