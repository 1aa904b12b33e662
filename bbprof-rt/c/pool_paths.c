/* pool_paths.c: adds a process's records of paths to those of a pool. In a pool the records of an image are in ascending order, by
 * place and number, each path once; those of the process are put in order in memory, and the two are merged into one stream. */
#include "pool.h"
#include "stream.h"

#include "text.h"

#include <errno.h>

static bool is_before(const struct path_sum *a, const struct path_sum *b) {
    return a->place != b->place ? a->place < b->place : a->number < b->number;
}

/* Heapsort: in place, and as quick whatever the order was. */
static void sift(struct path_sum *heap, uint64_t at, uint64_t num) {
    struct path_sum moved = heap[at];
    for (uint64_t child; (child = 2 * at + 1) < num; at = child) {
        if (child + 1 < num && is_before(&heap[child], &heap[child + 1]))
            child++;
        if (!is_before(&moved, &heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static void put_in_order(struct path_sum *paths, uint64_t num) {
    for (uint64_t at = num / 2; at > 0; at--)
        sift(paths, at - 1, num);
    for (uint64_t last = num; last > 1; last--) {
        struct path_sum greatest = paths[0];
        paths[0] = paths[last - 1];
        paths[last - 1] = greatest;
        sift(paths, 0, last - 1);
    }
}

/* Equal neighbours become one; those without counts go. */
static int join_equal(struct path_sums *sums) {
    uint64_t num = 0;
    for (uint64_t i = 0; i < sums->num; i++) {
        struct path_sum *last = num == 0 ? NULL : &sums->paths[num - 1];
        if (sums->paths[i].count == 0)
            continue;
        if (last == NULL || is_before(last, &sums->paths[i]))
            sums->paths[num++] = sums->paths[i];
        else if (__builtin_add_overflow(last->count, sums->paths[i].count, &last->count))
            return -EOVERFLOW;
    }
    sums->num = num;
    return 0;
}

static bool is_place(const struct told_image *image, uint64_t place) {
    return place % 8 == 0 && place != 0 && place / 8 - 1 < told_counters(image, BANK_TLS) + told_counters(image, BANK_GLOBAL);
}

/* The process's records at one place of its file. */
static int gather(const struct raw_contents *from, const struct told_paths *told, struct path_sums *sums) {
    const struct raw_path *records = (const struct raw_path *)(const void *)from->process->piece;
    const uint64_t at_once = PIECE_BYTES / sizeof *records;
    uint32_t baseline = (uint32_t)from->header.baseline;
    for (uint64_t done = 0; done < told->records; done += at_once) {
        uint64_t now = told->records - done < at_once ? told->records - done : at_once;
        int why = platform_read_at(from->file, told->offset + done * sizeof *records, from->process->piece, now * sizeof *records);
        if (why != 0)
            return why;
        for (uint64_t i = 0; i < now; i++) {
            if (records[i].place == 0)
                continue;
            uint64_t before = baseline == 0 ? 0 : records[i].baseline[baseline - ROLE_BASELINE_1];
            if (!is_place(told->image, records[i].place) || before > records[i].count)
                return -EBADMSG;
            sums->paths[sums->num++] = (struct path_sum){records[i].place, records[i].number, records[i].count - before};
        }
    }
    return 0;
}

int path_sums_of(const struct raw_contents *from, const struct told_image *target, struct path_sums *sums) {
    uint64_t records = 0;
    int why = 0;
    *sums = (struct path_sums){0};
    for (const struct told_paths *told = from->paths; told != NULL; told = told->next)
        if (told->image->target == target && __builtin_add_overflow(records, told->records, &records))
            return -EBADMSG;
    if (records == 0)
        return 0;
    if (__builtin_mul_overflow(records, sizeof *sums->paths, &sums->num_bytes))
        return -EBADMSG;
    sums->paths = platform_map_private(sums->num_bytes);
    if (sums->paths == NULL)
        return -ENOMEM;
    for (const struct told_paths *told = from->paths; told != NULL && why == 0; told = told->next)
        if (told->image->target == target)
            why = gather(from, told, sums);
    put_in_order(sums->paths, sums->num);
    return why != 0 ? why : join_equal(sums);
}

void path_sums_forget(struct path_sums *sums) {
    if (sums->paths != NULL)
        platform_unmap(sums->paths, sums->num_bytes);
    *sums = (struct path_sums){0};
}

/* The records that a pool has of the image; it has them in one place. */
static int find_pooled(const struct raw_contents *pool, const struct told_image *image, const struct told_paths **found) {
    *found = NULL;
    for (const struct told_paths *told = pool->paths; told != NULL; told = told->next) {
        if (told->image == image && *found != NULL)
            return -EBADMSG;
        if (told->image == image)
            *found = told;
    }
    return 0;
}

int path_sums_merge(const struct raw_contents *pool, const struct told_image *image, const struct path_sums *added, struct stream *stream,
                    uint64_t *num) {
    const struct told_paths *told;
    struct path_sum *pooled = (struct path_sum *)(void *)pool->process->piece, last = {0, 0, 0};
    const uint64_t at_once = PIECE_BYTES / sizeof *pooled;
    uint64_t next = 0;
    int why = find_pooled(pool, image, &told);
    *num = 0;
    for (uint64_t done = 0; why == 0 && told != NULL && done < told->records; done += at_once) {
        uint64_t now = told->records - done < at_once ? told->records - done : at_once;
        why = platform_read_at(pool->file, told->offset + done * sizeof *pooled, pool->process->piece, now * sizeof *pooled);
        for (uint64_t i = 0; i < now && why == 0; i++) {
            struct path_sum sum = pooled[i];
            if (!is_place(image, sum.place) || !is_before(&last, &sum))
                return -EBADMSG;
            last = sum;
            for (; next < added->num && is_before(&added->paths[next], &sum); next++, ++*num)
                if (stream != NULL)
                    stream_put(stream, &added->paths[next], sizeof sum);
            if (next < added->num && !is_before(&sum, &added->paths[next]) &&
                __builtin_add_overflow(sum.count, added->paths[next++].count, &sum.count))
                return -EOVERFLOW;
            if (stream != NULL)
                stream_put(stream, &sum, sizeof sum);
            ++*num;
        }
    }
    for (; next < added->num && why == 0; next++, ++*num)
        if (stream != NULL)
            stream_put(stream, &added->paths[next], sizeof *pooled);
    return why;
}
