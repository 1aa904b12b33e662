/* text.h: texts in buffers of fixed size: cut at the end, always terminated. */
#ifndef BBPROF_TEXT_H
#define BBPROF_TEXT_H

#include "private_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *start;
    size_t size, length;
    bool cut;
};

struct text text_in(char *buffer, size_t size);
void text_add_bytes(struct text *text, const char *bytes, size_t length);
void text_add(struct text *text, const char *more);
void text_add_number(struct text *text, uint64_t number);
void text_add_hex(struct text *text, const uint8_t *bytes, size_t num_bytes);

size_t text_length(const char *text);
bool text_equals(const char *a, const char *b);
bool text_starts_with(const char *text, const char *start);
/* Reads a number, of small letters above nine, up to what is no digit of it: what is too large is the largest. */
const char *text_number(const char *text, unsigned base, uint64_t *value);
/* The part behind the last slash. */
const char *text_base_name(const char *path);

void bytes_clear(void *bytes, size_t num_bytes);
void bytes_copy(void *to, const void *from, size_t num_bytes);
bool bytes_equal(const void *a, const void *b, size_t num_bytes);

#endif
