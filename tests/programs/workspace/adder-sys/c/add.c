/* Adds bit by bit, with the carry computed in C++. */
#include <stdint.h>

int carry(int a, int b, int before);

/* Adds bit by bit. */
uint64_t adder_add(uint64_t a, uint64_t b) {
    uint64_t sum = 0;
    int carried = 0;
    for (int bit = 0; bit < 64; bit++) {
        int x = a >> bit & 1, y = b >> bit & 1;
        sum |= (uint64_t)(x ^ y ^ carried) << bit;
        carried = carry(x, y, carried);
    }
    return sum;
}
