#include "simulated/result.h"

#include <stdbool.h>
#include <string.h>

#include "program/json.h"

static const char *const PREFETCHER_NAMES[] = {"none", "next_line"};

static void write_settings(struct json *json, const struct hierarchy_settings *settings)
{
    json_begin_object(json, "caches");
    json_uint(json, "line_bytes", settings->line_bytes);
    json_string(json, "prefetcher", PREFETCHER_NAMES[settings->prefetcher]);
    for (int i = 0; i < N_LEVELS; i++) {
        json_begin_object(json, LEVEL_NAMES[i]);
        json_uint(json, "size_bytes", settings->levels[i].size_bytes);
        json_uint(json, "ways", settings->levels[i].n_ways);
        json_end_object(json);
    }
    json_end_object(json);
}

static void write_levels(struct json *json, const char *key, const uint64_t *values)
{
    json_begin_object(json, key);
    for (int i = 0; i < N_LEVELS; i++) {
        json_uint(json, LEVEL_NAMES[i], values[i]);
    }
    json_end_object(json);
}

static void write_function(struct json *json, const char *name, bool is_kernel,
                           const struct counts *counts)
{
    const struct line_counts *loads = &counts->lines[ACCESS_LOAD];
    const struct line_counts *stores = &counts->lines[ACCESS_STORE];
    uint64_t write_backs[N_LEVELS];
    for (int i = 0; i < N_LEVELS; i++) {
        write_backs[i] = loads->write_backs[i] + stores->write_backs[i];
    }
    json_begin_object(json, NULL);
    json_string(json, "name", name);
    json_bool(json, "kernel", is_kernel);
    json_uint(json, "calls", counts->calls);
    json_uint(json, "instructions", counts->instructions);
    json_uint(json, "string_iterations", counts->string_iterations);
    json_uint(json, "loads", counts->accesses[ACCESS_LOAD]);
    json_uint(json, "stores", counts->accesses[ACCESS_STORE]);
    write_levels(json, "load_misses", loads->misses);
    write_levels(json, "store_misses", stores->misses);
    write_levels(json, "write_backs", write_backs);
    json_uint(json, "prefetches", loads->prefetches + stores->prefetches);
    json_end_object(json);
}

static void write_side(struct json *json, enum side side, const struct counting *counting,
                       const struct symbols *symbols)
{
    static const struct counts NOTHING;
    json_begin_array(json, SIDE_NAMES[side]);
    for (size_t i = 0; i < counting->n_functions; i++) {
        const struct counts *counts = &counting->counts[side][i];
        if (memcmp(counts, &NOTHING, sizeof(NOTHING)) != 0) {
            write_function(json, symbols_name(symbols, i), i != FUNCTION_USER, counts);
        }
    }
    json_end_array(json);
}

int result_write(FILE *file, const struct hierarchy_settings *settings,
                 const struct counting *counting, const struct symbols *symbols,
                 struct failure *failure)
{
    struct json json = {.file = file};
    json_begin_object(&json, NULL);
    json_uint(&json, "schema_version", SIMULATED_SCHEMA_VERSION);
    write_settings(&json, settings);
    json_begin_object(&json, "functions");
    for (int i = 0; i < N_SIDES; i++) {
        write_side(&json, (enum side)i, counting, symbols);
    }
    json_end_object(&json);
    json_end_object(&json);
    const int error = json_finish(&json);
    return error != 0 ? fail(failure, -error, "write of the result") : 0;
}
