/*
 * The byte pattern of --verify. It depends on the connection and on the offset in its stream, and
 * does not repeat, so that the receiver sees a lost, doubled or misplaced byte, and a buffer that
 * was overwritten while the kernel still read from it.
 */
#ifndef COPYCOST_PATTERN_H
#define COPYCOST_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Writes the pattern of stream bytes offset .. offset + n_bytes - 1. */
void pattern_write(void *memory, size_t n_bytes, size_t connection, uint64_t offset);

/* Counts the bytes that differ from the pattern; *first_wrong is set if there are any. */
uint64_t pattern_count_wrong(const void *memory, size_t n_bytes, size_t connection, uint64_t offset,
                             uint64_t *first_wrong);

#endif
