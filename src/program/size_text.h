/* Numbers on the command line. */
#ifndef COPYCOST_SIZE_TEXT_H
#define COPYCOST_SIZE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Reads digits as a number from min to max. Returns whether they are one. */
bool size_text_parse(const char *text, size_t min, size_t max, size_t *value);

#endif
