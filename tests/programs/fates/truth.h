/* truth.h: what the program counts of itself, in a file that it shares with the harness, so that it can be read whatever ends it.
 *
 * The file: number of names, number of rows (u64 each); 32 names of 32 bytes; 64 rows: process id, then 32 counts (u64 each).
 * A process takes the next row; TALLY comes first in its function, where the profile counts an entry. */
#ifndef TRUTH_H
#define TRUTH_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TRUTH_NAMES = 32, TRUTH_ROWS = 64 };

struct truth_row {
  uint64_t pid;
  uint64_t counts[TRUTH_NAMES];
};
struct truth {
  uint64_t num_names, num_rows;
  char names[TRUTH_NAMES][32];
  struct truth_row rows[TRUTH_ROWS];
};

extern struct truth *truth;
extern struct truth_row *truth_row;
void truth_begin_row(void);

#ifdef TRUTH_MAIN
struct truth *truth;
struct truth_row *truth_row;

/* The harness counts the process from here on: at its start and in each child that fork made. */
void truth_begin_row(void) {
  truth_row = &truth->rows[__atomic_fetch_add(&truth->num_rows, 1, __ATOMIC_RELAXED)];
  truth_row->pid = (uint64_t)getpid();
}

__attribute__((noinline)) static void truth_open(const char *const *names, unsigned num_names) {
  int file = open(getenv("TRUTH"), O_RDWR);
  truth = (struct truth *)mmap(NULL, sizeof *truth, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file < 0 || truth == MAP_FAILED) {
    fprintf(stderr, "no file for the truth\n");
    exit(99);
  }
  close(file);
  truth->num_names = num_names;
  for (unsigned i = 0; i < num_names; i++)
    strcpy(truth->names[i], names[i]);
  truth_begin_row();
}
#endif

#define TRUTH_ID(name) id_##name,
#define TRUTH_NAME(name) #name,
#define TALLY(name) __atomic_fetch_add(&truth_row->counts[id_##name], 1, __ATOMIC_RELAXED)

#endif
