/* A shared object that the program opens by name. */
static long weighed;

__attribute__((visibility("default"), noinline)) int plugin_weigh(const char *word) {
  weighed++;
  return word[0] == 'w' ? word[1] - '0' : -1;
}

__attribute__((visibility("default"), noinline)) long plugin_tally(void) { return weighed; }
