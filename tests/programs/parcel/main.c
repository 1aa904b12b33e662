/* The program: fills a shelf, weighs it in two ways, and has a plugin weigh it if one is named: parcel [PLUGIN]. */
#include "shelf.h"

#include <stdio.h>
#ifdef PARCEL_DLOPEN
#include <dlfcn.h>
#endif

static long lengths, vowels;

static __attribute__((noinline)) int length(const char *word) {
  int n = 0;
  lengths++;
  while (word[n])
    n++;
  return n;
}

static __attribute__((noinline)) int num_vowels(const char *word) {
  int n = 0;
  vowels++;
  for (; *word; word++)
    switch (*word) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u':
      n++;
      break;
    default:
      break;
    }
  return n;
}

int main(int argc, char **argv) {
  struct shelf *shelf = shelf_new();
  char word[16];
  for (int i = 0; i < 3000; i++) {
    snprintf(word, sizeof word, "w%o%c", i * 7 % 500, "aeixyz"[i % 6]);
    shelf_put(shelf, word);
  }
  printf("%ld %ld\n", shelf_weight(shelf, length), shelf_weight(shelf, num_vowels));
#ifdef PARCEL_DLOPEN
  if (argc > 1) {
    void *plugin = dlopen(argv[1], RTLD_NOW);
    if (!plugin) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    int (*plugin_weigh)(const char *) = (int (*)(const char *))dlsym(plugin, "plugin_weigh");
    long (*plugin_tally)(void) = (long (*)(void))dlsym(plugin, "plugin_tally");
    printf("plugin %ld\n", shelf_weight(shelf, plugin_weigh));
    fprintf(stderr, "tally plugin_weigh %ld\ntally plugin_tally 1\n", plugin_tally());
    dlclose(plugin);
  }
#else
  (void)argv;
#endif
  shelf_free(shelf);
  shelf_tallies();
  fprintf(stderr, "tally length %ld\ntally num_vowels %ld\ntally main 1\n", lengths, vowels);
  return argc > 1 ? 0 : 4;
}
