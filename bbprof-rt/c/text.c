/* text.c: see text.h. Loops instead of memcpy and friends: the runtime must not need libc. */
#include "text.h"

struct text text_in(char *buffer, size_t size) {
    buffer[0] = '\0';
    return (struct text){buffer, size, 0, false};
}

void text_add_bytes(struct text *text, const char *bytes, size_t length) {
    size_t room = text->size - 1 - text->length;
    if (length > room) {
        length = room;
        text->cut = true;
    }
    bytes_copy(text->start + text->length, bytes, length);
    text->length += length;
    text->start[text->length] = '\0';
}

void text_add(struct text *text, const char *more) {
    text_add_bytes(text, more, text_length(more));
}

void text_add_number(struct text *text, uint64_t number) {
    char digits[20];
    size_t first = sizeof digits;
    do
        digits[--first] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    text_add_bytes(text, digits + first, sizeof digits - first);
}

void text_add_hex(struct text *text, const uint8_t *bytes, size_t num_bytes) {
    for (size_t i = 0; i < num_bytes; i++) {
        char digits[2] = {"0123456789abcdef"[bytes[i] >> 4], "0123456789abcdef"[bytes[i] & 15]};
        text_add_bytes(text, digits, 2);
    }
}

size_t text_length(const char *text) {
    size_t length = 0;
    while (text[length] != '\0')
        length++;
    return length;
}

bool text_equals(const char *a, const char *b) {
    while (*a != '\0' && *a == *b)
        a++, b++;
    return *a == *b;
}

bool text_starts_with(const char *text, const char *start) {
    while (*start != '\0' && *text == *start)
        text++, start++;
    return *start == '\0';
}

const char *text_number(const char *text, unsigned base, uint64_t *value) {
    for (*value = 0;; text++) {
        unsigned digit = *text >= '0' && *text <= '9' ? (unsigned)(*text - '0') : base;
        if (*text >= 'a' && *text <= 'f')
            digit = (unsigned)(*text - 'a') + 10;
        if (digit >= base)
            return text;
        *value = *value > (UINT64_MAX - digit) / base ? UINT64_MAX : *value * base + digit;
    }
}

const char *text_base_name(const char *path) {
    const char *base = path;
    for (const char *next = path; *next != '\0'; next++)
        if (*next == '/')
            base = next + 1;
    return base;
}

void bytes_clear(void *bytes, size_t num_bytes) {
    volatile char *target = bytes;
    for (size_t i = 0; i < num_bytes; i++)
        target[i] = 0;
}

void bytes_copy(void *to, const void *from, size_t num_bytes) {
    volatile char *target = to;
    const char *source = from;
    for (size_t i = 0; i < num_bytes; i++)
        target[i] = source[i];
}

bool bytes_equal(const void *a, const void *b, size_t num_bytes) {
    const char *left = a, *right = b;
    for (size_t i = 0; i < num_bytes; i++)
        if (left[i] != right[i])
            return false;
    return true;
}
