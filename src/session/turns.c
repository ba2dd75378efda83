#include "session/turns.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "clock.h"

/* How often to check whether all has arrived: the longest delay in reporting a turn's end. */
#define LOOK_NS (50 * NS_PER_US)

/* A receiver of datagrams stops waiting after this long without any: some were lost. */
#define SILENCE_NS (5 * NS_PER_MS)

/* Lets a moment pass between two looks, unless the orchestrator is gone. Returns 0 or -errno. */
static int rest(struct session *session, struct failure *failure)
{
    struct pollfd poll_fds[1];
    const int n_ready =
        control_wait(&session->control, poll_fds, 1, clock_now_ns() + LOOK_NS, failure);
    return n_ready < 0 ? n_ready : 0;
}

/* Waits until all workers sleep. */
static int await_pause(struct session *session, struct failure *failure)
{
    struct crew *crew = &session->crew;
    const uint64_t deadline_ns = clock_now_ns() + 2 * session->options->io_timeout_ms * NS_PER_MS;
    size_t n_paused = 0;
    int error = 0;
    while (error == 0 && n_paused < crew->n_workers) {
        error = clock_now_ns() < deadline_ns
                    ? window_await_news(crew, &session->control, deadline_ns, &n_paused, failure)
                    : fail(failure, ETIMEDOUT, "turns: %zu of %zu workers have paused", n_paused,
                           crew->n_workers);
    }
    return error;
}

/* Waits until the other side's kernel has acknowledged all that was sent. */
static int await_acknowledged(struct session *session, struct failure *failure)
{
    const uint64_t deadline_ns = clock_now_ns() + session->options->io_timeout_ms * NS_PER_MS;
    int error = 0;
    for (size_t i = 0; error == 0 && i < session->options->n_threads; i++) {
        int n_bytes = 0;
        while (error == 0 && ioctl(session->fds[i], SIOCOUTQ, &n_bytes) == 0 && n_bytes > 0) {
            error = clock_now_ns() < deadline_ns
                        ? rest(session, failure)
                        : fail(failure, ETIMEDOUT,
                               "turns: %d bytes of connection %zu not acknowledged", n_bytes, i);
        }
    }
    return error;
}

/* Sends for this long, and reports when that was and the total sent since the start. */
static int send_for(struct session *session, uint64_t length_ns, bool counts,
                    struct failure *failure)
{
    struct crew *crew = &session->crew;
    struct snapshot *now = &session->window.total; /* free to use until the end */
    const uint64_t start_ns = clock_now_ns();
    crew_set_phase(crew, counts ? PHASE_WINDOW : PHASE_WARM_UP);
    int error = window_sleep_until(start_ns + length_ns, crew, &session->control, failure);
    crew_set_phase(crew, PHASE_PAUSE);
    if (error == 0) {
        error = await_pause(session, failure);
    }
    if (error == 0) {
        error = window_read(now, crew, failure);
    }
    return error != 0
               ? error
               : control_say(&session->control, failure, "sent %" PRIu64 " %" PRIu64 " %" PRIu64,
                             start_ns, now->at_ns, now->sum.value[COUNT_BYTES]);
}

/* Waits until the kernel holds nothing that was sent, and reports the CPU time since the start. */
static int drain(struct session *session, struct failure *failure)
{
    crew_set_phase(&session->crew, PHASE_DRAIN);
    int error = await_pause(session, failure);
    if (error == 0) {
        error = await_acknowledged(session, failure);
    }
    return error != 0 ? error
                      : control_say(&session->control, failure, "drained %" PRIu64,
                                    clock_process_cpu_ns());
}

/*
 * Makes the kernel acknowledge at once instead of delaying for 40 ms: that takes an empty receive
 * queue, so calls that sleep until more has arrived (SO_RCVLOWAT) are woken.
 */
static int acknowledge(const struct session *session, struct failure *failure)
{
    const int least[] = {1, 1, (int)session->options->receive_lowat_bytes};
    const struct {
        int level;
        int name;
    } set[] = {{IPPROTO_TCP, TCP_QUICKACK}, {SOL_SOCKET, SO_RCVLOWAT}, {SOL_SOCKET, SO_RCVLOWAT}};
    const size_t n_set = least[2] > 0 ? 3 : 1;
    for (size_t i = 0; i < session->options->n_threads * n_set; i++) {
        const size_t which = i % n_set;
        if (setsockopt(session->fds[i / n_set], set[which].level, set[which].name, &least[which],
                       sizeof(least[which])) != 0) {
            return fail(failure, errno, "turns: setsockopt(%s)",
                        which == 0 ? "TCP_QUICKACK" : "SO_RCVLOWAT");
        }
    }
    return 0;
}

