/* The sending side of --mode request_response: a message goes out when the last one is answered. */
#ifndef COPYCOST_REQUESTS_H
#define COPYCOST_REQUESTS_H

#include "program/json.h"
#include "program/options.h"
#include "session/threads.h"
#include "stats.h"
#include "strategy.h"

/*
 * Sends messages and waits for the answer to each until told to stop; every round trip of the
 * window is recorded. Returns 0 or -errno.
 *
 * Without an interval each request follows the last answer at once. Such a client does not ask
 * while it waits, so that one long wait counts once, however many requests a user would have had to
 * make in that time (coordinated omission, a word of Gil Tene's). With an interval requests are due
 * at fixed times, and a round trip counts from when its request was due, sent or not. It belongs to
 * the window in which its request was sent, so that a turn, which ends with the last answer, has
 * all of its own.
 */
int requests_make(struct worker *worker, struct stream *stream, struct histogram *round_trips);

/* "round_trip": null in another mode. */
void requests_report(struct json *json, const struct options *options,
                     const struct histogram *round_trips);

#endif
