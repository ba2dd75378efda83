#include "session/window.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "clock.h"
#include "session/perf_control.h"
#include "simulated/window_mark.h"

/* The readings of a snapshot count as simultaneous if they took at most SNAPSHOT_NS plus
 * SNAPSHOT_WORKER_NS per worker. Otherwise the main thread was delayed meanwhile, and it reads
 * again, up to MAX_SNAPSHOTS times in all. */
#define SNAPSHOT_NS (100 * NS_PER_US)
#define SNAPSHOT_WORKER_NS NS_PER_US
#define MAX_SNAPSHOTS 4

int window_allocate(struct window *window, size_t n_workers, struct failure *failure)
{
    struct snapshot *snapshots[] = {&window->start, &window->half, &window->end, &window->total};
    for (size_t i = 0; i < sizeof(snapshots) / sizeof(snapshots[0]); i++) {
        snapshots[i]->per_worker = calloc(n_workers, sizeof(*snapshots[i]->per_worker));
        if (snapshots[i]->per_worker == NULL) {
            return fail(failure, ENOMEM, "window: memory for %zu workers", n_workers);
        }
    }
    return 0;
}

void window_free(struct window *window)
{
    free(window->start.per_worker);
    free(window->half.per_worker);
    free(window->end.per_worker);
    free(window->total.per_worker);
}

static uint64_t timeval_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_usec * NS_PER_US;
}

/* Reads the time and the counters first: they change fastest. */
static int read_once(struct snapshot *snapshot, const struct crew *crew, struct failure *failure)
{
    snapshot->at_ns = clock_now_ns();
    snapshot->sum = (struct counter_values){0};
    for (size_t i = 0; i < crew->n_workers; i++) {
        if (!counters_read(&crew->workers[i].counters, &snapshot->per_worker[i])) {
            return fail(failure, EAGAIN, "window: the counters of worker %zu keep changing", i);
        }
        for (size_t which = 0; which < N_COUNTERS; which++) {
            snapshot->sum.value[which] += snapshot->per_worker[i].value[which];
        }
    }
    snapshot->cpu_ns = clock_process_cpu_ns();
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) {
        return fail(failure, errno, "window: getrusage");
    }
    snapshot->user_ns = timeval_ns(usage.ru_utime);
    snapshot->system_ns = timeval_ns(usage.ru_stime);
    snapshot->voluntary_switches = (uint64_t)usage.ru_nvcsw;
    snapshot->involuntary_switches = (uint64_t)usage.ru_nivcsw;
    snapshot->minor_faults = (uint64_t)usage.ru_minflt;
    snapshot->major_faults = (uint64_t)usage.ru_majflt;
    return 0;
}

int window_read(struct snapshot *snapshot, const struct crew *crew, struct failure *failure)
{
    const uint64_t longest_ns = SNAPSHOT_NS + crew->n_workers * SNAPSHOT_WORKER_NS;
    int error = 0;
    bool is_one_moment = false;
    for (size_t i = 0; error == 0 && i < MAX_SNAPSHOTS && !is_one_moment; i++) {
        error = read_once(snapshot, crew, failure);
        is_one_moment = clock_now_ns() - snapshot->at_ns <= longest_ns;
    }
    return error;
}

/* Sums up the retransmits of all connections. Each reading may have to wait until the connection's
 * thread is out of the kernel, so it delays neither edge of the window: it comes after both. */
static int read_retransmits(uint64_t *n_segments, const struct crew *crew, struct failure *failure)
{
    const bool is_stream = crew->options->transport == TRANSPORT_STREAM;
    int error = 0;
    *n_segments = 0;
    for (size_t i = 0; error == 0 && is_stream && i < crew->n_workers; i++) {
        uint64_t n = 0;
        error = socket_facts_read_retransmits(crew->workers[i].fd, &n, failure);
        *n_segments += n;
    }
    return error;
}

int window_sleep_until(uint64_t moment_ns, struct crew *crew, struct control *control,
                       struct failure *failure)
{
    while (clock_now_ns() < moment_ns) {
        struct pollfd poll_fds[2] = {{0}, {.fd = crew->news_fd, .events = POLLIN}};
        const int n_ready = control_wait(control, poll_fds, 2, moment_ns, failure);
        if (n_ready < 0) {
            return n_ready;
        }
        if (poll_fds[1].revents != 0) {
            const int error = crew_error(crew, failure);
            if (error != 0 || clock_now_ns() < crew->planned_end_ns) {
                return error != 0 ? error : fail(failure, 0, "window: a worker finished too early");
            }
            /* We slept past the window's end and the cool-down; the snapshot's time shows it. */
            return 0;
        }
    }
    return 0;
}

