#include "session/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "clock.h"
#include "session/turns.h"

/* prctl(2): the kernel may wake a sleeper late by this much to save power; default 50000. */
#define TIMER_SLACK_NS 1UL

int session_open(struct session *session, const struct options *options, struct failure *failure)
{
    *session = (struct session){
        .options = options,
        .control = {.fd = options->control_fd},
    };
    /* If perf has died, write must fail rather than end this program. */
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR) {
        return fail(failure, errno, "session: signal(SIGPIPE)");
    }
    session->fds = malloc(options->n_threads * sizeof(*session->fds));
    if (session->fds == NULL) {
        return fail(failure, ENOMEM, "session: memory for %zu connections", options->n_threads);
    }
    for (size_t i = 0; i < options->n_threads; i++) {
        session->fds[i] = NO_FD;
    }
    return window_allocate(&session->window, options->n_threads, failure);
}

static int measure(struct session *session, struct failure *failure)
{
    struct window *window = &session->window;
    const uint64_t timeout_ns = session->options->io_timeout_ms * NS_PER_MS;
    char line[CONTROL_LINE_BYTES];
    if (prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0) != 0) {
        return fail(failure, errno, "session: prctl(PR_SET_TIMERSLACK)");
    }
    int error = control_say(&session->control, failure, "ready");
    if (error == 0) {
        error = control_read_line(&session->control, clock_now_ns() + timeout_ns, line, failure);
    }
    if (error == 0) {
        error = control_parse_window(line, &window->planned_start_ns, &window->planned_end_ns)
                    ? window_measure(window, &session->crew, &session->control, failure)
                    : turns_take(session, line, failure);
    }
    if (error == 0) {
        error = control_say(&session->control, failure, "measured");
    }
    if (error == 0) {
        error = window_close(window, &session->crew, &session->control, failure);
    }
    return error;
}

int session_run(struct session *session, const struct crew_duty *duty, struct failure *failure)
{
    const int error = crew_muster(&session->crew, session->options, duty, session->fds, failure);
    return error != 0 ? error : measure(session, failure);
}

void session_close(struct session *session)
{
    if (session->crew.workers != NULL) {
        crew_dismiss(&session->crew);
    }
    for (size_t i = 0; session->fds != NULL && i < session->options->n_threads; i++) {
        if (session->fds[i] != NO_FD) {
            (void)close(session->fds[i]); /* no data is left to lose */
        }
    }
    window_free(&session->window);
    free(session->fds);
}
