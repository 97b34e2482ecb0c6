/* The largest or smallest elements of rows (kernels/order.py), by the steps of std::nth_element, std::sort and
std::partial_sort of libstdc++, which decide the order of equal elements; stable sorts, and searches in sorted numbers. */
#include "common.h"

/* A number with the order of an element, and the element's position. No other thread writes to the memory of pairs: the
searches of a partition stay inside because of the elements that they have found there. */
struct pair { int32_t key, at; };

INLINE void swap(struct pair *a, struct pair *b)
{
    const struct pair c = *a;
    *a = *b;
    *b = c;
}

static void median_first(struct pair *first, struct pair *last)
{
    struct pair *a = first + 1, *b = first + (last - first) / 2, *c = last - 1;
    if (a->key < b->key)
        swap(first, b->key < c->key ? b : a->key < c->key ? c : a);
    else
        swap(first, a->key < c->key ? a : b->key < c->key ? c : b);
}

/* Partitions [first, last) by the median of three of its elements. The k-th element from below that is not less, and
the k-th from above that is not greater, are swapped until the searches meet. The searches run in blocks, without
branches. */
#define BLOCK 64

static struct pair *partition(struct pair *first, struct pair *last)
{
    uint8_t ups[BLOCK], downs[BLOCK];
    int up = 0, down = 0, up_first = 0, down_first = 0;          /* of the found ones: those left, the first left */
    median_first(first, last);
    const int32_t pivot = first->key;
    first++;
    while (last - first >= 2 * BLOCK) {
        if (!up) {
            up_first = 0;
            for (int i = 0; i < BLOCK; i++) {
                ups[up] = (uint8_t)i;
                up += !(first[i].key < pivot);
            }
        }
        if (!down) {
            down_first = 0;
            for (int i = 0; i < BLOCK; i++) {
                downs[down] = (uint8_t)i;
                down += !(pivot < last[-1 - i].key);
            }
        }
        const int both = up < down ? up : down;
        for (int i = 0; i < both; i++)
            swap(first + ups[up_first + i], last - 1 - downs[down_first + i]);
        up -= both;
        down -= both;
        up_first += both;
        down_first += both;
        first += up ? 0 : BLOCK;
        last -= down ? 0 : BLOCK;
    }
    first += up ? ups[up_first] : 0;
    last -= down ? downs[down_first] : 0;
    for (;; first++) {
        while (first->key < pivot)
            first++;
        last--;
        while (pivot < last->key)
            last--;
        if (first >= last)
            return first;
        swap(first, last);
    }
}

static void adjust_heap(struct pair *heap, int64_t hole, int64_t length, struct pair value)
{
    const int64_t top = hole;
    int64_t child = hole;
    while (child < (length - 1) / 2) {
        child = 2 * (child + 1);
        child -= heap[child].key < heap[child - 1].key;
        heap[hole] = heap[child];
        hole = child;
    }
    if (!(length & 1) && child == (length - 2) / 2) {
        child = 2 * child + 1;
        heap[hole] = heap[child];
        hole = child;
    }
    while (hole > top && heap[(hole - 1) / 2].key < value.key) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = value;
}

INLINE void pop_heap(struct pair *heap, int64_t length, struct pair *result)
{
    const struct pair value = *result;
    *result = *heap;
    adjust_heap(heap, 0, length, value);
}

static void heap_select(struct pair *first, int64_t middle, int64_t n)
{
    for (int64_t parent = (middle - 2) / 2; parent >= 0 && middle > 1; parent--)
        adjust_heap(first, parent, middle, first[parent]);
    for (int64_t i = middle; i < n; i++)
        if (first[i].key < first->key)
            pop_heap(first, middle, first + i);
}

static void partial_sort(struct pair *first, int64_t middle, int64_t n)
{
    heap_select(first, middle, n);
    for (int64_t i = middle - 1; i > 0; i--)
        pop_heap(first, i, first + i);
}

/* A stable sort of at most `most` elements (8 or 16): the place of each is the number of elements before it. */
INLINE void sort_up_to(int most, struct pair *first, int64_t n)
{
    struct pair copy[16];
    int32_t keys[16], places[16];
    memcpy(copy, first, (size_t)n * sizeof *first);
    for (int j = 0; j < most; j++) {
        keys[j] = j < n ? copy[j].key : INT32_MAX;
        places[j] = 0;
    }
    for (int i = 0; i < n; i++) {
        const int32_t key = keys[i];
        for (int j = 0; j < most; j++)
            places[j] += j > i ? key <= keys[j] : key < keys[j];
    }
    for (int j = 0; j < n; j++)
        first[places[j]] = copy[j];
}

static void sort_few(struct pair *first, int64_t n)
{
    if (n > 8)
        sort_up_to(16, first, n);
    else if (n > 2)
        sort_up_to(8, first, n);
    else if (n == 2 && first[1].key < first->key)
        swap(first, first + 1);
}

