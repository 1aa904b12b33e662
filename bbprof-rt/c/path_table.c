/* path_table.c: hash tables for the paths of functions that have more of them than an array holds.
 *
 * A thread counts in a table alone; when it is dead, the next one takes the table over and counts on top. What is
 * counted stands in records, in chunks of the raw profile's file (in memory where there is none), so that they
 * survive what counters survive. They are chained in buckets of private memory. Nothing is ever dropped: chunks
 * are added, and with them buckets, so that chains stay short.
 *
 * A path that is in its table is counted by path_count.c, with one instruction. Putting one in happens here, under
 * the lock, with signals blocked: no handler finds a table half changed, and nobody else reads one meanwhile. A
 * record's place is stored last; before that it does not exist. */
#include "process.h"

/* Grows from the one to the other, by doubling: few paths cost little memory, many cost few system calls. */
#define FIRST_CHUNK_BYTES BBPROF_PAGE_BYTES
#define LAST_CHUNK_BYTES (BBPROF_PAGE_BYTES * 1024u)

struct path_chunk {
    struct path_chunk *next; /* the one before */
    struct raw_path *records;
    uint64_t num_bytes;
    uint32_t capacity, used, frozen;
    bool in_file;
};

/* As path_count.c does it. The product's upper bytes depend on all bytes of both; they become the lower ones. */
static struct raw_path **bucket_of(const struct path_table *table, uint64_t place, uint64_t number) {
    return &table->buckets[__builtin_bswap64((place + number) * PATH_MULTIPLIER) & table->mask];
}

static void link_in(struct path_table *table, struct raw_path *path) {
    struct raw_path **bucket = bucket_of(table, path->place, path->number);
    path->next = *bucket;
    *bucket = path;
}

/* Makes room in the buckets for this many paths. Without memory for it chains get longer. The old ones stay: a handler may have
 * interrupted the thread that looks into them. All that were ever given up are together smaller than those in force. */
static bool widen(struct path_table *table, uint64_t paths) {
    uint64_t num = table->buckets == NULL ? BBPROF_PAGE_BYTES / sizeof *table->buckets : table->mask + 1;
    while (num < paths)
        num *= 2;
    if (table->buckets != NULL && num == table->mask + 1)
        return true;
    struct raw_path **buckets = platform_map_private(num * sizeof *buckets);
    if (buckets == NULL)
        return table->buckets != NULL;
    table->buckets = buckets;
    table->mask = num - 1;
    for (struct path_chunk *chunk = table->chunks; chunk != NULL; chunk = chunk->next)
        for (uint32_t i = 0; i < chunk->used; i++)
            link_in(table, &chunk->records[i]);
    return true;
}

/* Tells of the records, which are at this place of the file. */
static void tell(struct process *process, const struct image *image, struct path_chunk *chunk, uint64_t offset) {
    struct raw_told told = {process, offset != 0};
    if (offset != 0)
        entry_of_paths(image->index, offset, sizeof *chunk->records, chunk->capacity, raw_tell, &told);
    chunk->in_file = told.is_there;
}

static bool grow(struct process *process, const struct image *image, struct path_table *table) {
    uint64_t num_bytes = FIRST_CHUNK_BYTES, offset, paths = 0;
    for (struct path_chunk *chunk = table->chunks; chunk != NULL; chunk = chunk->next)
        paths += chunk->capacity;
    if (table->chunks != NULL)
        num_bytes = table->chunks->num_bytes < LAST_CHUNK_BYTES ? table->chunks->num_bytes * 2 : LAST_CHUNK_BYTES;
    uint32_t capacity = (uint32_t)(num_bytes / sizeof(struct raw_path));
    if (!widen(table, paths + capacity))
        return false;
    struct raw_path *records = (struct raw_path *)raw_reserve(process, num_bytes, &offset);
    struct path_chunk *chunk = records == NULL ? NULL : process_allocate(process, sizeof *chunk);
    if (chunk == NULL)
        return false;
    *chunk = (struct path_chunk){.next = table->chunks, .records = records, .num_bytes = num_bytes, .capacity = capacity};
    table->chunks = chunk;
    tell(process, image, chunk, offset);
    return true;
}

