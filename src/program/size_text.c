#include "program/size_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

bool size_text_parse(const char *text, size_t min, size_t max, size_t *value)
{
    char *end = NULL;
    if (!isdigit((unsigned char)text[0])) {
        return false; /* strtoull would take signs and blanks */
    }
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || number < min || number > max) {
        return false;
    }
    *value = (size_t)number;
    return true;
}
