/*
 * null: sends nothing.
 *
 * Copies: none: it sends nothing
 * System calls: none
 * Linux: any
 *
 * Path of the bytes: none. What a message costs is then the harness itself: the loop, the counters,
 * the sampling of service times.
 */
#include "strategy.h"

static int null_send_messages(struct stream *stream)
{
    (void)stream;
    return 0;
}

const struct strategy the_strategy = {
    .name = "null",
    .summary = "sends nothing: the harness's own time per message",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .send_messages = null_send_messages,
};
