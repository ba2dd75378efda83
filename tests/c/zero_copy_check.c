/* The bookkeeping of zero-copy completions, where a real connection seldom goes: the wrap, wrong
 * ranges. */
#include "strategies/zero_copy.c"

#include "check.h"

#define MAX_SLOTS ZERO_COPY_MAX_SLOTS

static void send_from(struct stream *stream, uint32_t slot)
{
    struct zero_copy_state *state = stream->state;
    state->slot = slot;
    note_send(stream);
}

int main(void)
{
    struct counters counters = {0};
    struct failure failure = {0};
    struct zero_copy_state *state = calloc(1, sizeof(*state));
    struct stream stream = {.counters = &counters, .failure = &failure, .state = state};
    CHECK(state != NULL);
    CHECK(ring_allocate(&stream.ring, 64, 0, MAX_SLOTS) == 0);
    for (uint32_t i = 0; i < MAX_SLOTS; i++) {
        CHECK(slot_take(&stream) == MAX_SLOTS - 1 - i);
    }
    for (uint32_t i = 0; i < N_SENDS; i++) {
        state->slot_of[i] = NO_SLOT;
    }
    state->next_send = UINT32_MAX - 1;

    /* Four sends across the wrap: slot 0 twice (a short write), slots 1 and 2 once. */
    send_from(&stream, 0);
    send_from(&stream, 0);
    send_from(&stream, 1);
    send_from(&stream, 2);
    CHECK(state->next_send == 2);
    CHECK(state->n_in_flight == 4);
    slot_release(&stream, 0);
    slot_release(&stream, 1);
    slot_release(&stream, 2);
    CHECK(stream.ring.n_taken == MAX_SLOTS);

    /* None is free: one wait, however often it is tried. */
    CHECK(slot_take(&stream) == NO_SLOT && slot_take(&stream) == NO_SLOT);
    CHECK(counter_value(&counters, COUNT_SLOT_WAITS) == 1);

    /* The later ones complete first; slot 0 comes free with its second send only. */
    CHECK(complete_range(&stream, 1, 1) == 0);
    CHECK(stream.ring.n_taken == MAX_SLOTS - 1);
    CHECK(complete_range(&stream, UINT32_MAX - 1, UINT32_MAX - 1) == 0);
    CHECK(stream.ring.n_taken == MAX_SLOTS - 1);
    CHECK(complete_range(&stream, UINT32_MAX, 0) == 0);
    CHECK(stream.ring.n_taken == MAX_SLOTS - 3 && state->n_in_flight == 0);
    CHECK(counter_value(&counters, COUNT_ZC_SENT) == 4);

    /* The one last freed comes first. */
    CHECK(slot_take(&stream) == 1 && slot_take(&stream) == 0 && slot_take(&stream) == 2);
    CHECK(slot_take(&stream) == NO_SLOT);
    CHECK(counter_value(&counters, COUNT_SLOT_WAITS) == 2);
    CHECK(counter_value(&counters, COUNT_ZC_COMPLETED) == 4);

    /* Twice, or never sent: refused. */
    CHECK(complete_range(&stream, 0, 0) != 0);
    CHECK(complete_range(&stream, 2, 2) != 0);
    CHECK(complete_range(&stream, 3, UINT32_MAX) != 0);
    ring_free(&stream.ring);
    free(state);
    return EXIT_SUCCESS;
}
