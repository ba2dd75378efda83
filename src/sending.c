#include "sending.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "clock.h"
#include "connections/datagram.h"
#include "messages/contents.h"
#include "round_trips/requests.h"

/*
 * One message in how many is timed. Reading the clock twice costs some 50 ns: more than 1 % of a
 * small message, nothing beside a large one. Odd numbers, so that the samples do not fall in step
 * with something that the kernel does every 2^n messages.
 */
size_t sending_sample_every(const struct options *options)
{
    if (options->mode == MODE_REQUEST_RESPONSE) {
        return 0; /* its round trips are timed, each of them */
    }
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
    const size_t sample_every = sending_sample_every(worker->crew->options);
    int error = 0;
    if (worker->crew->options->mode == MODE_REQUEST_RESPONSE) {
        error = requests_make(worker, &sending->stream, &sending->round_trip);
    } else {
        error = sample_every > 0 ? send_sampled(worker, sending, sample_every)
                                 : send_unsampled(worker, sending);
    }
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

struct crew_duty sending_duty(void)
{
    return (struct crew_duty){prepare, work, clean_up};
}
