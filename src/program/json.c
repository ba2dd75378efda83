#include "program/json.h"

#include <errno.h>
#include <inttypes.h>

/*
 * The stream keeps an error indicator, which json_finish checks once for all, so the results of
 * single calls are not checked.
 */
static void put_text(struct json *json, const char *text)
{
    (void)fputc('"', json->file);
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            (void)fputc('\\', json->file);
            (void)fputc(c, json->file);
        } else if (c < 0x20) {
            (void)fprintf(json->file, "\\u%04x", c);
        } else {
            (void)fputc(c, json->file);
        }
    }
    (void)fputc('"', json->file);
}

static void put_key(struct json *json, const char *key)
{
    if (json->needs_comma) {
        (void)fputs(", ", json->file);
    }
    if (key != NULL) {
        put_text(json, key);
        (void)fputs(": ", json->file);
    }
    json->needs_comma = true;
}

static void begin(struct json *json, const char *key, char bracket)
{
    put_key(json, key);
    (void)fputc(bracket, json->file);
    json->needs_comma = false;
}

static void end(struct json *json, char bracket)
{
    (void)fputc(bracket, json->file);
    json->needs_comma = true;
}

void json_begin_object(struct json *json, const char *key)
{
    begin(json, key, '{');
}

void json_end_object(struct json *json)
{
    end(json, '}');
}

void json_begin_array(struct json *json, const char *key)
{
    begin(json, key, '[');
}

void json_end_array(struct json *json)
{
    end(json, ']');
}

void json_string(struct json *json, const char *key, const char *value)
{
    if (value == NULL) {
        json_null(json, key);
        return;
    }
    put_key(json, key);
    put_text(json, value);
}

void json_uint(struct json *json, const char *key, uint64_t value)
{
    put_key(json, key);
    (void)fprintf(json->file, "%" PRIu64, value);
}

void json_int(struct json *json, const char *key, int64_t value)
{
    put_key(json, key);
    (void)fprintf(json->file, "%" PRId64, value);
}

void json_real(struct json *json, const char *key, double value)
{
    put_key(json, key);
    (void)fprintf(json->file, "%.9g", value);
}

void json_bool(struct json *json, const char *key, bool value)
{
    put_key(json, key);
    (void)fputs(value ? "true" : "false", json->file);
}

void json_null(struct json *json, const char *key)
{
    put_key(json, key);
    (void)fputs("null", json->file);
}

int json_finish(struct json *json)
{
    if (fputc('\n', json->file) == EOF || fflush(json->file) == EOF) {
        return errno > 0 ? -errno : -EIO;
    }
    return ferror(json->file) == 0 ? 0 : -EIO;
}
