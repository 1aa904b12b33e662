// Takes paths of which no two are alike, with hardly any memory left, then ends as its argument says.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static unsigned walked;

__attribute__((noinline)) static unsigned walk(unsigned bits) {
  unsigned sum = 1;
  walked++;
#define BRANCH(i)                                                                                                                  \
  if (bits >> (i) & 1)                                                                                                             \
    sum = sum * 3 + (i);                                                                                                           \
  else                                                                                                                             \
    sum ^= 0x55u << (i) % 7;
#define FIVE(i) BRANCH(i) BRANCH(i + 1) BRANCH(i + 2) BRANCH(i + 3) BRANCH(i + 4)
  FIVE(0) FIVE(5) FIVE(10) FIVE(15)
  return sum;
}

int main(int argc, char **argv) {
  unsigned sum = 0;
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (argc != 2 || file == NULL || fscanf(file, "%lu", &pages) != 1)
    return 2;
  fclose(file);
  if (strcmp(argv[1], "starve") == 0) {
    struct rlimit limit = {pages * 4096 + (1 << 20), pages * 4096 + (1 << 20)};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
      return 3;
  }
  unsigned times = strcmp(argv[1], "starve") == 0 ? 1u << 18 : strcmp(argv[1], "many") == 0 ? 1u << 13 : 1u << 6;
  for (unsigned bits = 0; bits < times; bits++)
    sum += walk(bits);
  printf("%u %u\n", walked, sum);
  fflush(stdout);
  _exit(0);
}
