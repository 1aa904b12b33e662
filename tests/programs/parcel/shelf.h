/* A library that keeps words in the order in which they came, with a count each. Every function tallies its own entries. */
#ifndef SHELF_H
#define SHELF_H

#ifdef __cplusplus
extern "C" {
#endif

#define SHELF_API __attribute__((noinline, visibility("default")))

struct shelf;

SHELF_API struct shelf *shelf_new(void);
SHELF_API void shelf_put(struct shelf *shelf, const char *word);
SHELF_API long shelf_weight(const struct shelf *shelf, int (*weigh)(const char *word));
SHELF_API void shelf_free(struct shelf *shelf);
/* In a source file of its own, which programs need not link. */
SHELF_API int shelf_unused(int x);
/* Prints the lines `tally NAME COUNT` of the library. */
SHELF_API void shelf_tallies(void);

#ifdef __cplusplus
}
#endif

#endif