struct path_table *path_table_acquire(struct process *process, struct image *image) {
    int32_t self = owner_calling(process);
    struct path_table *table = image->path_tables;
    /* A new thread may have a dead one's number. */
    while (table != NULL && table->owner != self && !owner_is_gone(process, table->owner))
        table = table->next;
    if (table == NULL) {
        table = process_allocate(process, sizeof *table);
        if (table == NULL)
            return NULL;
        *table = (struct path_table){0};
        if (!grow(process, image, table))
            return NULL;
        table->next = image->path_tables;
        image->path_tables = table;
    }
    table->owner = self;
    return table;
}

bool path_table_count(struct process *process, const struct image *image, struct path_table *table, uint64_t place, uint64_t number) {
    for (struct raw_path *path = *bucket_of(table, place, number); path != NULL; path = path->next) {
        if (path->place == place && path->number == number) {
            __atomic_fetch_add(&path->count, 1, __ATOMIC_RELAXED);
            return true;
        }
    }
    struct path_chunk *chunk = table->chunks;
    if (chunk == NULL || chunk->used == chunk->capacity) {
        if (!grow(process, image, table))
            return false;
        chunk = table->chunks;
    }
    struct raw_path *path = &chunk->records[chunk->used];
    path->number = number;
    path->count = 1;
    __atomic_store_n(&path->place, place, __ATOMIC_RELEASE);
    link_in(table, path);
    chunk->used++;
    return true;
}

void path_tables_disown(struct image *image) {
    for (struct path_table *table = image->path_tables; table != NULL; table = table->next)
        table->owner = THREAD_NONE;
}

void path_tables_reset(struct image *image, enum raw_role role) {
    for (struct path_table *table = image->path_tables; table != NULL; table = table->next)
        for (struct path_chunk *chunk = table->chunks; chunk != NULL; chunk = chunk->next)
            for (uint32_t i = 0; i < chunk->used; i++)
                chunk->records[i].baseline[role - ROLE_BASELINE_1] = __atomic_load_n(&chunk->records[i].count, __ATOMIC_RELAXED);
}

/* A forking thread that a handler interrupted may have found a record and be about to count in it: in the child the records
 * stay where they are, in its own file and with no executions. */
static void rehouse(struct process *process, const struct image *image, struct path_chunk *chunk) {
    uint64_t offset;
    struct raw_path *records = (struct raw_path *)raw_reserve(process, chunk->num_bytes, &offset), *from = chunk->records;
    chunk->in_file = false;
    for (uint32_t i = 0; i < chunk->used && records != NULL; i++)
        records[i] = (struct raw_path){.place = from[i].place, .number = from[i].number, .next = from[i].next};
    if (records == NULL || raw_map_over(process, from, records, offset, chunk->num_bytes) != 0) {
        platform_map_fresh(from, chunk->num_bytes);
        for (uint32_t i = 0; i < chunk->used && records != NULL; i++)
            from[i] = records[i];
        raw_tell_in_memory(process, IN_MEMORY_NOT_MAPPED);
    } else {
        tell(process, image, chunk, offset);
    }
    if (records != NULL)
        platform_unmap(records, chunk->num_bytes);
}

/* Nobody is to find its records. Pages stay in their place, as a handler may have interrupted its thread unseen, on another
 * stack. */
static void forget(struct path_table *table, bool is_own) {
    for (; table->chunks != NULL; table->chunks = table->chunks->next) {
        if (is_own)
            platform_map_fresh(table->chunks->records, table->chunks->num_bytes);
        else
            platform_unmap(table->chunks->records, table->chunks->num_bytes);
    }
    for (uint64_t i = 0; i <= table->mask; i++)
        if (table->buckets[i] != NULL) /* others are on pages that were never touched */
            table->buckets[i] = NULL;
}

