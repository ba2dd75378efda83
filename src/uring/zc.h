/*
 * Zero-copy sends through io_uring, for strategies that differ in whether the memory is registered
 * beforehand.
 */
#ifndef COPYCOST_URING_ZC_H
#define COPYCOST_URING_ZC_H

#include "strategy.h"
#include "uring/uring.h"

#ifdef HAVE_URING

/* Tells whether this host can do it: 0, or -errno with the reason. */
int uring_zc_probe(bool registered, struct failure *failure);

/* See strategy.h. */
uint32_t uring_zc_slots_in_flight(const struct stream *stream);
int uring_zc_send_messages(struct stream *stream);
int uring_zc_drain(struct stream *stream);
void uring_zc_teardown(struct stream *stream);

/*
 * The setup of a strategy; registered: the messages of the ring are moved into registered buffers.
 */
int uring_zc_setup(struct stream *stream, bool registered);

#endif

#endif
