/* Calls that are made again with other tensors of the same shapes.

A function that calls one kernel takes Python longer than most kernels take for few elements: it checks its arguments,
asks who sees the call, calculates sizes, and makes a tensor. What it passes to kernels depends on the addresses of arrays
and, for most functions, else only on what is written into a key here: the dtypes, shapes and strides of tensors, and the
other arguments. autograd/repeats.py listens to such a call once, and writes a record: which arrays are made, and which
kernels are called with which addresses and numbers. `again` finds the record of a key and does the same. */
#include "notes.h"

OF_THREAD int64_t *noted = NULL;

void note(int64_t count, const int64_t *words)
{
    if (noted[0] + count > noted[1]) {
        noted[0] = 1;                          /* too many: the notes become one unknown call */
        noted[2] = UNKNOWN_NOTE;
        return;
    }
    memcpy(noted + 2 + noted[0], words, (size_t)count * sizeof *words);
    noted[0] += count;
}

static OF_THREAD object kept[MOST_KEPT];
static OF_THREAD int kept_count = 0;

void note_array(object array, int64_t bytes, int64_t written)
{
    const void *place = FIELD(array, void *, data);
    int64_t words[4 + WORDS_OF_CONTENT] = {ARRAY_NOTE, (intptr_t)place, bytes, written};
    if (kept_count == MOST_KEPT) {
        note_unknown();
        return;
    }
    layout.hold(array);
    kept[kept_count++] = array;
    if (!written && bytes <= (int64_t)(WORDS_OF_CONTENT * sizeof *words))
        memcpy(words + 4, place, (size_t)bytes);
    note(4 + WORDS_OF_CONTENT, words);
}

void note_call(int64_t function, int64_t count, const int64_t *kinds, const union argument *a)
{
    int64_t words[3 + 2 * MOST_ARGUMENTS] = {CALL_NOTE, function, count};
    memcpy(words + 3, kinds, (size_t)count * sizeof *kinds);
    for (int64_t i = 0; i < count; i++)
        memcpy(words + 3 + count + i, a + i, sizeof *a < sizeof *words ? sizeof *a : sizeof *words);
    note(3 + 2 * count, words);
}

void note_loop(const void *function, char **args, int64_t elements, const intptr_t *steps, const void *data, int64_t count,
               int64_t itemsize)
{
    int64_t words[5 + 3 * MOST_ARGUMENTS] = {LOOP_NOTE, (intptr_t)function, elements, (intptr_t)data, count};
    for (int64_t i = 0; i < count; i++) {
        int64_t *operand = words + 5 + 3 * i;
        operand[0] = (intptr_t)args[i];
        operand[1] = steps[i];
        operand[2] = 0;
        if (i + 1 < count)                     /* the last one is written to */
            memcpy(operand + 2, args[i], (size_t)itemsize);
    }
    note(5 + 3 * count, words);
}

struct divided { const int64_t *data; char **args; const intptr_t *steps; };

static void some_elements(const void *args, int64_t first, int64_t last)
{
    const struct divided *a = args;
    const intptr_t count = (intptr_t)(last - first);
    char *at[MOST_ARGUMENTS];
    for (int64_t i = 0; i < a->data[2]; i++)
        at[i] = a->args[i] + first * a->steps[i];
    ((void (*)(char **, const intptr_t *, const intptr_t *, const void *))(intptr_t)a->data[0])(
        at, &count, a->steps, (const void *)(intptr_t)a->data[1]);
}

/* Whether no element that is written is read as another one, as in reductions. `last`: the number of elements less one. */
static int in_any_order(int64_t count, char **args, const intptr_t *steps, intptr_t last)
{
    const char *out = args[count - 1];
    const intptr_t step = steps[count - 1], length = step * last;
    const char *low = length < 0 ? out + length : out, *high = length < 0 ? out : out + length;
    if (!step)
        return 0;
    for (int64_t i = 0; i + 1 < count; i++) {
        const intptr_t reach = steps[i] * last;
        const char *from = reach < 0 ? args[i] + reach : args[i], *to = reach < 0 ? args[i] : args[i] + reach;
        if ((args[i] != out || steps[i] != step) && from <= high + 15 && low <= to + 15)       /* 16: a complex128 */
            return 0;
    }
    return 1;
}

