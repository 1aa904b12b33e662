/* objects.c: programs and libraries as the dynamic loader lists them. */
#include "process.h"

#include <link.h>

extern int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *context) __attribute__((weak));

struct search {
    uintptr_t address;
    const char *name;
};

static int find(struct dl_phdr_info *info, size_t size, void *context) {
    struct search *search = context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && search->address - start < info->dlpi_phdr[i].p_memsz) {
            search->name = info->dlpi_name;
            return 1;
        }
    }
    return 0;
}

const char *object_name(const void *address) {
    struct search search = {(uintptr_t)address, NULL};
    if (dl_iterate_phdr != NULL)
        dl_iterate_phdr(find, &search);
    return search.name;
}
