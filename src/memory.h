/* Page-aligned memory. */
#ifndef COPYCOST_MEMORY_H
#define COPYCOST_MEMORY_H

#include <stddef.h>

/* The size of a page [bytes]. */
size_t memory_page_bytes(void);

/* A size rounded up to whole pages [bytes]. */
size_t memory_whole_pages(size_t n_bytes);

/* At least n bytes, page-aligned; NULL if out of memory. Release it with free(). */
void *memory_allocate_aligned(size_t n_bytes);

#endif
