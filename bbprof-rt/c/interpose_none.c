/* interpose_none.c: what the runtime's start refers to in static programs; the rest comes with the first thread. */
#include "process.h"

BBPROF_HIDDEN const char bbprof_interposer[] = "wrapped";

void interposer_prepare(void) {
}
