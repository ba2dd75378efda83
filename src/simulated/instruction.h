/* What the simulation has to know about an x86-64 instruction when it is translated. */
#ifndef COPYCOST_SIMULATED_INSTRUCTION_H
#define COPYCOST_SIMULATED_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulated/window_mark.h"

/* Whether an instruction is repeated (prefix F3 or F2), and which accesses tell how often. */
enum repeat {
    REPEAT_NONE,
    REPEAT_BY_LOADS,      /* lods, scas, outs: a load each time */
    REPEAT_BY_LOAD_PAIRS, /* cmps: two of them */
    REPEAT_BY_STORES,     /* movs, stos, ins */
};

/* The longest x86-64 instruction [bytes]. */
#define INSTRUCTION_MAX_BYTES 15

enum repeat instruction_repeat(const uint8_t *bytes, size_t n_bytes);

/* The mark that an instruction is, or NULL. */
const enum window_mark *instruction_mark(const uint8_t *bytes, size_t n_bytes);

/* Whether it tells the processor that page mappings may have changed: a write to a control
 * register, invlpg or invpcid. */
bool instruction_forgets_pages(const uint8_t *bytes, size_t n_bytes);

/* Whether it is `mov DISPLACEMENT(%rsi),%rsp`. */
bool instruction_takes_stack_of_rsi(const uint8_t *bytes, size_t n_bytes);

#endif
