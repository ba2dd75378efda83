/* Writes one JSON object (RFC 8259) to a stream. Commas and nesting are handled here. */
#ifndef COPYCOST_JSON_H
#define COPYCOST_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *file;
    bool needs_comma;
};

/* `key` is NULL for the outermost object and inside arrays. */
void json_begin_object(struct json *json, const char *key);
void json_end_object(struct json *json);
void json_begin_array(struct json *json, const char *key);
void json_end_array(struct json *json);

void json_string(struct json *json, const char *key, const char *value); /* NULL becomes null */
void json_uint(struct json *json, const char *key, uint64_t value);
void json_int(struct json *json, const char *key, int64_t value);
void json_real(struct json *json, const char *key, double value); /* must be finite */
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

/* Ends the line and flushes. Returns 0, or -errno if anything could not be written. */
int json_finish(struct json *json);

#endif
