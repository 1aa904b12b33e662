// Calls the handlers of forks as glibc may since 2.36: it has their addresses, and lets go of its lock, when another
// thread unloads the library. `held LIBRARY OTHER REFUSED...`: what is refused before that, `written` memory to be executed,
// pages to be `moved`.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void handler(void);
typedef int function(int);
static struct {
  handler *prepare, *in_parent, *in_child;
} handlers[10];
static int num_handlers;

/* In place of libc's. */
int __register_atfork(handler *prepare, handler *in_parent, handler *in_child, void *owner) {
  if (num_handlers == 10)
    abort();
  handlers[num_handlers].prepare = prepare;
  handlers[num_handlers].in_parent = in_parent;
  handlers[num_handlers++].in_child = in_child;
  return 0;
}
static void prepare(void) {
  for (int i = num_handlers; i > 0; i--)
    handlers[i - 1].prepare();
}
static void in_parent(void) {
  for (int i = 0; i < num_handlers; i++)
    handlers[i].in_parent();
}
static void in_child(void) {
  for (int i = 0; i < num_handlers; i++)
    handlers[i].in_child();
}
/* A call with this bit in its third argument. */
static void refuse(unsigned call, unsigned bit) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bit, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof program / sizeof *program, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    exit(89);
}

int main(int argc, char **argv) {
  int status;
  for (int i = 3; i < argc; i++) {
    if (strcmp(argv[i], "written") == 0)
      refuse(SYS_mprotect, PROT_EXEC);
    else if (strcmp(argv[i], "moved") == 0)
      refuse(SYS_mremap, 4096);
  }
  void *first = dlopen(argv[1], RTLD_NOW), *last = dlopen(argv[2], RTLD_NOW);
  function *work = (function *)dlsym(first, "work"), *other = (function *)dlsym(last, "other");
  for (int i = 0; i < 5; i++)
    work(i);
  dlclose(first);
  prepare();
  pid_t child = _Fork();
  if (child == 0) {
    in_child();
    for (int i = 0; i < 3; i++)
      other(i);
    exit(7);
  }
  in_parent();
  waitpid(child, &status, 0);
  other(1);
  dlclose(last);
  prepare();
  in_parent();
  return WEXITSTATUS(status) != 7;
}