static int doubled_logarithm(int64_t n)
{
    int found = 0;
    while (n >>= 1)
        found += 2;
    return found;
}

/* std::sort ends with an insertion sort over parts of at most 16 elements, none of which is greater than any element of
the next part. Here each part is sorted on its own. */
static void sort(struct pair *first, struct pair *last, int depth)
{
    while (last - first > 16) {
        if (!depth) {
            partial_sort(first, last - first, last - first);
            return;
        }
        struct pair *cut = partition(first, last);
        sort(cut, last, --depth);
        last = cut;
    }
    sort_few(first, last - first);
}

static void nth_element(struct pair *first, struct pair *nth, struct pair *last)
{
    for (int depth = doubled_logarithm(last - first); last - first > 3; depth--) {
        if (!depth) {
            heap_select(first, nth + 1 - first, last - first);
            swap(first, nth);
            return;
        }
        struct pair *cut = partition(first, last);
        if (cut <= nth)
            first = cut;
        else
            last = cut;
    }
    sort_few(first, last - first);
}

/* A number with the order of `x`: NaN is the largest and equal to itself, -0 equals 0. */
INLINE int32_t key_of(float x)
{
    const float value = x + 0.0f;
    const int32_t bits = (int32_t)bits_of(value);
    return value != value ? INT32_MAX : bits < 0 ? bits ^ INT32_MAX : bits;
}

struct top { int64_t width, k, largest, ordered, *failed; const float *x; int64_t *out; };

static void some_top(const void *args, int64_t first, int64_t last)
{
    const struct top *a = args;
    const int64_t width = a->width, k = a->k;
    struct pair *pairs = malloc((size_t)width * sizeof *pairs);
    if (!pairs) {
        fail(a->failed, NO_MEMORY);
        return;
    }
    for (int64_t r = first; r < last; r++) {
        const float *row = a->x + r * width;
        for (int64_t i = 0; i < width; i++) {
            const int32_t key = key_of(row[i]);
            pairs[i].key = a->largest ? ~key : key;
            pairs[i].at = (int32_t)i;
        }
        if (k <= width / 64)
            partial_sort(pairs, k, width);
        else {
            nth_element(pairs, pairs + k - 1, pairs + width);
            if (a->ordered)
                sort(pairs, pairs + k - 1, doubled_logarithm(k - 1));
        }
        for (int64_t i = 0; i < k; i++)
            a->out[r * k + i] = pairs[i].at;
    }
    free(pairs);
}

/* The positions of the `k` smallest (or largest) elements of each row, in the order of torch.topk: sorted if `ordered`,
else as the algorithm leaves them. A row has fewer than 2^31 elements, and k is at least 1. */
int64_t top(int64_t threads, int64_t rows, int64_t width, int64_t k, int64_t largest, int64_t ordered, const float *x,
            int64_t *out)
{
    int64_t failed = 0;
    const struct top args = {width, k, largest, ordered, &failed, x, out};
    share(threads, rows, rows_in_piece(width), some_top, &args);
    return failed;
}

/* The position of the key of rank `k`, by the partition of torch.kthvalue. */
static int64_t quick_select(struct pair *p, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    while (high > low + 1) {
        swap(p + low + (high - low) / 2, p + low + 1);
        if (p[low + 1].key > p[high].key)
            swap(p + low + 1, p + high);
        if (p[low].key > p[high].key)
            swap(p + low, p + high);
        if (p[low + 1].key > p[low].key)
            swap(p + low + 1, p + low);
        const int32_t pivot = p[low].key;
        int64_t i = low + 1, j = high;
        for (;;) {
            do
                i++;
            while (p[i].key < pivot);
            do
                j--;
            while (p[j].key > pivot);
            if (j < i)
                break;
            swap(p + i, p + j);
        }
        swap(p + low, p + j);
        if (j <= k)
            low = i;
        if (j >= k)
            high = j - 1;
    }
    if (high == low + 1 && p[low].key > p[high].key)
        swap(p + low, p + high);
    return p[k].at;
}

/* Of the elements that equal the one of rank `k`, the one that a stable sort puts there; the first NaN, if there is
one. */
static int64_t middle_of(struct pair *pairs, const float *x, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < n; i++)
        if (x[i] != x[i])
            return i;
    nth_element(pairs, pairs + k, pairs + n);
    const int32_t key = pairs[k].key;
    int64_t rank = k, at = 0;
    for (int64_t i = 0; i < n; i++)
        rank -= key_of(x[i]) < key;
    for (; key_of(x[at]) != key || rank--; at++)
        ;
    return at;
}

struct selected { int64_t width, k, middle, *failed; const float *x; int64_t *out; };

