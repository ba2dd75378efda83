/* How the checks of parts, which are C themselves, say what does not hold. */
#ifndef COPYCOST_CHECK_H
#define COPYCOST_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/* Names a condition that does not hold, and ends the function with EXIT_FAILURE. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
            return EXIT_FAILURE;                                                                   \
        }                                                                                          \
    } while (0)

#endif
