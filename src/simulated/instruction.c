#include "simulated/instruction.h"

#include <string.h>

/* Prefixes that may precede an opcode: operand and address size, segments, and REX. */
static bool is_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
        return true;
    default:
        return (byte & 0xf0) == 0x40; /* REX */
    }
}

enum repeat instruction_repeat(const uint8_t *bytes, size_t n_bytes)
{
    bool repeats = false;
    size_t at = 0;
    while (at < n_bytes && (bytes[at] == 0xf2 || bytes[at] == 0xf3 || is_prefix(bytes[at]))) {
        repeats = repeats || bytes[at] == 0xf2 || bytes[at] == 0xf3;
        at++;
    }
    if (!repeats || at >= n_bytes) {
        return REPEAT_NONE;
    }
    switch (bytes[at] & 0xfe) { /* the lowest bit distinguishes bytes from words */
    case 0xa4:                  /* movs */
    case 0xaa:                  /* stos */
    case 0x6c:                  /* ins */
        return REPEAT_BY_STORES;
    case 0xac: /* lods */
    case 0xae: /* scas */
    case 0x6e: /* outs */
        return REPEAT_BY_LOADS;
    case 0xa6: /* cmps */
        return REPEAT_BY_LOAD_PAIRS;
    default:
        return REPEAT_NONE;
    }
}

const enum window_mark *instruction_mark(const uint8_t *bytes, size_t n_bytes)
{
    static const uint8_t BEGINNING[] = {0x0f, 0x1f, 0x84, 0x00, 'c', 'p', 'y'};
    static const enum window_mark MARKS[] = {MARK_SENDER, MARK_RECEIVER, MARK_WINDOW_BEGIN,
                                             MARK_WINDOW_END};
    if (n_bytes != sizeof(BEGINNING) + 1 || memcmp(bytes, BEGINNING, sizeof(BEGINNING)) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(MARKS) / sizeof(MARKS[0]); i++) {
        if (bytes[sizeof(BEGINNING)] == MARKS[i]) {
            return &MARKS[i];
        }
    }
    return NULL;
}

bool instruction_forgets_pages(const uint8_t *bytes, size_t n_bytes)
{
    const bool is_long = n_bytes > 3 && bytes[0] == 0x66; /* the prefix of invpcid */
    if (is_long) {
        return bytes[1] == 0x0f && bytes[2] == 0x38 && bytes[3] == 0x82;
    }
    const size_t at = n_bytes > 0 && (bytes[0] & 0xf0) == 0x40 ? 1 : 0; /* REX */
    if (n_bytes < at + 3 || bytes[at] != 0x0f) {
        return false;
    }
    const uint8_t modrm = bytes[at + 2];
    const bool is_invlpg = bytes[at + 1] == 0x01 && (modrm >> 3 & 7) == 7 && modrm >> 6 != 3;
    return bytes[at + 1] == 0x22 || is_invlpg;
}

bool instruction_takes_stack_of_rsi(const uint8_t *bytes, size_t n_bytes)
{
    static const uint8_t BEGINNING[] = {0x48, 0x8b, 0xa6};
    return n_bytes == sizeof(BEGINNING) + 4 && memcmp(bytes, BEGINNING, sizeof(BEGINNING)) == 0;
}
