/* rust_record.c: the record of the Rust program, and what it counts. */
#define NUM_TLS 0
#define NUM_GLOBAL 1
#define BUILD_ID 0x45
#include "record.h"

void hit(void);
void hit(void) {
    HIT_SHARED(0);
}