static int64_t threads_of_loops = 1;

/* Allows loops so many threads. */
KERNEL void allow_threads(int64_t threads)
{
    threads_of_loops = threads;
}

/* The inner loop of a ufunc that computes by a loop of NumPy's. Threads share many elements. `data` holds the loop, its
data, the number of its operands, of which the last one is written to, the size of an element that is read, 0 if calls
cannot be noted, and from how many elements on threads share them. */
KERNEL void divided_loop(char **args, const intptr_t *dimensions, const intptr_t *steps, const int64_t *data)
{
    int64_t *const listened = noted;
    const struct divided a = {data, args, steps};
    const intptr_t n = *dimensions;
    if (noted && data[3]) {
        note_loop((const void *)(intptr_t)divided_loop, args, n, steps, data, data[2], data[3]);
        noted = NULL;                          /* the loop itself is not noted again */
    }
    if (n >= data[4] && in_any_order(data[2], args, steps, n - 1))
        share(threads_of_loops, n, 16384, some_elements, &a);
    else
        some_elements(&a, 0, n);
    noted = listened;
}

/* Notes the kernels that this thread calls from now on in the content of these bytes, whose first two words are 0 and the
most words of notes; stops with None. */
KERNEL object listen(object unused, object notes)
{
    static OF_THREAD object held = NULL;       /* the bytes live until this thread stops, whatever interrupts it */
    const object before = held;
    (void)unused;
    held = has_type(notes, layout.bytes) ? notes : NULL;
    noted = held ? (int64_t *)(void *)((char *)held + layout.content) : NULL;
    while (kept_count)
        layout.drop(kept[--kept_count]);
    if (held)
        layout.hold(held);
    if (before)
        layout.drop(before);
    layout.hold(layout.none);
    return layout.none;
}

/* What autograd/repeats.py passes: the classes int, float, list, tuple, Size, str, bool, NoneType and dtype; the address
where None stands as long as no thread is in inference mode; True; the class of what a tensor is a view of, offsets of its
fields, and their value `seen` for a view that never had a history; the addresses where the set of threads stands that are
in a special mode, and whether writes are noted; functions of Python's C API; and PyArray_SetBaseObject of NumPy's. */
enum { PLAIN = 4 };
static struct {
    object whole, real, list, tuple, size, plain[PLAIN], yes, view, never;
    int64_t base, born, seen, made;
    const object *usual, *special, *noting;
    intptr_t (*length_of_list)(object), (*length_of_set)(object);
    int (*set_base)(object, object);
} classes;

KERNEL void set_classes(const int64_t *a)
{
    classes.whole = (object)(intptr_t)a[0];
    classes.real = (object)(intptr_t)a[1];
    classes.list = (object)(intptr_t)a[2];
    classes.tuple = (object)(intptr_t)a[3];
    classes.size = (object)(intptr_t)a[4];
    for (int i = 0; i < PLAIN; i++)
        classes.plain[i] = (object)(intptr_t)a[5 + i];
    classes.usual = (const object *)(intptr_t)a[9];
    classes.yes = (object)(intptr_t)a[10];
    classes.view = (object)(intptr_t)a[11];
    classes.base = a[12];
    classes.born = a[13];
    classes.seen = a[14];
    classes.made = a[15];
    classes.never = (object)(intptr_t)a[16];
    classes.special = (const object *)(intptr_t)a[17];
    classes.noting = (const object *)(intptr_t)a[18];
    classes.length_of_list = (intptr_t (*)(object))(intptr_t)a[19];
    classes.length_of_set = (intptr_t (*)(object))(intptr_t)a[20];
    classes.set_base = (int (*)(object, object))(intptr_t)a[21];
}

