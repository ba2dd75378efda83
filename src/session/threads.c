#include "session/threads.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static void note_failure(struct worker *worker)
{
    struct crew *crew = worker->crew;
    (void)pthread_mutex_lock(&crew->mutex); /* fails only for an invalid mutex */
    if (worker->error != 0 && crew->first_failed == NULL) {
        crew->first_failed = worker;
    }
    (void)pthread_mutex_unlock(&crew->mutex);
}

/* Returns whether there is work to do after the gate. */
static bool wait_at_gate(struct crew *crew)
{
    (void)pthread_mutex_lock(&crew->mutex);
    crew->n_prepared++;
    (void)pthread_cond_broadcast(&crew->changed);
    while (!crew->gate_open) {
        (void)pthread_cond_wait(&crew->changed, &crew->mutex);
    }
    const bool aborted = crew->aborted;
    (void)pthread_mutex_unlock(&crew->mutex);
    return !aborted;
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct crew *crew = worker->crew;
    const uint64_t one = 1;
    worker->error = crew->duty->prepare(worker);
    note_failure(worker);
    /* Whatever the phase: a worker woken so late that all is over must still say goodbye, or wait
     * for the peer's. */
    if (wait_at_gate(crew) && worker->error == 0) {
        worker->cpu_start = sched_getcpu();
        worker->error = crew->duty->work(worker);
        worker->cpu_end = sched_getcpu();
        note_failure(worker);
    }
    crew->duty->clean_up(worker);
    /* An eventfd counts to 2^64 - 2, and main bounds its wait: nothing to check. */
    (void)!write(crew->news_fd, &one, sizeof(one));
    return NULL;
}

/* Creates a thread that runs on its CPU from the start. */
static int start_worker(struct worker *worker, const struct options *options,
                        struct failure *failure)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return fail(failure, error, "threads: pthread_attr_init");
    }
    if (options->n_cpus > 0) {
        const int cpu = options->cpus[worker->index % options->n_cpus];
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)cpu, &set);
        error = pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
        if (error == 0) {
            error = pthread_create(&worker->thread, &attributes, worker_main, worker);
        }
        if (error != 0) {
            (void)fail(failure, error, "threads: pthread_create on CPU %d", cpu);
        }
    } else {
        error = pthread_create(&worker->thread, &attributes, worker_main, worker);
        if (error != 0) {
            (void)fail(failure, error, "threads: pthread_create");
        }
    }
    (void)pthread_attr_destroy(&attributes); /* always succeeds on Linux (its manual page) */
    return -error;
}

static int prepare_crew(struct crew *crew, struct failure *failure)
{
    const size_t n_bytes = crew->n_workers * sizeof(*crew->workers);
    int error = pthread_mutex_init(&crew->mutex, NULL);
    if (error == 0) {
        error = pthread_cond_init(&crew->changed, NULL);
    }
    if (error != 0) {
        return fail(failure, error, "threads: mutex and condition");
    }
    crew->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (crew->news_fd < 0) {
        return fail(failure, errno, "threads: eventfd");
    }
    crew->workers = aligned_alloc(CACHE_LINE_PAIR_BYTES, n_bytes);
    if (crew->workers == NULL) {
        return fail(failure, ENOMEM, "threads: memory for %zu workers", crew->n_workers);
    }
    memset(crew->workers, 0, n_bytes);
    return 0;
}

int crew_muster(struct crew *crew, const struct options *options, const struct crew_duty *duty,
                const int *fds, struct failure *failure)
{
    *crew = (struct crew){
        .n_workers = options->n_threads,
        .options = options,
        .duty = duty,
        .news_fd = NO_FD,
    };
    int error = prepare_crew(crew, failure);
    for (size_t i = 0; error == 0 && i < crew->n_workers; i++) {
        struct worker *worker = &crew->workers[i];
        worker->crew = crew;
        worker->index = i;
        worker->fd = fds[i];
        worker->cpu_start = -1;
        worker->cpu_end = -1;
        error = start_worker(worker, options, failure);
        crew->n_started += error == 0 ? 1 : 0;
    }
    (void)pthread_mutex_lock(&crew->mutex);
    while (crew->n_prepared < crew->n_started) {
        (void)pthread_cond_wait(&crew->changed, &crew->mutex);
    }
    (void)pthread_mutex_unlock(&crew->mutex);
    return error != 0 ? error : crew_error(crew, failure);
}

