// Tight loops and small calls: the worst that a counter can meet. `kernels NAME AMOUNT`.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1 << 12 };
static uint32_t words[SIZE];
static unsigned char bytes[SIZE];
static uint64_t state = 88172645463325252u;

static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static void fill(void) {
  for (int i = 0; i < SIZE; i++) {
    words[i] = (uint32_t)next();
    bytes[i] = (unsigned char)(next() % 64 + 32);
  }
}

// A reduction that the compiler makes vectors of.
static uint64_t sum(void) {
  uint32_t total = 0;
  for (int i = 0; i < SIZE; i++)
    total += words[i] >> (i & 7);
  return total;
}

// A byte at a time, each step waiting for the last.
static uint64_t hash(void) {
  uint64_t h = 5381;
  for (int i = 0; i < SIZE; i++)
    h = h * 33 + bytes[i];
  return h;
}

// A loop that ends by what it finds.
static uint64_t scan(void) {
  uint64_t lines = 0;
  for (const unsigned char *at = bytes, *end = bytes + SIZE; at < end; at++) {
    while (at < end && *at > 40)
      at++;
    lines++;
  }
  return lines;
}

// Branches that nobody can guess.
static uint64_t classify(void) {
  uint64_t odd = 0, small = 0, other = 0;
  for (int i = 0; i < SIZE; i++) {
    if (words[i] & 1)
      odd += words[i] ^ odd;
    else if (words[i] < 1u << 30)
      small ^= words[i] * 3;
    else
      other += small >> 1;
  }
  return odd ^ small ^ other;
}

static uint64_t sieve(void) {
  static unsigned char crossed[SIZE];
  memset(crossed, 0, sizeof crossed);
  uint64_t primes = 0;
  for (int i = 2; i < SIZE; i++) {
    if (crossed[i])
      continue;
    primes++;
    for (int j = 2 * i; j < SIZE; j += i)
      crossed[j] = 1;
  }
  return primes;
}

static uint64_t matrix(void) {
  enum { N = 24 };
  static double a[N][N], b[N][N], c[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = i + j, b[i][j] = i - j;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double dot = 0;
      for (int k = 0; k < N; k++)
        dot += a[i][k] * b[k][j];
      c[i][j] = dot;
    }
  return (uint64_t)(int64_t)c[N - 1][3];
}

static uint64_t collatz(void) {
  uint64_t steps = 0;
  for (uint64_t start = 1; start < 64; start++)
    for (uint64_t n = start; n != 1; steps++)
      n = n & 1 ? 3 * n + 1 : n / 2;
  return steps;
}

static uint64_t search(void) {
  uint64_t found = 0;
  for (int k = 0; k < 256; k++) {
    uint32_t wanted = (uint32_t)k << 24, low = 0, high = SIZE;
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (middle << 20 < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    found += low;
  }
  return found;
}

__attribute__((noinline)) static uint64_t fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static uint64_t calls(void) { return fib(17); }

static int compare(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static uint64_t sort(void) {
  static uint32_t copy[SIZE / 4];
  memcpy(copy, words, sizeof copy);
  qsort(copy, SIZE / 4, sizeof copy[0], compare);
  return copy[SIZE / 8];
}

struct node {
  struct node *next;
  uint64_t value;
};

static uint64_t list(void) {
  static struct node nodes[512];
  struct node *head = NULL;
  for (int i = 0; i < 512; i++) {
    nodes[i] = (struct node){head, words[i]};
    head = &nodes[i];
  }
  uint64_t most = 0;
  for (int turn = 0; turn < 8; turn++)
    for (const struct node *at = head; at; at = at->next)
      most = at->value > most ? at->value : most + 1;
  return most;
}

static const struct kernel {
  const char *name;
  uint64_t (*run)(void);
} kernels[] = {{"sum", sum},       {"hash", hash},     {"scan", scan},       {"classify", classify},
               {"sieve", sieve},   {"matrix", matrix}, {"collatz", collatz}, {"search", search},
               {"calls", calls},   {"sort", sort},     {"list", list}};

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  long amount = strtol(argv[2], NULL, 10);
  fill();
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    if (strcmp(kernels[k].name, argv[1]))
      continue;
    uint64_t result = 0;
    for (long i = 0; i < amount; i++) {
      words[i % SIZE] += (uint32_t)result;
      result += kernels[k].run();
    }
    printf("%s %llu\n", argv[1], (unsigned long long)result);
    return 0;
  }
  return 2;
}