#define OF_VIEW(x, field) (*(object *)((char *)(x) + classes.field))

/* The key of a call: words that tell its arguments apart, and the tensors among them and their arrays. */
#define MOST_WORDS 512
struct key { int64_t count, tensors, words[MOST_WORDS]; object given[MOST_TENSORS], arrays[MOST_TENSORS]; };

/* Adds a tensor whose operations nobody records. Returns whether it is one, and its array an aligned one. */
static int add_tensor(struct key *k, object x)
{
    const object array = OF_TENSOR(x, array), view = OF_TENSOR(x, view);
    const int ndim = has_type(array, layout.array) ? FIELD(array, int, ndim) : MOST_DIMENSIONS;
    if (ndim >= MOST_DIMENSIONS || k->tensors == MOST_TENSORS || OF_TENSOR(x, flag) != identity.no
            || OF_TENSOR(x, node) != layout.none || !(FIELD(array, int, flags) & IN_STEP))
        return 0;
    object made = layout.none;                 /* why writes to a view are refused */
    if (view != layout.none) {
        const object base = has_type(view, classes.view) ? OF_VIEW(view, base) : NULL;
        if (!base || !has_type(base, identity.tensor) || OF_TENSOR(base, flag) != identity.no)
            return 0;
        made = OF_VIEW(view, made);
    }
    int64_t *words = k->words + k->count, first = 0;
    while (first < k->tensors && FIELD(k->arrays[first], void *, data) != FIELD(array, void *, data))
        first++;
    words[0] = (intptr_t)identity.tensor;
    words[1] = (intptr_t)FIELD(array, object, dtype);
    words[2] = ndim;
    words[3] = first;                          /* the first tensor that begins at the same address */
    words[4] = (intptr_t)made;
    for (int i = 0; i < ndim; i++) {
        words[5 + i] = FIELD(array, intptr_t *, shape)[i];
        words[5 + ndim + i] = FIELD(array, intptr_t *, strides)[i];
    }
    k->count += 5 + 2 * ndim;
    k->given[k->tensors] = x;
    k->arrays[k->tensors++] = array;
    return 1;
}

/* Adds an argument. Returns whether it is of a kind that keys tell apart: a tensor; an int of 64 bits or a float; a list or
tuple of these; a string, a bool, None or a dtype, which are told apart by address. */
static int add(struct key *k, object x, int inside)
{
    const object class = FIELD(x, object, type);
    int64_t *words = k->words + k->count;
    if (k->count > MOST_WORDS - 5 - 2 * MOST_DIMENSIONS)
        return 0;
    if (class == identity.tensor)
        return add_tensor(k, x);
    words[0] = (intptr_t)class;
    k->count += 2;
    if (class == classes.whole) {
        words[1] = layout.to_int(x);
        if (words[1] != -1 || !layout.raised())
            return 1;
        layout.clear();
        return 0;
    }
    if (class == classes.real) {
        const double real = layout.to_double(x);
        memcpy(words + 1, &real, sizeof real);
        return 1;
    }
    if (!inside && (class == classes.list || class == classes.tuple || class == classes.size)) {
        const int listed = class == classes.list;
        const intptr_t n = words[1] = listed ? classes.length_of_list(x) : layout.length(x);
        for (intptr_t i = 0; i < n; i++)
            if (!add(k, listed ? identity.in_list(x, i) : layout.item(x, i), 1))
                return 0;
        return 1;
    }
    words[1] = (intptr_t)x;
    for (int i = 0; i < PLAIN; i++)
        if (class == classes.plain[i])
            return 1;
    return 0;
}

static int64_t hash_of(const struct key *k)
{
    uint64_t hash = (uint64_t)k->count;
    for (int64_t i = 0; i < k->count; i++)
        hash = (hash ^ (uint64_t)k->words[i]) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
    return (int64_t)(hash | 1);
}

