#include "inflow.h"

#include <errno.h>
#include <string.h>

#include "connections/datagram.h"
#include "messages/pattern.h"

int inflow_error(struct inflow *inflow, const char *call)
{
    if (errno == EINTR) {
        count(inflow->counters, COUNT_EINTR, 1);
        return 0;
    }
    /* EAGAIN: SO_RCVTIMEO or SO_SNDTIMEO expired, the sender is silent or does not read. */
    return fail(inflow->failure, errno == EAGAIN ? ETIMEDOUT : errno, "connection %zu: %s on fd %d",
                inflow->connection, call, inflow->fd);
}

static void note_wrong(struct inflow *inflow, uint64_t n_wrong, uint64_t first_wrong)
{
    if (n_wrong > 0 && inflow->wrong_bytes == 0) {
        inflow->first_wrong_offset = first_wrong;
    }
    inflow->wrong_bytes += n_wrong;
}

void inflow_check(struct inflow *inflow, const void *memory, size_t n_bytes)
{
    uint64_t first_wrong = 0;
    const uint64_t n_wrong = pattern_count_wrong(memory, n_bytes, inflow->connection,
                                                 inflow->checked_bytes, &first_wrong);
    note_wrong(inflow, n_wrong, first_wrong);
    inflow->checked_bytes += n_bytes;
}

/* Records that a datagram arrived and returns whether it is the first with its number. */
static bool is_first(struct inflow *inflow, uint64_t number)
{
    const uint64_t next = inflow->next_number;
    if (number >= next) {
        const uint64_t n_skipped = number - next;
        for (uint64_t i = 0; i < n_skipped && i < LATEST_DATAGRAM; i++) {
            inflow->arrived[(number - 1 - i) % LATEST_DATAGRAM] = false;
        }
        inflow->next_number = number + 1;
    } else if (next - number > LATEST_DATAGRAM || inflow->arrived[number % LATEST_DATAGRAM]) {
        return false;
    }
    inflow->arrived[number % LATEST_DATAGRAM] = true;
    return true;
}

/* Compares a datagram with the pattern of the message whose number is at its start. */
static void check_message(struct inflow *inflow, const void *memory, size_t n_bytes)
{
    uint64_t first_wrong = 0;
    const size_t number_bytes = pattern_number_bytes(n_bytes);
    const uint64_t number = pattern_read_number(memory, number_bytes, inflow->next_number);
    const uint64_t offset = number * n_bytes;
    inflow->checked_bytes += n_bytes;
    /* Possibly out of order: networks reorder, as does a batch with a send refused at first. */
    if (!is_first(inflow, number)) {
        note_wrong(inflow, n_bytes, offset); /* sent twice, or overwritten too early */
        return;
    }
    const uint64_t n_wrong =
        pattern_count_wrong((const char *)memory + number_bytes, n_bytes - number_bytes,
                            inflow->connection, offset + number_bytes, &first_wrong);
    note_wrong(inflow, n_wrong, first_wrong);
}

enum arrival inflow_check_datagram(struct inflow *inflow, const void *memory, size_t n_bytes)
{
    if (n_bytes == NOTE_BYTES) {
        if (datagram_is_note(memory, NOTE_GOODBYE, inflow->token, inflow->connection)) {
            return ARRIVAL_GOODBYE;
        }
        if (datagram_is_note(memory, NOTE_WELCOME, inflow->token, inflow->connection)) {
            return ARRIVAL_WELCOME; /* repeated, as its hello was */
        }
    }
    if (n_bytes != inflow->msg_bytes) {
        (void)fail(inflow->failure, 0, "connection %zu: a datagram of %zu bytes, expected %zu",
                   inflow->connection, n_bytes, inflow->msg_bytes);
        return ARRIVAL_WRONG;
    }
    if (inflow->verify) {
        check_message(inflow, memory, n_bytes);
    }
    return ARRIVAL_MESSAGE;
}
