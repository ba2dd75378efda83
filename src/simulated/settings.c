#include "simulated/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool parse_number(const char *text, char follower, uint64_t *value, const char **rest)
{
    char *end = NULL;
    if (!isdigit((unsigned char)*text)) {
        return false; /* strtoull would take signs and blanks */
    }
    errno = 0;
    *value = strtoull(text, &end, 10);
    *rest = end + 1;
    return errno == 0 && *end == follower;
}

static bool parse_geometry(const char *text, struct geometry *geometry)
{
    const char *rest = NULL;
    return parse_number(text, ':', &geometry->size_bytes, &rest) &&
           parse_number(rest, '\0', &geometry->n_ways, &rest);
}

static bool parse_prefetcher(const char *text, enum prefetcher *prefetcher)
{
    const bool is_next_line = strcmp(text, "next_line") == 0;
    *prefetcher = is_next_line ? PREFETCHER_NEXT_LINE : PREFETCHER_NONE;
    return is_next_line || strcmp(text, "none") == 0;
}

/* The value of a word that begins with `key` and =, else NULL. */
static const char *value_of(const char *word, const char *key)
{
    const size_t length = strlen(key);
    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static bool parse_word(struct settings *settings, const char *word)
{
    const char *line = value_of(word, "line");
    const char *prefetcher = value_of(word, "prefetcher");
    const char *symbols = value_of(word, "symbols");
    const char *result = value_of(word, "result");
    const char *rest = NULL;
    for (int i = 0; i < N_LEVELS; i++) {
        const char *level = value_of(word, LEVEL_NAMES[i]);
        if (level != NULL) {
            return parse_geometry(level, &settings->hierarchy.levels[i]);
        }
    }
    if (line != NULL) {
        return parse_number(line, '\0', &settings->hierarchy.line_bytes, &rest);
    }
    if (prefetcher != NULL) {
        return parse_prefetcher(prefetcher, &settings->hierarchy.prefetcher);
    }
    settings->symbols_path = symbols != NULL ? symbols : settings->symbols_path;
    settings->result_path = result != NULL ? result : settings->result_path;
    return symbols != NULL || result != NULL;
}

int settings_parse(struct settings *settings, int n_words, char **words, struct failure *failure)
{
    *settings = (struct settings){0};
    for (int i = 0; i < n_words; i++) {
        if (!parse_word(settings, words[i])) {
            (void)fail(failure, 0,
                       "got '%s', expected l1d, l2 or llc=BYTES:WAYS, line=BYTES, "
                       "prefetcher=none or next_line, symbols=FILE or result=FILE",
                       words[i]);
            return -EINVAL;
        }
    }
    if (settings->symbols_path == NULL || settings->result_path == NULL) {
        (void)fail(failure, 0, "symbols=FILE and result=FILE are required");
        return -EINVAL;
    }
    return 0; /* a missing geometry is one of 0 ways, or lines of 0 bytes, and refused as such */
}