/* Makes the key of a tuple of arguments; 0 if there is none. */
static int key_of(struct key *k, object args)
{
    k->count = k->tensors = 0;
    for (intptr_t i = 0, n = layout.length(args); i < n; i++)
        if (!add(k, layout.item(args, i), 0))
            return 0;
    return 1;
}

/* The operands of calls: a number; an address that begins so many bytes behind the data of an argument's array or of a new
array; or one in the record. */
enum { A_NUMBER, OF_ARGUMENT, OF_MADE, IN_RECORD };
#define MOST_MADE 8
#define MOST_RESULTS 64

static int64_t operand(const int64_t *words, const struct key *k, const object *made, const char *record)
{
    if (words[0] == A_NUMBER)
        return words[1];
    if (words[0] == IN_RECORD)
        return (intptr_t)record + words[1];
    const object array = words[0] == OF_ARGUMENT ? k->arrays[words[1]] : made[words[1]];
    return (intptr_t)FIELD(array, char *, data) + words[2];
}

/* Calls the kernels of a record. The words: the number of calls, and for each of them the function, whether it is a loop,
the number of operands and, for a loop, of elements, and its data; three words for each operand; and, for a loop, steps. */
static int64_t called(const int64_t *words, const struct key *k, const object *made, const char *record)
{
    int64_t calls = *words++;
    while (calls--) {
        const int64_t function = words[0], loop = words[1], count = words[2];
        const int64_t *operands = words + 5, *steps = operands + 3 * count;
        if (loop) {
            char *args[MOST_ARGUMENTS];
            intptr_t by[MOST_ARGUMENTS];
            const intptr_t elements = (intptr_t)words[3];
            for (int64_t i = 0; i < count; i++) {
                args[i] = (char *)(intptr_t)operand(operands + 3 * i, k, made, record);
                by[i] = (intptr_t)steps[i];
            }
            ((void (*)(char **, const intptr_t *, const intptr_t *, const void *))(intptr_t)function)(
                args, &elements, by, (const void *)(intptr_t)words[4]);
            words = steps + count;
            continue;
        }
        union argument a[MOST_ARGUMENTS];
        for (int64_t i = 0; i < count; i++) {
            const int64_t word = operand(operands + 3 * i, k, made, record);
            if (operands[3 * i] == A_NUMBER)
                memcpy(a + i, &word, sizeof *a < sizeof word ? sizeof *a : sizeof word);
            else
                a[i].place = (void *)(intptr_t)word;
        }
        const int64_t failed = ((int64_t (*)(const void *))(intptr_t)function)(a);
        if (failed)
            return failed;
        words = steps;
    }
    return 0;
}

/* A view of a tensor, as `track_view` of autograd/views.py makes it outside special modes: the words are its dtype, the
reason why writes to it are refused, how many bytes behind the tensor's data it begins, and its dimensions, shape and
strides. */
static object viewed(object source, const int64_t *words)
{
    const object array = OF_TENSOR(source, array), origin = OF_TENSOR(source, view), cell = OF_TENSOR(source, version);
    const int ndim = (int)words[3];
    intptr_t shape[MOST_DIMENSIONS], strides[MOST_DIMENSIONS];
    for (int i = 0; i < ndim; i++) {
        shape[i] = (intptr_t)words[4 + i];
        strides[i] = (intptr_t)words[4 + ndim + i];
    }
    layout.hold((object)(intptr_t)words[0]);   /* the new array takes these references */
    object part = layout.new_array(layout.array, (object)(intptr_t)words[0], ndim, shape, strides,
                                   FIELD(array, char *, data) + words[2], FIELD(array, int, flags) & WRITEABLE, NULL);
    if (!part)
        return NULL;
    layout.hold(array);
    object view = classes.set_base(part, array) ? NULL : identity.new_instance(classes.view, NULL, NULL);
    object result = view ? identity.new_instance(identity.tensor, NULL, NULL) : NULL;
    if (!result) {
        if (view)
            layout.drop(view);
        layout.drop(part);
        return NULL;
    }
    OF_VIEW(view, base) = origin == layout.none ? source : OF_VIEW(origin, base);
    OF_VIEW(view, born) = identity.in_list(cell, 0);
    OF_VIEW(view, seen) = classes.never;
    OF_VIEW(view, made) = (object)(intptr_t)words[1];
    OF_TENSOR(result, array) = part;
    OF_TENSOR(result, node) = layout.none;
    OF_TENSOR(result, view) = view;
    OF_TENSOR(result, flag) = identity.no;
    OF_TENSOR(result, version) = cell;
    const object held[] = {OF_VIEW(view, base), OF_VIEW(view, born), classes.never, OF_VIEW(view, made), layout.none,
                           identity.no, cell};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        layout.hold(held[i]);
    return result;
}