/*
 * Waits until this many bytes have arrived since the start, and reports since when they have. The
 * last bytes may wait for more (SO_RCVLOWAT): part of them taken by a call still in progress, and
 * as many in the kernel.
 */
static int receive_until(struct session *session, uint64_t n_bytes, struct failure *failure)
{
    struct crew *crew = &session->crew;
    struct snapshot *now = &session->window.total;
    const bool is_stream = session->options->transport == TRANSPORT_STREAM;
    /* an answer acknowledges its request */
    const bool is_answered = session->options->mode == MODE_REQUEST_RESPONSE;
    const uint64_t patience_ns =
        is_stream ? session->options->io_timeout_ms * NS_PER_MS : SILENCE_NS;
    const uint64_t uncounted_bytes =
        2 * session->options->n_threads * session->options->receive_lowat_bytes;
    uint64_t last_bytes = 0;
    uint64_t last_ns = clock_now_ns();
    size_t n_looks = 0;
    int error = window_read(now, crew, failure);
    while (error == 0 && now->sum.value[COUNT_BYTES] + uncounted_bytes < n_bytes) {
        if (now->sum.value[COUNT_BYTES] > last_bytes) {
            last_bytes = now->sum.value[COUNT_BYTES];
            last_ns = now->at_ns;
        } else if (now->at_ns - last_ns >= patience_ns) {
            if (!is_stream) {
                break;
            }
            return fail(failure, ETIMEDOUT, "turns: %" PRIu64 " of %" PRIu64 " bytes have arrived",
                        last_bytes, n_bytes);
        }
        n_looks++;
        error = rest(session, failure);
        if (error == 0) {
            error = crew_error(crew, failure);
        }
        if (error == 0) {
            error = window_read(now, crew, failure);
        }
    }
    if (error == 0 && is_stream && !is_answered) {
        error = acknowledge(session, failure);
    }
    return error != 0 ? error
                      : control_say(&session->control, failure,
                                    "received %zu %" PRIu64 " %" PRIu64 " %" PRIu64, n_looks,
                                    now->at_ns, now->sum.value[COUNT_BYTES], now->cpu_ns);
}

int turns_take(struct session *session, const char *line, struct failure *failure)
{
    struct crew *crew = &session->crew;
    struct window *window = &session->window;
    const uint64_t timeout_ns = session->options->io_timeout_ms * NS_PER_MS;
    char next[CONTROL_LINE_BYTES];
    bool counts = false;
    crew_set_phase(crew, PHASE_PAUSE);
    atomic_store(&crew->planned_end_ns, UINT64_MAX); /* nobody may end before we know when */
    crew_open_gate(crew);
    bool has_paused = false; /* a receiver sleeps in its calls */
    int error = 0;
    while (error == 0) {
        uint64_t n = 0;
        if (control_parse(line, "send", &n)) {
            error = has_paused ? 0 : await_pause(session, failure);
            has_paused = true;
            error = error != 0 ? error : send_for(session, n, counts, failure);
        } else if (control_parse(line, "receive", &n)) {
            error = receive_until(session, n, failure);
        } else if (strcmp(line, "drain") == 0) {
            error = drain(session, failure);
        } else if (strcmp(line, "begin") == 0) {
            counts = true;
            error = window_begin(window, crew, failure);
            error = error != 0 ? error : control_say(&session->control, failure, "begun");
        } else if (strcmp(line, "half") == 0) {
            error = window_read(&window->half, crew, failure);
            error = error != 0 ? error : control_say(&session->control, failure, "halved");
        } else if (strcmp(line, "end") == 0) {
            error = window_end(window, crew, failure);
            window->planned_start_ns = window->start.at_ns;
            window->planned_end_ns = window->end.at_ns;
            atomic_store(&crew->planned_end_ns, window->end.at_ns);
            return error;
        } else {
            return fail(failure, 0,
                        "control: got '%s', expected 'window START_NS END_NS' or a turn", line);
        }
        if (error == 0) {
            error =
                control_read_line(&session->control, clock_now_ns() + timeout_ns, next, failure);
            line = next;
        }
        if (error == 0) {
            error = crew_error(crew, failure);
        }
    }
    return error;
}
