/* Memory that begins where a page begins. */
#ifndef COPYCOST_MEMORY_H
#define COPYCOST_MEMORY_H

#include <stddef.h>

/* What a page holds [bytes]. */
size_t memory_page_bytes(void);

/* A size rounded up to whole pages [bytes]. */
size_t memory_whole_pages(size_t n_bytes);

/* At least n bytes, aligned to a page; NULL where there is no memory. To be given to free(). */
void *memory_allocate_aligned(size_t n_bytes);

#endif