/* The arrays that a record makes, the tensors that it writes to, its results, and its calls. The words of a record are,
in this order:
    the number of new arrays, and for each of them its dtype, dimensions and size in bytes, whether it is in the order of
        columns, and its shape
    the number of tensors among the arguments that are written to, and their places
    whether there are views among the results, the number of results, whether they are several, what makes a tuple of them,
        and the number of words of the results. A result is NEW and the place of a new array; GIVEN and the place of an
        argument; or VIEW, the place of an argument and the words of `viewed`
    the calls */
enum { NEW, GIVEN, VIEW };
enum { VIEWS, RESULTS, SEVERAL, TUPLE, SIZE, AFTER };
struct parts { const int64_t *made, *written, *results, *calls; };

static struct parts parts_of(const int64_t *words)
{
    struct parts found = {words, NULL, NULL, NULL};
    int64_t count = *words++;
    while (count--)
        words += 4 + words[1];
    found.written = words;
    found.results = words + 1 + words[0];
    found.calls = found.results + AFTER + found.results[SIZE];
    return found;
}

/* The first byte of an array, and one that is not before its end. */
static void span(object array, const char **low, const char **high)
{
    enum { LARGEST_ELEMENT = 16 };
    *low = FIELD(array, const char *, data);
    *high = *low + LARGEST_ELEMENT;
    for (int i = 0; i < FIELD(array, int, ndim); i++) {
        const intptr_t reach = (FIELD(array, intptr_t *, shape)[i] - 1) * FIELD(array, intptr_t *, strides)[i];
        *(reach < 0 ? low : high) += reach;
    }
}

/* Whether what a record does to the arguments of a call is as the record says. Views are made outside special modes of
autograd. What is written to is writeable, shares memory with no other argument that begins elsewhere, and nobody notes
writes. Both are no tensors of inference mode. */
static int allowed(const struct parts *p, const struct key *k)
{
    if (p->results[VIEWS]) {
        if (classes.length_of_set(*classes.special))
            return 0;
        for (int64_t i = 0; i < k->tensors; i++)
            if (!has_type(OF_TENSOR(k->given[i], version), identity.list))
                return 0;
    }
    for (int64_t i = 0; i < p->written[0]; i++) {
        const int64_t at = p->written[1 + i];
        const object array = k->arrays[at];
        const char *low, *high, *start, *end;
        if (!(FIELD(array, int, flags) & WRITEABLE) || *classes.noting != identity.no
                || !has_type(OF_TENSOR(k->given[at], version), identity.list))
            return 0;
        span(array, &low, &high);
        for (int64_t j = 0; j < k->tensors; j++) {
            span(k->arrays[j], &start, &end);
            if (FIELD(k->arrays[j], void *, data) != FIELD(array, void *, data) && start < high && low < end)
                return 0;
        }
    }
    return 1;
}

/* Counts a write in the version of a tensor. Returns whether Python raised an error. */
static int count_write(object tensor)
{
    const object cell = OF_TENSOR(tensor, version), before = identity.in_list(cell, 0);
    object after = before ? layout.from_int(layout.to_int(before) + 1) : NULL;
    return !after || identity.set_in_list(cell, 0, after);
}

