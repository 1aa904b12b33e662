// gcd(72, 32) by recursion. The call goes through a pointer, so that no optimiser turns it into a loop.
unsigned gcd(unsigned a, unsigned b);
static unsigned (*volatile gcd_again)(unsigned, unsigned) = gcd;

__attribute__((noinline)) unsigned gcd(unsigned a, unsigned b) { return b == 0 ? a : gcd_again(b, a % b); }

int main(void) { return (int)gcd(72, 32); }
