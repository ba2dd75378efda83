/* The functions of the guest's kernel: lines `ADDRESS NAME`, hexadecimal, ascending; that is
 * /proc/kallsyms, sorted and reduced to text symbols. */
#ifndef COPYCOST_SIMULATED_SYMBOLS_H
#define COPYCOST_SIMULATED_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"

/* Functions that are not in the table. */
#define FUNCTION_USER 0    /* everything outside the kernel */
#define FUNCTION_UNKNOWN 1 /* the kernel's, before the first symbol */
#define N_OTHER_FUNCTIONS 2

struct symbol {
    uint64_t address;
    const char *name;
};

struct symbols {
    char *text; /* the file, with a zero in place of each newline */
    size_t n_symbols;
    struct symbol *sorted; /* by address */
};

/* Reads a table. Returns 0 or -errno; call symbols_close in both cases. */
int symbols_open(struct symbols *symbols, const char *path, struct failure *failure);

void symbols_close(struct symbols *symbols);

/* Whether an address is the kernel's: the upper half, Documentation/x86/x86_64/mm.rst. */
static inline bool is_kernel_address(uint64_t address)
{
    return address >> 63 != 0;
}

/* The number of the function that an address lies in, below symbols_n_functions. */
size_t symbols_find(const struct symbols *symbols, uint64_t address);

/* Whether a function begins at that address. */
bool symbols_is_entry(const struct symbols *symbols, size_t function, uint64_t address);

static inline size_t symbols_n_functions(const struct symbols *symbols)
{
    return symbols->n_symbols + N_OTHER_FUNCTIONS;
}

/* The function of a name, FUNCTION_UNKNOWN if there is none. */
size_t symbols_named(const struct symbols *symbols, const char *name);

const char *symbols_name(const struct symbols *symbols, size_t function);

#endif