void path_tables_restart(struct process *process, struct image *image, bool interrupted) {
    for (struct path_table *table = image->path_tables; table != NULL; table = table->next) {
        bool is_own = table->owner == process->forking_thread;
        if (is_own && interrupted)
            for (struct path_chunk *chunk = table->chunks; chunk != NULL; chunk = chunk->next)
                rehouse(process, image, chunk);
        else
            forget(table, is_own);
        table->owner = is_own ? platform_thread_id() : THREAD_NONE;
    }
}

/* The counter that stands for the function of a record, in the file. */
static uint64_t *counter_of(const struct image *image, const struct raw_path *path) {
    uint64_t counter = path->place / 8 - 1;
    bool is_tls = counter < image->counters[BANK_TLS];
    return image->segments[is_tls ? BANK_TLS : BANK_GLOBAL]->view + (is_tls ? counter : counter - image->counters[BANK_TLS]);
}

bool path_tables_rescue(const struct process *process, struct image *image, bool others_count) {
    int32_t self = platform_thread_id();
    bool is_none = true;
    for (struct path_table *table = image->path_tables; table != NULL; table = table->next) {
        if (others_count && table->owner != self && table->owner != THREAD_NONE)
            continue;
        for (struct path_chunk *chunk = table->chunks; chunk != NULL; chunk = chunk->next) {
            is_none = is_none && chunk->in_file;
            for (uint32_t i = 0; i < chunk->used && !chunk->in_file; i++) {
                struct raw_path *path = &chunk->records[i];
                uint64_t before = process->baseline == 0 ? 0 : path->baseline[process->baseline - ROLE_BASELINE_1];
                uint64_t num = __atomic_exchange_n(&path->count, before, __ATOMIC_RELAXED) - before;
                __atomic_fetch_add(counter_of(image, path), num, __ATOMIC_RELAXED);
            }
        }
    }
    return is_none;
}

uint64_t path_tables_freeze(struct image *image) {
    for (struct path_table *table = image->path_tables; table != NULL; table = table->next)
        for (struct path_chunk *chunk = table->chunks; chunk != NULL; chunk = chunk->next)
            chunk->frozen = chunk->used;
    return path_tables_frozen(image);
}

uint64_t path_tables_frozen(const struct image *image) {
    uint64_t records = 0;
    for (const struct path_table *table = image->path_tables; table != NULL; table = table->next)
        for (const struct path_chunk *chunk = table->chunks; chunk != NULL; chunk = chunk->next)
            records += chunk->frozen;
    return records;
}

uint64_t path_tables_total(const struct image *image) {
    uint64_t total = 0;
    for (const struct path_table *table = image->path_tables; table != NULL; table = table->next)
        for (const struct path_chunk *chunk = table->chunks; chunk != NULL; chunk = chunk->next)
            for (uint32_t i = 0; i < chunk->used; i++)
                total += __atomic_load_n(&chunk->records[i].count, __ATOMIC_RELAXED);
    return total;
}

void path_tables_each(const struct process *process, const struct image *image, path_sink sink, void *context) {
    for (const struct path_table *table = image->path_tables; table != NULL; table = table->next) {
        for (const struct path_chunk *chunk = table->chunks; chunk != NULL; chunk = chunk->next) {
            for (uint32_t i = 0; i < chunk->frozen; i++) {
                struct raw_path path = {.place = chunk->records[i].place, .number = chunk->records[i].number};
                path.count = __atomic_load_n(&chunk->records[i].count, __ATOMIC_RELAXED);
                if (process->baseline != 0)
                    path.count -= chunk->records[i].baseline[process->baseline - ROLE_BASELINE_1];
                sink(context, &path);
            }
        }
    }
}