/* The result of which the words begin at *words, which become those of the next result. */
static object result_of(const int64_t **words, const struct key *k, const object *made)
{
    const int64_t kind = *(*words)++, at = *(*words)++;
    if (kind == NEW)
        return wrapped(NULL, made[at]);
    if (kind == GIVEN) {
        layout.hold(k->given[at]);
        return k->given[at];
    }
    const int64_t *of_view = *words;
    *words += 4 + 2 * of_view[3];
    return viewed(k->given[at], of_view);
}

/* The result of a record whose new arrays were filled. */
static object results_of(const int64_t *words, const struct key *k, const object *made)
{
    const int64_t *word = words + AFTER;
    if (!words[SEVERAL])
        return result_of(&word, k, made);
    object tensors[MOST_RESULTS], result = NULL;
    int64_t done = 0;
    while (done < words[RESULTS] && (tensors[done] = result_of(&word, k, made)))
        done++;
    if (done == words[RESULTS])
        result = layout.call((object)(intptr_t)words[TUPLE], tensors, (size_t)done, NULL);
    while (done--)
        layout.drop(tensors[done]);
    return result;
}

/* The kernel of a result that is the same for every call: copies so many bytes. */
KERNEL int64_t enter_constant(const union argument *a)
{
    memcpy(a[2].place, a[1].place, (size_t)a[0].whole);
    return 0;
}

/* Makes the arrays of a record, calls its kernels and returns its results. NULL after an error of Python; None if a kernel
fails, or if the record is not for this call. */
static object repeated(const int64_t *words, const struct key *k, const char *record, int garbage)
{
    object made[MOST_MADE], result = NULL;
    int64_t count = 0, failed = 0;
    const struct parts p = parts_of(words);
    if (!allowed(&p, k)) {
        layout.hold(layout.none);
        return layout.none;
    }
    const int64_t wanted = *words++;
    for (; count < wanted; count++) {
        const object dtype = (object)(intptr_t)words[0];
        const int ndim = (int)words[1];
        intptr_t shape[MOST_DIMENSIONS], bytes = (intptr_t)words[2];
        for (int i = 0; i < ndim; i++)
            shape[i] = (intptr_t)words[4 + i];
        layout.hold(dtype);                    /* the array takes this reference */
        made[count] = layout.new_array(layout.array, dtype, ndim, shape, NULL, NULL, (int)words[3], NULL);
        words += 4 + ndim;
        if (!made[count])
            break;
        if (garbage)
            memset(FIELD(made[count], void *, data), 0xFF, (size_t)bytes);      /* NaN, which no sum hides */
    }
    if (count == wanted) {
        if (*p.calls) {
            for (int64_t i = 0; i < k->tensors; i++) {
                layout.hold(k->given[i]);      /* other threads may run meanwhile */
                layout.hold(k->arrays[i]);
            }
            void *thread = layout.save_thread();
            failed = called(p.calls, k, made, record);
            layout.restore_thread(thread);
        }
        int64_t raised = 0;
        for (int64_t i = 0; i < p.written[0] && !failed; i++)
            raised |= count_write(k->given[p.written[1 + i]]);
        if (failed) {
            layout.hold(layout.none);
            result = layout.none;
        } else if (!raised)
            result = results_of(p.results, k, made);
        for (int64_t i = 0; *p.calls && i < k->tensors; i++) {
            layout.drop(k->given[i]);
            layout.drop(k->arrays[i]);
        }
    }
    while (count--)
        layout.drop(made[count]);
    return result;
}

/* The places of a function's table. Each has the hash of a key; the number of its calls so far or, with a record, its life,
which other keys of the place shorten; and the record, a tuple of bytes and of what lives as long. */
#define PLACES 8
#define LONGEST 16
enum { SEEN_TWICE = 2, HEARD_TWICE = 4 };
struct entry { int64_t hash, seen, record; };

static char *entry_at(object table, int64_t hash)
{
    return (char *)table + layout.content + ((uint64_t)hash >> 8) % PLACES * sizeof(struct entry);
}

