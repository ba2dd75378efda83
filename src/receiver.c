/* Connects to a sender, receives until it says goodbye, and reports what arrived in the measured
 * window. */
#include "receiver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "clock.h"
#include "connections/datagram.h"
#include "connections/greeting.h"
#include "connections/net.h"
#include "program/json.h"
#include "program/options.h"
#include "program/program.h"
#include "round_trips/answers.h"
#include "session/session.h"
#include "simulated/window_mark.h"

static int set_up(struct inflow *inflow)
{
    if (the_receiver.state_bytes > 0) {
        inflow->state = calloc(1, the_receiver.state_bytes);
        if (inflow->state == NULL) {
            return fail(inflow->failure, ENOMEM, "%s: state", the_receiver.name);
        }
    }
    return the_receiver.setup(inflow);
}

static int prepare(struct worker *worker)
{
    const struct options *options = worker->crew->options;
    struct inflow *inflow = calloc(1, sizeof(*inflow));
    worker->work = inflow;
    if (inflow == NULL) {
        return fail(&worker->failure, ENOMEM, "memory for a connection");
    }
    *inflow = (struct inflow){
        .fd = worker->fd,
        .transport = options->transport,
        .msg_bytes = options->msg_bytes,
        .read_bytes = options->read_bytes,
        .timeout_ns = options->io_timeout_ms * NS_PER_MS,
        .connection = worker->index,
        .counters = &worker->counters,
        .failure = &worker->failure,
        .verify = options->verify,
        .token = options->token,
    };
    return options->mode == MODE_STREAM ? set_up(inflow) : 0;
}

/* The sender's goodbye must not come before the window's end. */
static int take_leave(struct worker *worker, const struct inflow *inflow)
{
    if (clock_now_ns() < worker->crew->planned_end_ns) {
        return fail(&worker->failure, 0,
                    "connection %zu: the sender closed it before the end of the window",
                    worker->index);
    }
    if (inflow->wrong_bytes > 0) {
        return fail(&worker->failure, 0,
                    "connection %zu: %" PRIu64 " of %" PRIu64
                    " bytes differ from the pattern, the first at offset %" PRIu64,
                    worker->index, inflow->wrong_bytes, inflow->checked_bytes,
                    inflow->first_wrong_offset);
    }
    return inflow->transport == TRANSPORT_STREAM
               ? 0
               : datagram_answer_goodbye(worker->fd, inflow->token, worker->index,
                                         &worker->failure);
}

static int work(struct worker *worker)
{
    struct inflow *inflow = worker->work;
    WINDOW_MARK(MARK_RECEIVER);
    const int error = worker->crew->options->mode == MODE_STREAM ? the_receiver.receive_all(inflow)
                                                                 : answers_give(inflow);
    return error != 0 ? error : take_leave(worker, inflow);
}

/* The inflow itself stays, for its counts of checked bytes. */
static void clean_up(struct worker *worker)
{
    struct inflow *inflow = worker->work;
    if (inflow != NULL && inflow->state != NULL) {
        if (the_receiver.teardown != NULL) {
            the_receiver.teardown(inflow);
        }
        free(inflow->state);
    }
}

/* Makes all connections, and greets on each at once. */
static int make_connections(struct session *session, struct failure *failure)
{
    const struct options *options = session->options;
    for (size_t i = 0; i < options->n_threads; i++) {
        const int fd = net_connect(options, &session->control, failure);
        if (fd < 0) {
            return fd;
        }
        session->fds[i] = fd;
        const int error = options->transport == TRANSPORT_STREAM
                              ? greeting_send(fd, options, i, failure)
                              : datagram_say_hello(fd, options, i, &session->control, failure);
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
        const struct inflow *inflow = session->crew.workers[i].work;
        checked_bytes += inflow->checked_bytes;
    }
    /* Wrong bytes end in a failure, not in a report. */
    json_begin_object(json, "verify");
    json_uint(json, "checked_bytes", checked_bytes);
    json_uint(json, "wrong_bytes", 0);
    json_null(json, "first_wrong_offset");
    json_end_object(json);
}

static int check_receiver(const struct options *options, struct failure *failure)
{
    if ((the_receiver.transports & options->transport) == 0) {
        return fail(failure, 0, "--transport: %s cannot receive %ss", the_receiver.name,
                    transport_name(options->transport));
    }
    if (options->verify && !the_receiver.verifies) {
        return fail(failure, 0, "--verify: %s does not see the bytes", the_receiver.name);
    }
    if (options->mode == MODE_REQUEST_RESPONSE && !the_receiver.answers) {
        return fail(failure, 0, "--mode: %s cannot answer requests", the_receiver.name);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct crew_duty DUTY = {prepare, work, clean_up};
    const struct program receiver = {
        .name = "receiver",
        .role = ROLE_RECEIVER,
        .part_kind = "receiver",
        .part = the_receiver.name,
        .part_summary = the_receiver.summary,
        .check = check_receiver,
        .probe = the_receiver.probe,
        .connect = make_connections,
        .duty = &DUTY,
        .report = report_verify,
    };
    return program_main(&receiver, argc, argv);
}
