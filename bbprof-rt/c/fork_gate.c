/* fork_gate.c: what libc calls around a fork in a program that is not profiled, where each library may be unloaded at any time.
 *
 * glibc (since 2.36, posix/register-atfork.c) lets go of its lock, reads the address of a handler, and calls it: if that is
 * a library's, the library may be gone by then. So what it calls is a copy of the code below in memory that stays, with the
 * data that it needs one page behind itself. It hands on to a library that is loaded, and counts who is about to do so
 * (`entering`), and who is in there (`inside`): who unloads the library leads the gate elsewhere, and waits until neither is
 * the case. */
#include "process.h"

#include "text.h"

#define WITHIN_BYTES 256 /* in one page */

/* The data, and the place of its fields, and of those of the image's handlers. */
#define DATA(field_at) ".Lbbprof_gate+4096+" #field_at "(%rip)"
_Static_assert(BBPROF_PAGE_BYTES == 4096, "DATA");
_Static_assert(offsetof(struct fork_gate, image) == 0, "of DATA");
_Static_assert(offsetof(struct fork_gate, process) == 8, "of DATA");
_Static_assert(offsetof(struct fork_gate, entering) == 16, "of DATA");
_Static_assert(offsetof(struct image, forks) == 0, "of THROUGH");
_Static_assert(offsetof(struct fork_handlers, prepare) == 0, "of THROUGH");
_Static_assert(offsetof(struct fork_handlers, in_parent) == 8, "of THROUGH");
_Static_assert(offsetof(struct fork_handlers, in_child) == 16, "of THROUGH");
_Static_assert(offsetof(struct fork_handlers, inside) == 24, "of THROUGH");

#define BEGIN(name) ".hidden " name "\n.globl " name "\n.type " name ", @function\n" name ":\nendbr64\n"

/* Calls the handler of the image that the gate leads to, until one has not left. */
#define THROUGH(name, handler_at)            \
    BEGIN(name)                              \
    "push %rbx\n"                            \
    "1: lock incl " DATA(16) "\n"            \
    "mov " DATA(0) ", %rbx\n"                \
    "test %rbx, %rbx\n"                      \
    "jz 2f\n"                                \
    "lock incl 24(%rbx)\n"                   \
    "2: lock decl " DATA(16) "\n"            \
    "test %rbx, %rbx\n"                      \
    "jz 3f\n"                                \
    "mov " DATA(8) ", %rdi\n"                \
    "call *" #handler_at "(%rbx)\n"          \
    "lock decl 24(%rbx)\n"                   \
    "test %al, %al\n"                        \
    "jz 1b\n"                                \
    "3: pop %rbx\n"                          \
    "ret\n"

extern const uint8_t bbprof_gate_to_prepare[] BBPROF_HIDDEN, bbprof_gate_in_parent[] BBPROF_HIDDEN, bbprof_gate_in_child[] BBPROF_HIDDEN;

/* Nobody else is in the child, and no count is true there before its handler. */
__asm__(".pushsection .text.bbprof_gate, \"ax\", @progbits\n"
        ".balign 256\n"
        ".Lbbprof_gate:\n"
        THROUGH("bbprof_gate_to_prepare", 0)
        THROUGH("bbprof_gate_in_parent", 8)
        BEGIN("bbprof_gate_in_child")
        "mov " DATA(0) ", %rax\n"
        "test %rax, %rax\n"
        "jz 4f\n"
        "mov " DATA(8) ", %rdi\n"
        "jmp *16(%rax)\n"
        "4: ret\n"
        ".org .Lbbprof_gate + 256\n" /* an error if it is more */
        ".popsection\n");

struct fork_gate *fork_gate_make(struct process *process) {
    const uint8_t *code = bbprof_gate_to_prepare;
    size_t at = (uintptr_t)code % BBPROF_PAGE_BYTES;
    uint8_t *pages = platform_map_private(2 * BBPROF_PAGE_BYTES);
    if (pages == NULL)
        return NULL;
    bytes_copy(pages + at, code, WITHIN_BYTES);
    /* Where memory that was written must not be executed, the library's own page is mapped a second time; not at first: who
     * changes the library's file in place, when it is unloaded, would change the gate. */
    if (platform_make_executable(pages, BBPROF_PAGE_BYTES) != 0 && platform_map_code_again(code - at, pages, BBPROF_PAGE_BYTES) != 0) {
        platform_unmap(pages, 2 * BBPROF_PAGE_BYTES);
        return NULL;
    }
    struct fork_gate *gate = (struct fork_gate *)(void *)(pages + BBPROF_PAGE_BYTES + at);
    gate->process = process;
    return gate;
}

void fork_gate_entries(const struct fork_gate *gate, void (*use)(void (*)(void), void (*)(void), void (*)(void))) {
    uintptr_t moved = (uintptr_t)gate - BBPROF_PAGE_BYTES - (uintptr_t)bbprof_gate_to_prepare;
    use((void (*)(void))((uintptr_t)bbprof_gate_to_prepare + moved), (void (*)(void))((uintptr_t)bbprof_gate_in_parent + moved),
        (void (*)(void))((uintptr_t)bbprof_gate_in_child + moved));
}

bool fork_gate_is_in_use(const struct fork_gate *gate, const struct image *image) {
    /* In this order: who enters counts there before here. */
    return __atomic_load_n(&gate->entering, __ATOMIC_SEQ_CST) != 0 || __atomic_load_n(&image->forks.inside, __ATOMIC_SEQ_CST) != 0;
}
