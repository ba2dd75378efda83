/* How a program was built: for --version and for its result. */
#ifndef COPYCOST_BUILD_INFO_H
#define COPYCOST_BUILD_INFO_H

#include <stdio.h>

#include "program/json.h"

/* The rest of the --version line, after the program's name: source digest, compiler, flags. */
void build_info_print(FILE *to);

/* "build" */
void build_info_report(struct json *json);

#endif
