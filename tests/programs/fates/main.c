/* main.c: ends, forks and runs threads in the way its first argument says; see truth.h for what it tells of itself. */
#define TRUTH_MAIN
#include "scenarios.h"

static const char *const names[] = {FUNCTIONS(TRUTH_NAME)};

volatile unsigned long sink;
char **arguments;
char *forbidden;

void even(unsigned i) {
  TALLY(even);
  sink += i;
}
void odd(unsigned i) {
  TALLY(odd);
  sink -= i;
}
void branchy(unsigned i) {
  TALLY(branchy);
  if (i % 3 == 0)
    even(i);
  else
    odd(i);
}
void work(unsigned times) {
  for (unsigned i = 0; i < times; i++)
    branchy(i);
}
/* The end comes several activations deep, in the middle of loops. */
int leave(unsigned depth, void (*end)(void)) {
  TALLY(leave);
  int sum = 0;
  for (unsigned i = 0; i < 10; i++) {
    branchy(i);
    if (i == 7) {
      if (depth == 0)
        end();
      else
        sum += leave(depth - 1, end);
    }
  }
  return sum;
}
void at_end(void) {
  TALLY(at_end);
  work(5);
}
void at_quick_end(void) {
  TALLY(at_quick_end);
  work(7);
}

void nothing(void) {}
void destructor_ends(void) {}
void destructor_exits(void) {}

static const struct {
  const char *name;
  void (*end)(void);
} scenarios[] = {
#define ENTRY(name) {#name, name},
    SCENARIOS(ENTRY)};

__attribute__((destructor)) static void last_words(void) {
  if (arguments != NULL && strcmp(arguments[1], "destructor_ends") == 0) {
    work(3);
    _exit(16);
  }
  if (arguments != NULL && strcmp(arguments[1], "destructor_exits") == 0) {
    work(4);
    exit(17);
  }
}

int main(int argc, char **argv) {
  arguments = argv;
  truth_open(names, NUM_FUNCTIONS);
  setvbuf(stderr, NULL, _IONBF, 0);
  struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  atexit(at_end);
  at_quick_exit(at_quick_end);
  forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  work(100);
  if (argc > 1 && strcmp(argv[1], "work") == 0)
    return 0;
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
    if (argc > 1 && strcmp(argv[1], scenarios[i].name) == 0) {
      leave(3, scenarios[i].end);
      return 0;
    }
  fprintf(stderr, "unknown scenario\n");
  return 99;
}
