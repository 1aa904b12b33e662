// Dense, sparse and nested switches, cases that share a target, fallthrough, loops with several exits.
#include <stdio.h>

static unsigned long tally_classify, tally_sparse, tally_scan;

__attribute__((noinline)) int classify(int c) {
  tally_classify++;
  switch (c) {
  case 'a': case 'e': case 'i': case 'o': case 'u':
    return 1;
  case '0': case '1': case '2': case '3': case '4':
    c++;
    /* fall through */
  case '5': case '6':
    if (c == '5')
      return 7;
    break;
  case ' ': case '\t': case '\n':
    return 3;
  default:
    if (c > 127)
      return 4;
  }
  return c & 3;
}

__attribute__((noinline)) long sparse(long n) {
  tally_sparse++;
  switch (n) {
  case 1: return 10;
  case 1000: return 20;
  case 1000000: return 30;
  case -5: n = 2; break;
  case 77777777777: return 50;
  }
  switch (n & 7) {
  case 0: case 2: case 4: return n / 2;
  case 1: case 3: return 3 * n + 1;
  }
  return n;
}

__attribute__((noinline)) int scan(const char *text, int limit) {
  tally_scan++;
  int total = 0;
  for (int i = 0; text[i]; i++) {
    if (i == limit)
      return -total;
    for (int j = 0; j < 5; j++) {
      if (text[i] == "xyz"[j % 3])
        goto found;
      if (j * i > 40)
        break;
      total += classify(text[i] + j);
    }
    continue;
  found:
    total += 1000;
  }
  return total;
}

int main(void) {
  long sum = 0;
  static const long values[] = {1, 1000, 1000000, -5, 77777777777, 8, 9, 10, 11, 12, 13, 15};
  for (int round = 0; round < 30; round++)
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
      sum += sparse(values[i] + (round % 3 == 2));
  for (int c = 0; c < 256; c++)
    sum += classify(c);
  printf("%ld %d %d\n", sum, scan("hello, world: the lazy fox 012345", 100), scan("aeiou xyz", 6));
  fprintf(stderr, "tally classify %lu\ntally sparse %lu\ntally scan %lu\n", tally_classify, tally_sparse, tally_scan);
  return 0;
}
