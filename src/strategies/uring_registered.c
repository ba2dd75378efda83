/*
 * uring_registered: as uring_zero_copy, but from registered buffers.
 *
 * Copies: 0 requested; the link decides
 * System calls: 1 io_uring_enter(2) for N messages
 * Linux: 6.15
 *
 * Path of the bytes: as with uring_zero_copy, socket buffers refer to the pages of the fields: no
 * copy before the device, and one before local delivery on loopback and veth, which is counted. But
 * the pages are looked up and pinned once, when the memory is registered with the ring before any
 * traffic (io_uring_register(2)); a send only names them. The fields belong to the kernel from
 * submission to notification.
 *
 * All iovecs of a send must lie in the same registered buffer, so the fields are moved into one
 * contiguous region (uring/region.h), where an application that wants this would allocate them.
 * Registered memory counts as locked memory (RLIMIT_MEMLOCK) unless the user is root.
 *
 * Needs Linux 6.15 (iovecs in registered buffers), and liburing 2.3 to be built;
 * io_uring_register(2), io_uring_prep_sendmsg_zc(3).
 */
#include "strategy.h"
#include "uring/zc.h"

#ifdef HAVE_URING

static int uring_registered_probe(struct failure *failure)
{
    return uring_zc_probe(true, failure);
}

static int uring_registered_setup(struct stream *stream)
{
    return uring_zc_setup(stream, true);
}

#endif

const struct strategy the_strategy = {
    .name = "uring_registered",
    .summary = "zero-copy sendmsg through io_uring from registered buffers",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .batching = true,
    .zero_copy = true,
#ifdef HAVE_URING
    .slots_in_flight = uring_zc_slots_in_flight,
    .probe = uring_registered_probe,
    .setup = uring_registered_setup,
    .send_messages = uring_zc_send_messages,
    .drain = uring_zc_drain,
    .teardown = uring_zc_teardown,
#else
    .probe = uring_not_built, /* so the others are never called */
#endif
};
