/* The shelf. */
#include "shelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUM_BUCKETS 61

struct item {
  struct item *next;
  long count;
  char word[32];
};

struct shelf {
  struct item *buckets[NUM_BUCKETS];
};

static long news, puts_, hashes, weights, frees;

static __attribute__((noinline)) unsigned hash_of(const char *word) {
  unsigned hash = 5381;
  hashes++;
  while (*word)
    hash = hash * 33 + (unsigned char)*word++;
  return hash;
}

struct shelf *shelf_new(void) {
  news++;
  return calloc(1, sizeof(struct shelf));
}

void shelf_put(struct shelf *shelf, const char *word) {
  struct item **place = &shelf->buckets[hash_of(word) % NUM_BUCKETS];
  puts_++;
  while (*place && strcmp((*place)->word, word) != 0)
    place = &(*place)->next;
  if (!*place) {
    *place = calloc(1, sizeof(struct item));
    strncpy((*place)->word, word, sizeof (*place)->word - 1);
  }
  (*place)->count++;
}

long shelf_weight(const struct shelf *shelf, int (*weigh)(const char *word)) {
  long sum = 0;
  weights++;
  for (int i = 0; i < NUM_BUCKETS; i++)
    for (const struct item *item = shelf->buckets[i]; item; item = item->next)
      sum += item->count * weigh(item->word);
  return sum;
}

void shelf_free(struct shelf *shelf) {
  frees++;
  for (int i = 0; i < NUM_BUCKETS; i++)
    for (struct item *item = shelf->buckets[i]; item;) {
      struct item *next = item->next;
      free(item);
      item = next;
    }
  free(shelf);
}

void shelf_tallies(void) {
  fprintf(stderr, "tally shelf_new %ld\ntally shelf_put %ld\ntally hash_of %ld\n", news, puts_, hashes);
  fprintf(stderr, "tally shelf_weight %ld\ntally shelf_free %ld\n", weights, frees);
}
