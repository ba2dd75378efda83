#include "sending.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "clock.h"
#include "connections/datagram.h"
#include "messages/contents.h"
#include "round_trips/requests.h"
#include "simulated/window_mark.h"

/* With counted messages: how long after an edge of the window its readings are done. */
#define EDGE_NS (2 * NS_PER_MS)

/* At a rate: the shortest sleep, since each costs a wake-up; the longest sleep without checking for
 * the stop; and how much delay a thread makes up for. */
#define PAUSE_NS (50 * NS_PER_US)
#define NAP_NS (20 * NS_PER_MS)
#define LONGEST_LAG_NS (10 * NS_PER_MS)

/*
 * One in this many messages is timed. Reading the clock twice costs some 50 ns: more than 1 % of a
 * small message, nothing beside a large one. The numbers are odd, so that samples do not fall in
 * step with anything that the kernel does every 2^n messages.
 */
size_t sending_sample_every(const struct options *options)
{
    if (options->mode == MODE_REQUEST_RESPONSE) {
        return 0; /* each round trip is timed */
    }
    if (options->sample_every != SAMPLE_BY_SIZE) {
        return options->sample_every;
    }
    if (options->msg_bytes <= 4096) {
        return 31;
    }
    return options->msg_bytes <= 65536 ? 7 : 1;
}

static int set_up(struct stream *stream)
{
    if (the_strategy.state_bytes > 0) {
        stream->state = calloc(1, the_strategy.state_bytes);
        if (stream->state == NULL) {
            return fail(stream->failure, ENOMEM, "%s: state", the_strategy.name);
        }
    }
    return the_strategy.setup != NULL ? the_strategy.setup(stream) : 0;
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
    /* Here, on the sending thread: Linux allocates memory on the node of the CPU that touches it
     * first. */
    if (ring_allocate(&stream->ring, options->msg_bytes, options->ring_bytes / options->n_threads,
                      n_in_flight) != 0) {
        return fail(&worker->failure, ENOMEM,
                    "ring of %zu bytes, at least %u messages of %zu bytes",
                    options->ring_bytes / options->n_threads, n_in_flight, options->msg_bytes);
    }
    sending->ring_messages = stream->ring.n_slots;
    sending->ring_bytes = ring_memory_bytes(&stream->ring, options->msg_bytes);
    return set_up(stream);
}

static inline int send_batch(struct stream *stream)
{
    const int error = the_strategy.send_messages(stream);
    if (error == 0) {
        count(stream->counters, COUNT_MESSAGES, stream->batch);
    }
    return error;
}

/* Sends n batches, or fewer if told to stop. The only loop that matters. */
static int send_batches(struct worker *worker, struct stream *stream, size_t n)
{
    int error = 0;
    for (size_t i = 0; error == 0 && i < n && crew_is_sending(worker->crew); i++) {
        error = send_batch(stream);
    }
    return error;
}

/*
 * Sends and times one batch, which counts as that many equal messages. It belongs to the window in
 * which it began: most of those under way at the end of a turn are slow ones.
 */
static int send_timed(struct worker *worker, struct sending *sending)
{
    struct stream *stream = &sending->stream;
    const enum phase phase = crew_phase(worker->crew);
    if (phase >= PHASE_PAUSE) {
        return 0;
    }
    const uint64_t began_ns = clock_now_ns();
    const int error = send_batch(stream);
    const uint64_t ended_ns = clock_now_ns();
    if (error == 0 && phase == PHASE_WINDOW) {
        histogram_record(&sending->service_time, (ended_ns - began_ns) / stream->batch);
    }
    return error;
}

/* With samples: one in this many calls is timed. */
static int send_sampled(struct worker *worker, struct sending *sending, size_t sample_every)
{
    int error = 0;
    while (error == 0 && crew_is_sending(worker->crew)) {
        error = send_batches(worker, &sending->stream, sample_every - 1);
        if (error == 0) {
            error = send_timed(worker, sending);
        }
    }
    return error;
}

/* Without samples: the difference is their cost. */
static int send_unsampled(struct worker *worker, struct sending *sending)
{
    return send_batches(worker, &sending->stream, SIZE_MAX);
}

/* Sleeps until the next message is due, within the bounds above. */
static void pause_for(double due_in_ns, uint64_t now_ns)
{
    const uint64_t wanted_ns = due_in_ns < (double)NAP_NS ? (uint64_t)due_in_ns : NAP_NS;
    clock_sleep_until(now_ns + (wanted_ns > PAUSE_NS ? wanted_ns : PAUSE_NS));
}

/*
 * At a rate: sends at once what is due, then sleeps for a moment. It makes up for a sleep, but not
 * for a time in which it could not keep up.
 */
