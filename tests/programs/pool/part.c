/* part.c: a shared library that some of the children load. */
unsigned part(unsigned n) {
  return n % 2 == 0 ? n / 2 : 3 * n + 1;
}
