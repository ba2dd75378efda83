/*
 * Where the guest's pages lie in its memory. Asking QEMU takes longer than the rest of the cache
 * model, so the answers are cached as in a processor's TLB: until the guest executes an instruction
 * that invalidates a TLB (instruction_forgets_pages).
 */
#ifndef COPYCOST_SIMULATED_PAGE_TABLE_H
#define COPYCOST_SIMULATED_PAGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define PAGE_SHIFT 12
#define N_REMEMBERED_PAGES 1024

struct remembered_page {
    uint64_t page; /* virtual; valid if stored since `forgotten` last changed */
    uint64_t since;
    uint64_t physical; /* its address */
};

struct page_table {
    uint64_t forgotten; /* how often, and one */
    struct remembered_page pages[N_REMEMBERED_PAGES];
};

static inline void page_table_forget(struct page_table *table)
{
    table->forgotten++;
}

/* Returns whether the page of an address is cached, and the address in memory. */
static inline bool page_table_find(const struct page_table *table, uint64_t address,
                                   uint64_t *physical)
{
    const uint64_t page = address >> PAGE_SHIFT;
    const struct remembered_page *found = &table->pages[page % N_REMEMBERED_PAGES];
    *physical = found->physical | (address & ((UINT64_C(1) << PAGE_SHIFT) - 1));
    return found->page == page && found->since == table->forgotten;
}

static inline void page_table_remember(struct page_table *table, uint64_t address,
                                       uint64_t physical)
{
    const uint64_t page = address >> PAGE_SHIFT;
    table->pages[page % N_REMEMBERED_PAGES] = (struct remembered_page){
        .page = page,
        .since = table->forgotten,
        .physical = physical >> PAGE_SHIFT << PAGE_SHIFT,
    };
}

#endif
