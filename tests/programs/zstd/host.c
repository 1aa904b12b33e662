/* Makes text, compresses it at several levels, decompresses and compares; then feeds the decompressor damage. */
#include "zstd.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  size_t size = argc > 1 ? (size_t)atol(argv[1]) : 100000;
  char *text = malloc(size), *back = malloc(size);
  size_t bound = ZSTD_compressBound(size);
  char *packed = malloc(bound);
  static const char *const words[] = {"counter ", "edge ", "block ", "the ", "of ", "spanning tree ", "\n", "chord, "};
  unsigned state = 12345;
  for (size_t at = 0; at < size;) {
    state = state * 1103515245u + 12345u;
    const char *word = words[(state >> 16) % 8];
    for (size_t i = 0; word[i] && at < size; i++)
      text[at++] = word[i];
  }
  static const int levels[] = {-1, 1, 3, 6, 12, 19};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    size_t length = ZSTD_compress(packed, bound, text, size, levels[i]);
    size_t restored = ZSTD_decompress(back, size, packed, length);
    printf("level %d: %zu bytes, %s\n", levels[i], length, restored == size && !memcmp(text, back, size) ? "same" : "different");
    if (length > 20) {
      packed[length / 2] ^= 0x55;
      packed[5] ^= 3;
      restored = ZSTD_decompress(back, size, packed, length);
      printf("damaged: %s\n", ZSTD_isError(restored) ? "refused" : "accepted");
    }
  }
  free(text), free(back), free(packed);
  return 0;
}
