// Flags that live across places of counters: carries, overflows, comparisons that decide twice, exchanges, and assembly that returns
// flags or jumps by them. Where an increment stood between what sets flags and what asks for them, the output would change.
//@ levels: -O0 -O1 -O2 -O3 -Os
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long word;
typedef unsigned __int128 wide;

static unsigned long tally_add, tally_checked, tally_choose, tally_twice, tally_exchange, tally_carry, tally_bit, tally_jump, tally_wide, tally_float, tally_maybe;

static word seed = 88172645463325252UL;

static word next(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

// Numbers of four words, by the carry flag.
__attribute__((noinline)) word add(word *sum, const word *left, const word *right) {
  unsigned char carry = 0;
  tally_add++;
  for (int i = 0; i < 4; i++)
    carry = _addcarry_u64(carry, left[i], right[i], (unsigned long long *)&sum[i]);
  if (carry)
    sum[0] ^= 1;
  return carry;
}

__attribute__((noinline)) int checked(int a, int b, unsigned *out) {
  int sum, product;
  tally_checked++;
  int overflows = __builtin_sadd_overflow(a, b, &sum);
  if (a & 1)
    *out ^= (unsigned)sum;
  if (__builtin_smul_overflow(a, b, &product))
    return overflows ? 3 : 2;
  *out += (unsigned)product;
  return overflows;
}

// One comparison, and two values and a branch by it, beside others.
__attribute__((noinline)) long choose(long a, long b, long *least) {
  tally_choose++;
  long greater = a > b ? a : b, other = a > b ? *least : a - b;
  if (a > b)
    *least = b;
  else if (a == b)
    return other;
  return greater ^ other;
}

__attribute__((noinline)) unsigned twice(unsigned a, unsigned b) {
  unsigned result = 0;
  tally_twice++;
  if (a < b)
    result = b - a;
  result += (a < b) + 2 * (a <= b);
  if (a > b)
    result ^= a;
  return a == b ? result + 7 : result;
}

__attribute__((noinline)) int exchange(long *shared, long expected, long wanted) {
  tally_exchange++;
  int did = __atomic_compare_exchange_n(shared, &expected, wanted, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  if (wanted & 1)
    did += 2 * __atomic_sub_fetch(shared, 3, __ATOMIC_SEQ_CST) == 0;
  return did ? did : (int)expected;
}

__attribute__((noinline)) void leave(int code) {
  if (code > 100000)
    exit(code);
}

// Assembly that returns flags, and what depends on them.
__attribute__((noinline)) word carry(word a, word b) {
  int carried;
  word sum = a;
  tally_carry++;
  __asm__("addq %2, %0" : "+r"(sum), "=@ccc"(carried) : "r"(b));
  if (carried)
    sum += 3;
  if (sum & 8)
    return sum ^ 5;
  return carried ? sum : sum + 1;
}

__attribute__((noinline)) word bit(const word *from, unsigned position) {
  int is_set;
  tally_bit++;
  __asm__ volatile("btq %2, %1" : "=@ccc"(is_set) : "r"(*from), "r"((word)(position & 63)));
  if (is_set)
    return *from >> 7;
  leave((int)(position & 63));
  return is_set ? 0 : position;
}

// Assembly that jumps.
__attribute__((noinline)) int jump(word a, word b) {
  tally_jump++;
  __asm__ goto("cmpq %1, %0\n\tjb %l2\n\tje %l3" : : "r"(a), "r"(b) : "cc" : less, equal);
  if (a - b > 1000)
    return 4;
  return 3;
less:
  return b - a > 1000 ? 1 : 2;
equal:
  return 0;
}

__attribute__((noinline)) wide of_wide(wide a, wide b, word *count) {
  tally_wide++;
  if (a < b)
    (*count)++;
  wide sum = a + b;
  if (sum < a)
    return sum - b * 3;
  return a >= b ? a - b : sum;
}

// Values that no instruction chooses: code generation makes blocks of these.
__attribute__((noinline)) long double of_floats(long double a, double b, float c, int *count) {
  tally_float++;
  long double least = a < b ? a : b;
  double most = b > c ? b : c;
  if (least < most)
    *count += 1;
  return (most < a ? least : most) + (a == b ? 1 : c);
}

// A call that may not come back, and what was compared in front of it.
__attribute__((noinline)) int maybe(int a, int b) {
  tally_maybe++;
  int is_less = a < b;
  leave(a);
  int result = is_less ? b : a;
  if (a < b)
    result++;
  leave(result);
  return is_less ? result : result - 1;
}

int main(void) {
  word sum[4] = {1, 2, 3, 4}, total = 0, count = 0;
  unsigned out = 0;
  int counted = 0;
  long least = 0, shared = 0;
  for (int i = 0; i < 2000; i++) {
    word numbers[8];
    for (int j = 0; j < 8; j++)
      numbers[j] = i % 3 ? next() : ~0UL >> (next() & 3);
    total += add(sum, numbers, numbers + 4);
    total = total * 31 + (word)checked((int)numbers[0], (int)(numbers[1] >> (i & 31)), &out);
    total = total * 31 + (word)choose((long)(numbers[2] & 7), (long)(numbers[3] & 7), &least);
    total = total * 31 + twice(numbers[4] & 3, numbers[5] & 3);
    total = total * 31 + (word)exchange(&shared, i % 5, i);
    total = total * 31 + carry(numbers[6], numbers[7]);
    total = total * 31 + bit(&numbers[i & 7], (unsigned)i);
    total = total * 31 + (word)jump(numbers[0] >> (i & 63), numbers[1] >> (i & 63));
    wide product = of_wide((wide)numbers[1] << 64 | numbers[2], (wide)numbers[3] << 64 | numbers[4], &count);
    total = total * 31 + (word)(product >> 64) + (word)product;
    total = total * 31 + (word)(long)of_floats((long double)(numbers[5] & 63), (double)(numbers[6] & 63), (float)(numbers[7] & 63), &counted);
    total = total * 31 + (word)maybe((int)(numbers[0] & 63), (int)(numbers[1] & 63));
  }
  printf("%lu %lu %lu %lu %lu %u %ld %ld %lu %d\n", sum[0], sum[1], sum[2], sum[3], total, out, least, shared, count, counted);
  fprintf(stderr, "tally add %lu\ntally checked %lu\ntally choose %lu\ntally twice %lu\n", tally_add, tally_checked, tally_choose, tally_twice);
  fprintf(stderr, "tally exchange %lu\ntally carry %lu\ntally bit %lu\ntally jump %lu\n", tally_exchange, tally_carry, tally_bit, tally_jump);
  fprintf(stderr, "tally of_wide %lu\ntally of_floats %lu\ntally maybe %lu\n", tally_wide, tally_float, tally_maybe);
  return 0;
}
