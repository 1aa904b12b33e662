/* image.c: images join the process when they are loaded, and leave it when they are unloaded; their counts stay. */
#include "process.h"

#include "text.h"

const char *image_name(const struct bbprof_image *record) {
    if ((record->flags & BBPROF_FLAG_LIBRARY) == 0)
        return NULL;
    const char *name = object_name(record);
    return name == NULL ? "" : name;
}

/* Absolute, as far as it can be told. */
static const char *path_of(struct process *process, const char *name) {
    if (name == NULL)
        return process->executable;
    char *absolute = process->path_scratch[0];
    struct text text = text_in(absolute, sizeof process->path_scratch[0]);
    if (name[0] != '/') {
        text.length = platform_working_directory(absolute, text.size);
        text_add(&text, "/");
    }
    text_add(&text, name);
    char *copy = process_allocate(process, text.length + 1);
    if (copy == NULL)
        return "";
    bytes_copy(copy, absolute, text.length + 1);
    return copy;
}

static const uint8_t *presence_of(struct process *process, const struct bbprof_image *record) {
    uint8_t *bits = process_allocate(process, (record->optional_modules + 7) / 8);
    for (uint64_t module = 0; bits != NULL && module < record->optional_modules; module++)
        if (record->presence[module] != NULL)
            bits[module / 8] |= (uint8_t)(1u << module % 8);
    return bits;
}

/* The same library, loaded before and unloaded since: it counts on top. */
static struct image *find_unloaded(struct process *process, const struct bbprof_image *record, const char *path) {
    for (struct image *image = process->images; image != NULL; image = image->next)
        if (!image->loaded && bytes_equal(image->build_id, record->build_id, sizeof image->build_id) &&
            bytes_equal(image->layout, record->layout, sizeof image->layout) && text_equals(image->path, path))
            return image;
    return NULL;
}

static struct image *create(struct process *process, const struct bbprof_image *record, const char *path) {
    struct image *image = process_allocate(process, sizeof *image);
    const uint8_t *presence = presence_of(process, record);
    if (image == NULL || (presence == NULL && record->optional_modules != 0))
        return NULL;
    *image = (struct image){
        .index = process->num_images,
        .flags = record->flags,
        .counters = {record->tls_counters, record->global_counters},
        .optional_modules = record->optional_modules,
        .presence = presence,
        .path = path,
    };
    bytes_copy(image->build_id, record->build_id, sizeof image->build_id);
    bytes_copy(image->layout, record->layout, sizeof image->layout);
    entries_of_image(image, raw_log, process);
    for (int bank = 0; bank < NUM_BANKS; bank++)
        if (image->counters[bank] != 0 && segment_create(process, image, (enum bank)bank) == NULL)
            return NULL;
    process->num_images++;
    struct image **end = &process->images;
    while (*end != NULL)
        end = &(*end)->next;
    *end = image;
    return image;
}

struct image *image_join(struct process *process, struct bbprof_image *record, const char *name) {
    const char *path = path_of(process, name);
    struct image *image = find_unloaded(process, record, path);
    if (image == NULL)
        image = create(process, record, path);
    if (image == NULL)
        return NULL;
    /* Who counted in its blocks before it was unloaded cannot do so any more. */
    for (struct segment *segment = image->segments[BANK_GLOBAL]; segment != NULL; segment = segment->next)
        segment->owner = THREAD_NONE;
    path_tables_disown(image);
    image->loaded = true;
    fork_join(process, image);
    schedule_join(image);
    image->global_bank = record->global_bank;
    process->num_loaded++;
    return image;
}

void image_adopt_storage(struct process *process, struct image *image) {
    struct segment *global = image->segments[BANK_GLOBAL];
    if (global != NULL) {
        segment_attach(process, image, BANK_GLOBAL, global, image->global_bank);
        global->owner = platform_thread_id();
    }
#ifdef BBPROF_RT_EXEC
    struct segment *tls = image->segments[BANK_TLS];
    if (tls != NULL) {
        segment_attach(process, image, BANK_TLS, tls, __bbprof_tls_bank);
        tls->owner = platform_thread_id();
    }
#endif
}

/* Its pages go with it, its counts stay. It may be at exit only, so that threads count on: nothing is put in place of the pages,
 * and blocks keep their owners. */
void image_leave(struct process *process, struct bbprof_image *record) {
    struct image *image = record->image;
    struct segment *global = image->segments[BANK_GLOBAL];
    if (global != NULL && global->aside != NULL) {
        counters_move(global->view, global->aside, image->counters[BANK_GLOBAL]);
        global->aside = NULL;
    }
    if (global != NULL)
        global->place = NULL;
    __atomic_store_n(&image->loaded, false, __ATOMIC_RELEASE);
    process->num_loaded--;
}
