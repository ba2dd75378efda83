/*
 * The byte pattern of --verify. It depends on the connection and on the offset in its stream, and
 * does not repeat, so the receiver detects a lost, duplicated or misplaced byte, and a buffer that
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

/*
 * A datagram may be lost, so it carries its message's number: in its first bytes, 8 if it has as
 * many, least significant byte first, in place of the pattern.
 */
size_t pattern_number_bytes(size_t msg_bytes);

unsigned char pattern_number_byte(uint64_t number, size_t place);

/* The number that these first bytes hold; if they are fewer than 8, the first number from `next` on
 * that ends like this. */
uint64_t pattern_read_number(const void *memory, size_t number_bytes, uint64_t next);

#endif
