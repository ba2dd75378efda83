#include "simulated/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Returns a whole file with a terminating zero, or NULL. */
static char *read_file(const char *path, struct failure *failure)
{
    struct stat facts = {0};
    FILE *file = fopen(path, "re");
    if (file == NULL || fstat(fileno(file), &facts) != 0) {
        (void)fail(failure, errno, "symbols: %s", path);
        if (file != NULL) {
            (void)fclose(file);
        }
        return NULL;
    }
    const size_t n_bytes = (size_t)facts.st_size;
    char *text = calloc(n_bytes + 1, 1);
    if (text == NULL || fread(text, 1, n_bytes, file) != n_bytes) {
        (void)fail(failure, 0, "symbols: %s cannot be read completely", path);
        free(text);
        text = NULL;
    }
    (void)fclose(file); /* nothing was written */
    return text;
}

static size_t count_lines(const char *text)
{
    size_t n_lines = 0;
    for (const char *at = strchr(text, '\n'); at != NULL; at = strchr(at + 1, '\n')) {
        n_lines++;
    }
    return n_lines;
}

/* Splits the text into addresses and names. */
static int parse(struct symbols *symbols, size_t n_lines, const char *path, struct failure *failure)
{
    char *line = symbols->text;
    uint64_t last = 0;
    for (size_t i = 0; i < n_lines; i++) {
        char *name = NULL;
        char *end = strchr(line, '\n');
        *end = '\0';
        errno = 0;
        const uint64_t address = strtoull(line, &name, 16);
        if (errno != 0 || name == line || *name != ' ' || name + 1 == end || address < last ||
            !is_kernel_address(address)) {
            (void)fail(failure, 0,
                       "symbols: %s:%zu: got '%.60s', expected ascending lines of a kernel address "
                       "and a name",
                       path, i + 1, line);
            return -EINVAL;
        }
        /* If an address has several names, the first one counts. */
        if (i == 0 || address != last) {
            symbols->sorted[symbols->n_symbols++] = (struct symbol){address, name + 1};
        }
        last = address;
        line = end + 1;
    }
    return 0;
}

int symbols_open(struct symbols *symbols, const char *path, struct failure *failure)
{
    *symbols = (struct symbols){.text = read_file(path, failure)};
    if (symbols->text == NULL) {
        return -EIO;
    }
    const size_t n_lines = count_lines(symbols->text);
    if (n_lines == 0) {
        (void)fail(failure, 0, "symbols: %s has no lines", path);
        return -EINVAL;
    }
    symbols->sorted = malloc(n_lines * sizeof(*symbols->sorted));
    if (symbols->sorted == NULL) {
        return fail(failure, ENOMEM, "symbols: memory for %zu symbols", n_lines);
    }
    return parse(symbols, n_lines, path, failure);
}

void symbols_close(struct symbols *symbols)
{
    free(symbols->sorted);
    free(symbols->text);
    *symbols = (struct symbols){0};
}

size_t symbols_find(const struct symbols *symbols, uint64_t address)
{
    size_t below = 0;                  /* the symbols before it begin at or below the address, */
    size_t above = symbols->n_symbols; /* those from here on above it */
    if (!is_kernel_address(address)) {
        return FUNCTION_USER;
    }
    while (below < above) {
        const size_t middle = below + (above - below) / 2;
        if (symbols->sorted[middle].address <= address) {
            below = middle + 1;
        } else {
            above = middle;
        }
    }
    return below == 0 ? FUNCTION_UNKNOWN : N_OTHER_FUNCTIONS + below - 1;
}

bool symbols_is_entry(const struct symbols *symbols, size_t function, uint64_t address)
{
    return function >= N_OTHER_FUNCTIONS &&
           symbols->sorted[function - N_OTHER_FUNCTIONS].address == address;
}

size_t symbols_named(const struct symbols *symbols, const char *name)
{
    for (size_t i = 0; i < symbols->n_symbols; i++) {
        if (strcmp(symbols->sorted[i].name, name) == 0) {
            return N_OTHER_FUNCTIONS + i;
        }
    }
    return FUNCTION_UNKNOWN;
}

const char *symbols_name(const struct symbols *symbols, size_t function)
{
    switch (function) {
    case FUNCTION_USER:
        return "user";
    case FUNCTION_UNKNOWN:
        return "unknown";
    default:
        return symbols->sorted[function - N_OTHER_FUNCTIONS].name;
    }
}
