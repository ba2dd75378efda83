#include "messages/pattern.h"

#include <string.h>

#define WORD_BYTES 8U
#define BYTE_BITS 8U

/*
 * The finalising steps of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): neighbours look unrelated.
 */
static uint64_t pattern_word(size_t connection, uint64_t index)
{
    uint64_t word = index + UINT64_C(0x9e3779b97f4a7c15) * ((uint64_t)connection + 1);
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

/* The part of a word that a range of the stream covers. */
struct piece {
    uint64_t word;
    size_t from_byte;
    size_t n_bytes;
};

static struct piece piece_at(size_t connection, uint64_t offset, size_t left_bytes)
{
    const size_t from_byte = (size_t)(offset % WORD_BYTES);
    const size_t to_end_bytes = WORD_BYTES - from_byte;
    return (struct piece){
        .word = pattern_word(connection, offset / WORD_BYTES),
        .from_byte = from_byte,
        .n_bytes = left_bytes < to_end_bytes ? left_bytes : to_end_bytes,
    };
}

void pattern_write(void *memory, size_t n_bytes, size_t connection, uint64_t offset)
{
    unsigned char *to = memory;
    while (n_bytes > 0) {
        const struct piece piece = piece_at(connection, offset, n_bytes);
        memcpy(to, (const unsigned char *)&piece.word + piece.from_byte, piece.n_bytes);
        to += piece.n_bytes;
        offset += piece.n_bytes;
        n_bytes -= piece.n_bytes;
    }
}

uint64_t pattern_count_wrong(const void *memory, size_t n_bytes, size_t connection, uint64_t offset,
                             uint64_t *first_wrong)
{
    const unsigned char *from = memory;
    uint64_t n_wrong = 0;
    while (n_bytes > 0) {
        const struct piece piece = piece_at(connection, offset, n_bytes);
        const unsigned char *expected = (const unsigned char *)&piece.word + piece.from_byte;
        if (memcmp(from, expected, piece.n_bytes) != 0) {
            for (size_t i = 0; i < piece.n_bytes; i++) {
                if (from[i] != expected[i] && n_wrong++ == 0) {
                    *first_wrong = offset + i;
                }
            }
        }
        from += piece.n_bytes;
        offset += piece.n_bytes;
        n_bytes -= piece.n_bytes;
    }
    return n_wrong;
}

size_t pattern_number_bytes(size_t msg_bytes)
{
    return msg_bytes < WORD_BYTES ? msg_bytes : WORD_BYTES;
}

unsigned char pattern_number_byte(uint64_t number, size_t place)
{
    return (unsigned char)(number >> (BYTE_BITS * place));
}

uint64_t pattern_read_number(const void *memory, size_t number_bytes, uint64_t next)
{
    const unsigned char *from = memory;
    uint64_t low = 0;
    for (size_t i = 0; i < number_bytes; i++) {
        low |= (uint64_t)from[i] << (BYTE_BITS * i);
    }
    if (number_bytes == WORD_BYTES) {
        return low;
    }
    const uint64_t mask = (UINT64_C(1) << (BYTE_BITS * number_bytes)) - 1;
    return next + ((low - next) & mask);
}