static int send_paced(struct worker *worker, struct sending *sending, size_t sample_every)
{
    const struct options *options = worker->crew->options;
    const double bytes_per_s = (double)options->rate_bytes_per_s / (double)options->n_threads;
    const double batch_bytes = (double)options->msg_bytes * (double)options->batch;
    const double batch_ns = batch_bytes / bytes_per_s * (double)NS_PER_S;
    uint64_t began_ns = clock_now_ns();
    uint64_t n_sent = 0; /* since then */
    size_t until_timed = sample_every;
    int error = 0;
    while (error == 0 && crew_is_sending(worker->crew)) {
        const uint64_t now_ns = clock_now_ns();
        double behind_ns = (double)(now_ns - began_ns) - (double)n_sent * batch_ns;
        if (behind_ns > (double)LONGEST_LAG_NS) {
            behind_ns = (double)LONGEST_LAG_NS;
            began_ns = now_ns - LONGEST_LAG_NS;
            n_sent = 0;
        }
        if (behind_ns < 0) {
            pause_for(-behind_ns, now_ns);
            count(&worker->counters, COUNT_OTHER_CALLS, 1);
        } else if (until_timed == 1) {
            error = send_timed(worker, sending);
            until_timed = sample_every;
            n_sent++;
        } else {
            size_t n = 1 + (size_t)(behind_ns / batch_ns);
            n = until_timed > 0 && n >= until_timed ? until_timed - 1 : n;
            error = send_batches(worker, &sending->stream, n);
            until_timed -= until_timed > 0 ? n : 0;
            n_sent += n;
        }
    }
    return error;
}

/* Sleeps until the readings at the window's start have been taken. */
static void await_window(const struct crew *crew)
{
    clock_sleep_until(crew->planned_start_ns + EDGE_NS);
    while (crew_phase(crew) == PHASE_WARM_UP) { /* the main thread is woken late */
        clock_sleep_until(clock_now_ns() + EDGE_NS);
    }
}

/*
 * Sends warmup_messages before the window and counted_messages within it, and nothing around its
 * edges, so that what is counted between these belongs to whole messages, up to the last work on
 * them.
 */
static int send_counted(struct worker *worker, struct stream *stream)
{
    const struct crew *crew = worker->crew;
    const struct options *options = crew->options;
    int error = send_batches(worker, stream, options->warmup_messages / options->batch);
    if (error != 0) {
        return error;
    }
    if (clock_now_ns() >= crew->planned_start_ns) {
        return fail(&worker->failure, 0,
                    "--warmup-messages: the window began before all were sent");
    }
    await_window(crew);
    error = send_batches(worker, stream, options->counted_messages / options->batch);
    if (error != 0) {
        return error;
    }
    if (clock_now_ns() >= crew->planned_end_ns) {
        return fail(&worker->failure, 0,
                    "--counted-messages: the window ended before all were sent");
    }
    clock_sleep_until(crew->planned_end_ns + EDGE_NS);
    return 0;
}

static int say_goodbye(struct worker *worker)
{
    const struct options *options = worker->crew->options;
    if (options->sink) {
        return 0; /* there is no receiver */
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

/* Sends until a pause or the end. */
static int take_turn(struct worker *worker)
{
    struct sending *sending = worker->work;
    const struct options *options = worker->crew->options;
    const size_t sample_every = sending_sample_every(options);
    int error = 0;
    if (!crew_is_sending(worker->crew)) {
        return 0;
    }
    if (options->mode == MODE_REQUEST_RESPONSE) {
        error = requests_make(worker, &sending->stream, &sending->round_trip);
    } else if (options->counted_messages > 0) {
        error = send_counted(worker, &sending->stream);
    } else if (options->rate_bytes_per_s > 0) {
        error = send_paced(worker, sending, sample_every);
    } else {
        error = sample_every > 0 ? send_sampled(worker, sending, sample_every)
                                 : send_unsampled(worker, sending);
    }
    return error;
}

static int work(struct worker *worker)
{
    struct sending *sending = worker->work;
    int error = 0;
    WINDOW_MARK(MARK_SENDER);
    do {
        error = take_turn(worker);
        if (error == 0 && the_strategy.drain != NULL && crew_phase(worker->crew) != PHASE_PAUSE) {
            error = the_strategy.drain(&sending->stream);
        }
    } while (error == 0 && crew_pause(worker->crew));
    return error != 0 ? error : say_goodbye(worker);
}

/* The sending itself stays, for its service times. */
static void clean_up(struct worker *worker)
{
    struct sending *sending = worker->work;
    if (sending != NULL) {
        struct stream *stream = &sending->stream;
        if (stream->state != NULL && the_strategy.teardown != NULL) {
            the_strategy.teardown(stream);
        }
        free(stream->state);
        ring_free(&stream->ring);
    }
}

struct crew_duty sending_duty(void)
{
    return (struct crew_duty){prepare, work, clean_up};
}