static void some_selected(const void *args, int64_t first, int64_t last)
{
    const struct selected *a = args;
    struct pair *pairs = malloc((size_t)a->width * sizeof *pairs);
    if (!pairs) {
        fail(a->failed, NO_MEMORY);
        return;
    }
    for (int64_t row = first; row < last; row++) {
        const float *x = a->x + row * a->width;
        for (int64_t i = 0; i < a->width; i++) {
            pairs[i].key = key_of(x[i]);
            pairs[i].at = (int32_t)i;
        }
        a->out[row] = a->middle ? middle_of(pairs, x, a->width, a->k) : quick_select(pairs, a->width, a->k);
    }
    free(pairs);
}

/* The position of the element of rank `k` in each row of fewer than 2^31 elements: as torch.kthvalue finds it, or, for
the median, by `middle_of`. */
int64_t ranked(int64_t threads, int64_t rows, int64_t width, int64_t k, int64_t middle, const float *x, int64_t *out)
{
    int64_t failed = 0;
    const struct selected args = {width, k, middle, &failed, x, out};
    share(threads, rows, rows_in_piece(width), some_selected, &args);
    return failed;
}

enum { RUN = 16 };                             /* so many pairs are sorted without merging */

/* Merges the sorted pairs [a, b) and [b, end) into `to`. Of equal pairs those from a come first. */
static void merge(const struct pair *a, const struct pair *b, const struct pair *end, struct pair *to)
{
    const struct pair *const middle = b;
    while (a < middle && b < end) {
        const int second = b->key < a->key;
        *to++ = *(second ? b : a);
        b += second;
        a += !second;
    }
    memcpy(to, a, (size_t)(middle - a) * sizeof *a);
    memcpy(to + (middle - a), b, (size_t)(end - b) * sizeof *b);
}

/* A stable sort. `other` is memory for as many pairs. Returns where the sorted ones are. */
static struct pair *merge_sort(struct pair *pairs, struct pair *other, int64_t n)
{
    for (int64_t i = 0; i < n; i += RUN)
        sort_few(pairs + i, n - i < RUN ? n - i : RUN);
    for (int64_t run = RUN; run < n; run *= 2) {
        for (int64_t i = 0; i < n; i += 2 * run) {
            const int64_t middle = n - i < run ? n : i + run, end = n - i < 2 * run ? n : i + 2 * run;
            merge(pairs + i, pairs + middle, pairs + end, other + i);
        }
        struct pair *const sorted = other;
        other = pairs;
        pairs = sorted;
    }
    return pairs;
}

struct sorted { int64_t width, *failed; const float *x; int64_t *out; };

static void some_sorted(const void *args, int64_t first, int64_t last)
{
    const struct sorted *a = args;
    const int64_t n = a->width;
    struct pair few[2 * RUN], *pairs = n <= RUN ? few : malloc(2 * (size_t)n * sizeof *pairs);
    if (!pairs) {
        fail(a->failed, NO_MEMORY);
        return;
    }
    for (int64_t row = first; row < last; row++) {
        for (int64_t i = 0; i < n; i++)
            pairs[i] = (struct pair){key_of(a->x[row * n + i]), (int32_t)i};
        const struct pair *found = merge_sort(pairs, pairs + n, n);
        for (int64_t i = 0; i < n; i++)
            a->out[row * n + i] = found[i].at;
    }
    if (pairs != few)
        free(pairs);
}

/* The positions that sort each row of fewer than 2^31 elements. Equal elements keep their order, and NaN is the
largest. */
int64_t sorted_places(int64_t threads, int64_t rows, int64_t width, const float *x, int64_t *out)
{
    int64_t failed = 0;
    const struct sorted args = {width, &failed, x, out};
    share(threads, rows, rows_in_piece(16 * width), some_sorted, &args);
    return failed;
}

struct searched { int64_t m, right; const float *sequence, *values; int64_t *out; };

static void some_searched(const void *args, int64_t first, int64_t last)
{
    const struct searched *a = args;
    const float *sequence = a->sequence;
    for (int64_t i = first; i < last; i++) {
        const float value = a->values[i];
        int64_t start = 0, end = a->m;
        while (start < end) {
            const int64_t middle = start + (end - start) / 2;
            const int64_t above = a->right ? sequence[middle] > value : sequence[middle] >= value;
            start += (1 - above) * (middle + 1 - start);       /* without branches, which nobody could foretell */
            end -= above * (end - middle);
        }
        a->out[i] = start;
    }
}

/* The places in a sorted sequence of m numbers before which n values belong: before equal numbers, or behind them if
`right`. A value that cannot be compared belongs to the end. */
void searched(int64_t threads, int64_t n, int64_t m, int64_t right, const float *values, const float *sequence, int64_t *out)
{
    const struct searched args = {m, right, sequence, values, out};
    share(threads, n, 4096, some_searched, &args);
}
