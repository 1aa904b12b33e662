/* part.c: a library that comes and goes. */
extern void tally_part(void);

__attribute__((noinline)) unsigned part(unsigned way) {
  tally_part();
  unsigned sum = way;
  if (way & 1)
    sum += 3;
  else
    sum ^= 5;
  if (way & 2)
    sum *= 7;
  else
    sum ^= 9;
  return sum;
}
