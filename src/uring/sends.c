#include "uring/sends.h"

#include <stddef.h>

bool uring_sends_have_room(const struct uring_sends *sends, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (sends->sends[(sends->next + i) % URING_MAX_SENDS].phase != SEND_OVER) {
            return false;
        }
    }
    return true;
}

uint32_t uring_sends_begin(struct uring_sends *sends, uint32_t slot, uint16_t place)
{
    sends->sends[sends->next % URING_MAX_SENDS] = (struct uring_send){
        .slot = slot,
        .place = place,
        .phase = SEND_SUBMITTED,
    };
    sends->n_submitted++;
    return sends->next++;
}

const struct uring_send *uring_sends_take_result(struct uring_sends *sends, uint32_t number,
                                                 bool more, bool took_bytes)
{
    struct uring_send *send = &sends->sends[number % URING_MAX_SENDS];
    const bool is_pinned = more && send->phase == SEND_SUBMITTED;
    send->phase = is_pinned ? SEND_PINNED : SEND_OVER;
    send->took_bytes = took_bytes;
    sends->n_pinned += is_pinned ? 1 : 0;
    sends->n_submitted--;
    return send;
}

const struct uring_send *uring_sends_take_notification(struct uring_sends *sends, uint32_t number)
{
    struct uring_send *send = &sends->sends[number % URING_MAX_SENDS];
    if (sends->next - number - 1 >= URING_MAX_SENDS) { /* also correct across the wrap */
        return NULL;                                   /* another send has its place */
    }
    if (send->phase == SEND_SUBMITTED) {
        send->phase = SEND_NOTIFIED;
    }
    if (send->phase != SEND_PINNED) {
        return NULL;
    }
    send->phase = SEND_OVER;
    sends->n_pinned--;
    return send;
}