int window_await_news(struct crew *crew, struct control *control, uint64_t deadline_ns, size_t *n,
                      struct failure *failure)
{
    struct pollfd poll_fds[2] = {{0}, {.fd = crew->news_fd, .events = POLLIN}};
    size_t n_news = 0;
    const int n_ready = control_wait(control, poll_fds, 2, deadline_ns, failure);
    const int error = n_ready < 0 ? n_ready : crew_take_news(crew, &n_news, failure);
    *n += n_news;
    return error != 0 ? error : crew_error(crew, failure);
}

static struct perf_control perf_of(const struct crew *crew)
{
    return (struct perf_control){
        .control_fd = crew->options->perf_control_fd,
        .ack_fd = crew->options->perf_ack_fd,
    };
}

int window_begin(struct window *window, struct crew *crew, struct failure *failure)
{
    const struct perf_control perf = perf_of(crew);
    const uint64_t timeout_ns = crew->options->io_timeout_ms * NS_PER_MS;
    const uint64_t asked_ns = clock_now_ns();
    int error = perf_command(&perf, "enable", timeout_ns, failure);
    if (error == 0) {
        error = window_read(&window->start, crew, failure);
        window->perf_enable_ns = window->start.at_ns - asked_ns;
    }
    if (error == 0) {
        error = read_retransmits(&window->retransmits_before, crew, failure);
    }
    WINDOW_MARK(MARK_WINDOW_BEGIN);
    return error;
}

int window_end(struct window *window, struct crew *crew, struct failure *failure)
{
    const struct perf_control perf = perf_of(crew);
    const uint64_t timeout_ns = crew->options->io_timeout_ms * NS_PER_MS;
    WINDOW_MARK(MARK_WINDOW_END);
    int error = window_read(&window->end, crew, failure);
    if (error == 0) {
        error = perf_command(&perf, "disable", timeout_ns, failure);
        window->perf_disable_ns = clock_now_ns() - window->end.at_ns;
    }
    if (error == 0) {
        error = read_retransmits(&window->retransmits_after, crew, failure);
    }
    if (error == 0) {
        error = socket_facts_read(crew->workers[0].fd, &window->facts, failure);
    }
    return error;
}

int window_measure(struct window *window, struct crew *crew, struct control *control,
                   struct failure *failure)
{
    crew->planned_start_ns = window->planned_start_ns;
    atomic_store(&crew->planned_end_ns, window->planned_end_ns);
    crew_open_gate(crew);
    int error = window_sleep_until(window->planned_start_ns, crew, control, failure);
    if (error == 0) {
        error = window_begin(window, crew, failure);
        crew_set_phase(crew, PHASE_WINDOW); /* from now on samples count */
    }
    if (error == 0) {
        const uint64_t half_ns =
            window->planned_start_ns + (window->planned_end_ns - window->planned_start_ns) / 2;
        error = window_sleep_until(half_ns, crew, control, failure);
    }
    if (error == 0) {
        error = window_read(&window->half, crew, failure);
    }
    if (error == 0) {
        error = window_sleep_until(window->planned_end_ns, crew, control, failure);
    }
    if (error == 0) {
        crew_set_phase(crew, PHASE_WARM_UP); /* traffic continues, samples no longer count */
        error = window_end(window, crew, failure);
    }
    return error;
}

int window_close(struct window *window, struct crew *crew, struct control *control,
                 struct failure *failure)
{
    /* The other side's last reading must still see traffic, however late its main thread is woken;
     * one later than this invalidates the measurement (drivers/programs/verdict.py). */
    const uint64_t stop_ns =
        window->planned_end_ns + (window->planned_end_ns - window->planned_start_ns) / 2;
    /* A worker bounds each of its waits by the timeout: the last call, the drain, the goodbye. */
    const uint64_t deadline_ns = stop_ns + 3 * crew->options->io_timeout_ms * NS_PER_MS;
    size_t n_finished = 0;
    int error = 0;
    while (error == 0 && n_finished < crew->n_workers) {
        bool stop = false;
        const uint64_t now_ns = clock_now_ns();
        if (now_ns >= deadline_ns) {
            return fail(failure, ETIMEDOUT, "window: %zu of %zu workers have finished", n_finished,
                        crew->n_workers);
        }
        error = control_read_stop(control, &stop, failure);
        stop = stop || now_ns >= stop_ns;
        if (error == 0 && stop) {
            crew_set_phase(crew, PHASE_STOP);
        }
        if (error == 0) {
            error = window_await_news(crew, control, stop ? deadline_ns : stop_ns, &n_finished,
                                      failure);
        }
    }
    if (error == 0) {
        error = window_read(&window->total, crew, failure);
    }
    return error != 0 ? error : crew_join(crew, failure);
}
