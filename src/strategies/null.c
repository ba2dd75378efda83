/*
 * null: sends nothing.
 *
 * Path of the bytes: none. What a message then costs is the harness itself: the loop, the counters,
 * the sampling of service times.
 */
#include "strategy.h"

static int null_setup(struct stream *stream)
{
    (void)stream;
    return 0;
}

static int null_send_message(struct stream *stream)
{
    (void)stream;
    return 0;
}

static void null_teardown(struct stream *stream)
{
    (void)stream;
}

const struct strategy the_strategy = {
    .name = "null",
    .summary = "sends nothing: the harness's own time per message",
    .setup = null_setup,
    .send_message = null_send_message,
    .teardown = null_teardown,
};