void crew_open_gate(struct crew *crew)
{
    (void)pthread_mutex_lock(&crew->mutex);
    crew->gate_open = true;
    (void)pthread_cond_broadcast(&crew->changed);
    (void)pthread_mutex_unlock(&crew->mutex);
}

void crew_set_phase(struct crew *crew, enum phase phase)
{
    (void)pthread_mutex_lock(&crew->mutex);
    atomic_store_explicit(&crew->phase, phase, memory_order_relaxed);
    crew->n_phases++;
    (void)pthread_cond_broadcast(&crew->changed);
    (void)pthread_mutex_unlock(&crew->mutex);
}

bool crew_pause(struct crew *crew)
{
    const uint64_t one = 1;
    (void)pthread_mutex_lock(&crew->mutex);
    const enum phase phase = crew_phase(crew);
    const bool pauses = phase == PHASE_PAUSE || phase == PHASE_DRAIN;
    if (pauses) {
        /* counted, since a late one may find the same phase again, one turn later */
        const uint64_t seen = crew->n_phases;
        (void)!write(crew->news_fd, &one, sizeof(one)); /* as at a worker's end */
        while (crew->n_phases == seen) {
            (void)pthread_cond_wait(&crew->changed, &crew->mutex);
        }
    }
    (void)pthread_mutex_unlock(&crew->mutex);
    return pauses && crew_phase(crew) != PHASE_STOP;
}

int crew_error(struct crew *crew, struct failure *failure)
{
    int error = 0;
    (void)pthread_mutex_lock(&crew->mutex);
    if (crew->first_failed != NULL) {
        error = crew->first_failed->error;
        *failure = crew->first_failed->failure;
    }
    (void)pthread_mutex_unlock(&crew->mutex);
    return error;
}

int crew_take_news(struct crew *crew, size_t *n_finished, struct failure *failure)
{
    uint64_t n = 0;
    if (read(crew->news_fd, &n, sizeof(n)) < 0 && errno != EAGAIN && errno != EINTR) {
        return fail(failure, errno, "threads: read from eventfd %d", crew->news_fd);
    }
    *n_finished = (size_t)n;
    return 0;
}

void crew_abort(struct crew *crew)
{
    crew_set_phase(crew, PHASE_STOP);
    (void)pthread_mutex_lock(&crew->mutex);
    crew->aborted = true;
    (void)pthread_mutex_unlock(&crew->mutex);
    for (size_t i = 0; i < crew->n_started; i++) {
        /* Fails if the peer was faster (ENOTCONN); then the thread is not waiting for it either. */
        (void)shutdown(crew->workers[i].fd, SHUT_RDWR);
    }
    crew_open_gate(crew);
}

int crew_join(struct crew *crew, struct failure *failure)
{
    int first_error = 0;
    while (crew->n_started > 0) {
        const int error = pthread_join(crew->workers[--crew->n_started].thread, NULL);
        if (error != 0 && first_error == 0) {
            first_error = fail(failure, error, "threads: pthread_join");
        }
    }
    return first_error;
}

void crew_dismiss(struct crew *crew)
{
    struct failure ignored; /* an earlier failure is the one to report */
    if (crew->n_started > 0) {
        crew_abort(crew);
        (void)crew_join(crew, &ignored);
    }
    if (crew->news_fd != NO_FD) {
        (void)close(crew->news_fd);
    }
    for (size_t i = 0; crew->workers != NULL && i < crew->n_workers; i++) {
        free(crew->workers[i].work);
    }
    free(crew->workers);
    crew->workers = NULL;
    (void)pthread_cond_destroy(&crew->changed);
    (void)pthread_mutex_destroy(&crew->mutex);
}
