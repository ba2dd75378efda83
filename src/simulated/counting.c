#include "simulated/counting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const SIDE_NAMES[N_SIDES] = {"sender", "receiver", "other"};

int counting_open(struct counting *counting, const struct hierarchy_settings *settings,
                  size_t n_functions, struct failure *failure)
{
    *counting = (struct counting){.n_functions = n_functions, .side = SIDE_OTHER};
    for (int i = 0; i < N_SIDES; i++) {
        counting->counts[i] = calloc(n_functions, sizeof(*counting->counts[i]));
        if (counting->counts[i] == NULL) {
            return fail(failure, ENOMEM, "memory for the counts of %zu functions", n_functions);
        }
    }
    return hierarchy_open(&counting->hierarchy, settings, failure);
}

void counting_close(struct counting *counting)
{
    hierarchy_close(&counting->hierarchy);
    for (int i = 0; i < N_SIDES; i++) {
        free(counting->counts[i]);
    }
}

static enum side side_of(const struct counting *counting, uint64_t thread)
{
    /* From the end: if a thread's memory was reused for another one, its last mark counts. */
    for (size_t i = counting->n_marked; i > 0; i--) {
        if (counting->marked[i - 1].thread == thread) {
            return counting->marked[i - 1].side;
        }
    }
    return SIDE_OTHER;
}

void counting_switch(struct counting *counting, uint64_t thread)
{
    counting->thread = thread;
    counting->side = side_of(counting, thread);
}

static int mark_thread(struct counting *counting, enum side side)
{
    if (counting->n_marked == MAX_MARKED_THREADS) {
        return -ENOSPC;
    }
    counting->marked[counting->n_marked++] = (struct marked_thread){counting->thread, side};
    counting->side = side;
    return 0;
}

static void begin_window(struct counting *counting)
{
    if (!counting->window_begun) {
        counting->window_begun = true;
        for (int i = 0; i < N_SIDES; i++) {
            memset(counting->counts[i], 0, counting->n_functions * sizeof(*counting->counts[i]));
        }
    }
}

int counting_mark(struct counting *counting, enum window_mark mark)
{
    switch (mark) {
    case MARK_SENDER:
        return mark_thread(counting, SIDE_SENDER);
    case MARK_RECEIVER:
        return mark_thread(counting, SIDE_RECEIVER);
    case MARK_WINDOW_BEGIN: /* each side has its own; the first one counts */
        begin_window(counting);
        break;
    case MARK_WINDOW_END:
        counting->window_ended = counting->window_begun;
        break;
    }
    return 0;
}

void counting_iterate(struct counting *counting, const struct run *run, bool is_store)
{
    const bool by_stores = run->repeat == REPEAT_BY_STORES;
    if (is_store != by_stores) {
        return;
    }
    if (run->repeat == REPEAT_BY_LOAD_PAIRS) {
        counting->odd_load = !counting->odd_load;
        if (counting->odd_load) {
            return;
        }
    }
    counting_of(counting, run->function)->string_iterations++;
}
