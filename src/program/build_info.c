#include "program/build_info.h"

#ifndef COPYCOST_SOURCE_DIGEST
#define COPYCOST_SOURCE_DIGEST "unknown"
#endif

#ifndef COPYCOST_FLAGS
#define COPYCOST_FLAGS "unknown"
#endif

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

void build_info_print(FILE *to)
{
    (void)fprintf(to, "source %.16s, %s, flags %s\n", COPYCOST_SOURCE_DIGEST, COMPILER,
                  COPYCOST_FLAGS);
}

void build_info_report(struct json *json)
{
    json_begin_object(json, "build");
    json_string(json, "source_digest", COPYCOST_SOURCE_DIGEST);
    json_string(json, "compiler", COMPILER);
    json_string(json, "flags", COPYCOST_FLAGS);
    json_end_object(json);
}
