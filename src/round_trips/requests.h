/* The sending side of --mode request_response: a message is sent when the last one is answered. */
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
 * Without an interval each request follows the last answer at once. Such a client sends nothing
 * while it waits, so one long wait counts once, however many requests a user would have made in
 * that time (coordinated omission, Gil Tene's term). With an interval, requests are due at fixed
 * times, and a round trip counts from when its request was due, even if it was sent later. A round
 * trip belongs to the window in which its request was sent, so all those of a turn, which ends with
 * the last answer, belong to it.
 */
int requests_make(struct worker *worker, struct stream *stream, struct histogram *round_trips);

/* "round_trip": null in the other mode. */
void requests_report(struct json *json, const struct options *options,
                     const struct histogram *round_trips);

#endif