static object nothing(void)
{
    layout.hold(layout.none);
    return layout.none;
}

static const int64_t *words_of(object record)
{
    return (const int64_t *)(const void *)((char *)layout.item(record, 0) + layout.content);
}

/* The result of a call with the tuple `args`, if the table has its record. True if the call should be listened to, because
it was made before; None for every other call, and while this thread listens to a function that makes this call. */
KERNEL object again(object table, object args)
{
    struct key k;
    struct entry e;
    if (noted || *classes.usual != layout.none || !key_of(&k, args))
        return nothing();
    const int64_t hash = hash_of(&k);
    char *at = entry_at(table, hash);
    memcpy(&e, at, sizeof e);
    if (e.hash != hash) {
        if (e.record && --e.seen > 0)
            memcpy(at, &e, sizeof e);
        else {
            if (e.record)
                layout.drop((object)(intptr_t)e.record);
            e = (struct entry){hash, 1, 0};
            memcpy(at, &e, sizeof e);
        }
        return nothing();
    }
    if (!e.record) {
        if (e.seen == HEARD_TWICE)
            return nothing();
        e.seen++;
        memcpy(at, &e, sizeof e);
        if (e.seen <= SEEN_TWICE)
            return nothing();
        layout.hold(classes.yes);
        return classes.yes;
    }
    const object record = (object)(intptr_t)e.record;
    const int64_t *words = words_of(record);
    if (words[0] != k.count || memcmp(words + 1, k.words, (size_t)k.count * sizeof *words))
        return nothing();
    if (e.seen != LONGEST) {
        e.seen = LONGEST;
        memcpy(at, &e, sizeof e);
    }
    layout.hold(record);
    object result = repeated(words + 1 + k.count, &k, (const char *)words, 0);
    layout.drop(record);
    return result;
}

/* keyed(args): the key of a tuple of arguments, as bytes that a record begins with; None if there is none. */
KERNEL object keyed(object bytes_of, object args)
{
    struct key k;
    if (!key_of(&k, args))
        return nothing();
    object address = layout.from_pointer(k.words), size = layout.from_int(k.count * 8);
    object given[2] = {address, size}, result = NULL;
    if (address && size)
        result = layout.call(bytes_of, given, 2, NULL);
    if (address)
        layout.drop(address);
    if (size)
        layout.drop(size);
    return result;
}

/* tried((record, args)): the result of a record, whose new arrays hold other numbers before kernels write to them. */
KERNEL object tried(object unused, object pair)
{
    struct key k;
    (void)unused;
    const object record = layout.item(pair, 0);
    if (!key_of(&k, layout.item(pair, 1)))
        return nothing();
    const int64_t *words = words_of(record);
    return repeated(words + 1 + k.count, &k, (const char *)words, 1);
}

/* learned((record, args)): puts the record into the table. */
KERNEL object learned(object table, object pair)
{
    struct key k;
    struct entry e;
    const object record = layout.item(pair, 0);
    if (!key_of(&k, layout.item(pair, 1)))
        return nothing();
    const int64_t hash = hash_of(&k);
    char *at = entry_at(table, hash);
    memcpy(&e, at, sizeof e);
    const object before = e.record ? (object)(intptr_t)e.record : NULL;
    layout.hold(record);
    e = (struct entry){hash, LONGEST, (intptr_t)record};
    memcpy(at, &e, sizeof e);
    if (before)
        layout.drop(before);
    return nothing();
}

/* Drops all records of a table and what it counted. */
KERNEL object forget(object table, object unused)
{
    struct entry e;
    const struct entry empty = {0, 0, 0};
    (void)unused;
    for (int64_t i = 0; i < PLACES; i++) {
        char *at = (char *)table + layout.content + i * (int64_t)sizeof e;
        memcpy(&e, at, sizeof e);
        memcpy(at, &empty, sizeof e);
        if (e.record)
            layout.drop((object)(intptr_t)e.record);
    }
    return nothing();
}
