/* Which notifications of io_uring's zero-copy sends free a slot: each awaited one, once, and none
 * of a send that was refused. */
#include "uring/sends.h"

#include <stdlib.h>

#include "check.h"

/* A send with a result and a notification, and the notification twice. */
static int check_plain(struct uring_sends *sends)
{
    const uint32_t number = uring_sends_begin(sends, 7, 3);
    CHECK(sends->n_submitted == 1);
    const struct uring_send *send = uring_sends_take_result(sends, number, true, true);
    CHECK(send->slot == 7 && send->place == 3 && send->phase == SEND_PINNED && send->took_bytes);
    CHECK(sends->n_submitted == 0 && sends->n_pinned == 1);
    CHECK(uring_sends_take_notification(sends, number) == send);
    CHECK(sends->n_pinned == 0 && send->phase == SEND_OVER);
    CHECK(uring_sends_take_notification(sends, number) == NULL);
    CHECK(sends->n_pinned == 0);
    return EXIT_SUCCESS;
}

/* The rest of a message, sent from the same slot as its first part, is refused. */
static int check_refused(struct uring_sends *sends)
{
    const uint32_t first = uring_sends_begin(sends, 7, 0);
    (void)uring_sends_take_result(sends, first, true, true);

    /* Its end is told after its result, or before it. */
    const uint32_t late = uring_sends_begin(sends, 7, 0);
    CHECK(uring_sends_take_result(sends, late, false, false)->phase == SEND_OVER);
    CHECK(uring_sends_take_notification(sends, late) == NULL);
    const uint32_t early = uring_sends_begin(sends, 7, 0);
    CHECK(uring_sends_take_notification(sends, early) == NULL);
    CHECK(uring_sends_take_result(sends, early, true, false)->phase == SEND_OVER);

    /* The first part is pinned all the time. */
    CHECK(sends->n_pinned == 1);
    CHECK(uring_sends_take_notification(sends, first)->took_bytes);
    CHECK(sends->n_pinned == 0 && sends->n_submitted == 0);
    return EXIT_SUCCESS;
}

/* As many as there are places for, across the wrap; where a number's place is another's, it is
 * nobody's. */
static int check_full(struct uring_sends *sends)
{
    const uint32_t before = uring_sends_begin(sends, 1, 0);
    (void)uring_sends_take_result(sends, before, false, false);
    for (uint32_t i = 0; i < URING_MAX_SENDS; i++) {
        CHECK(uring_sends_have_room(sends, URING_MAX_SENDS - i));
        CHECK(!uring_sends_have_room(sends, URING_MAX_SENDS - i + 1) || i == 0);
        const uint32_t number = uring_sends_begin(sends, i, 0);
        CHECK(uring_sends_take_result(sends, number, true, true)->phase == SEND_PINNED);
    }
    CHECK(!uring_sends_have_room(sends, 1));
    CHECK(uring_sends_take_notification(sends, before) == NULL);
    CHECK(sends->n_pinned == URING_MAX_SENDS);
    CHECK(uring_sends_take_notification(sends, before + 1)->slot == 0);
    CHECK(uring_sends_have_room(sends, 1) && !uring_sends_have_room(sends, 2));
    for (uint32_t i = 1; i < URING_MAX_SENDS; i++) {
        CHECK(uring_sends_take_notification(sends, before + 1 + i)->slot == i);
    }
    CHECK(sends->n_pinned == 0);
    return EXIT_SUCCESS;
}

int main(void)
{
    struct uring_sends *sends = calloc(1, sizeof(*sends));
    CHECK(sends != NULL);
    const int codes[] = {check_plain(sends), check_refused(sends), check_full(sends)};
    sends->next = UINT32_MAX - 5;
    const int wrapped = check_full(sends);
    free(sends);
    return codes[0] | codes[1] | codes[2] | wrapped;
}
