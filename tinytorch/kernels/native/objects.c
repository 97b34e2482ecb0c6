/* Functions that Python calls as it calls its built-in functions. ctypes takes longer than many a kernel to find the
address of an array and to pass arguments on, and Python takes longer than many a kernel to check arguments. No header
of Python or NumPy is included, so one build serves every version: objects.py passes the offsets of the fields that are
read here, and the addresses of the functions of Python's and NumPy's C API. */
#include "notes.h"
#include "objects.h"

struct layout layout;

KERNEL void set_layout(const int64_t *a)
{
    layout.array = (object)(intptr_t)a[0];
    layout.bytes = (object)(intptr_t)a[1];
    layout.error = (object)(intptr_t)a[2];
    layout.none = (object)(intptr_t)a[3];
    layout.type = a[4];
    layout.data = a[5];
    layout.ndim = a[6];
    layout.shape = a[7];
    layout.strides = a[8];
    layout.dtype = a[9];
    layout.flags = a[10];
    layout.content = a[11];
    layout.from_pointer = (object (*)(void *))(intptr_t)a[12];
    layout.from_int = (object (*)(long long))(intptr_t)a[13];
    layout.to_int = (long long (*)(object))(intptr_t)a[14];
    layout.to_double = (double (*)(object))(intptr_t)a[15];
    layout.save_thread = (void *(*)(void))(intptr_t)a[16];
    layout.restore_thread = (void (*)(void *))(intptr_t)a[17];
    layout.raise = (void (*)(object, const char *))(intptr_t)a[18];
    layout.raised = (object (*)(void))(intptr_t)a[19];
    layout.clear = (void (*)(void))(intptr_t)a[20];
    layout.length = (intptr_t (*)(object))(intptr_t)a[21];
    layout.item = (object (*)(object, intptr_t))(intptr_t)a[22];
    layout.value = (object (*)(object, object))(intptr_t)a[23];
    layout.hold = (void (*)(object))(intptr_t)a[24];
    layout.drop = (void (*)(object))(intptr_t)a[25];
    layout.call = (object (*)(object, object const *, size_t, object))(intptr_t)a[26];
    layout.new_array = (object (*)(object, object, int, const intptr_t *, const intptr_t *, void *, int, object))
        (intptr_t)a[27];
}

/* The address of a contiguous and writeable array; a TypeError for every other object. */
KERNEL object place_of(object unused, object x)
{
    (void)unused;
    const int wanted = CONTIGUOUS | WRITEABLE;
    if (has_type(x, layout.array) && (FIELD(x, int, flags) & wanted) == wanted)
        return layout.from_pointer(FIELD(x, void *, data));
    layout.raise(layout.error, "no contiguous array that may be written to");
    return NULL;
}

/* Calls the function whose address is the content of the bytes `entry`. Its argument is the address of the content of
the bytes `packed`. Other threads may run meanwhile. */
KERNEL object enter(object entry, object packed)
{
    if (!has_type(packed, layout.bytes)) {
        layout.raise(layout.error, "a kernel takes bytes");
        return NULL;
    }
    int64_t (*function)(const void *);
    note_unknown();
    memcpy(&function, (char *)entry + layout.content, sizeof function);
    void *thread = layout.save_thread();
    const int64_t result = function((char *)packed + layout.content);
    layout.restore_thread(thread);
    return layout.from_int(result);
}

/* The words in which `signature` of objects.py writes down the arguments of a kernel: their kinds, and the calculation of
a size from the numbers among them. */
enum { WHOLE, REAL, ARRAY, MATRIX };
enum { END, CONSTANT, ARGUMENT, TIMES, PLUS, LARGER };
enum { READ, WRITTEN, OPTIONAL };
/* Larger numbers are left to Python, so that no calculation overflows. */
#define LARGEST ((int64_t)1 << 31)
#define DEPTH 8

/* Calculates one number from the arguments, or returns -1. Returns the word after the calculation. */
static const int64_t *calculated(const int64_t *words, const union argument *a, int64_t *result)
{
    int64_t stack[DEPTH] = {0};
    int depth = 0, fits = 1;
    for (; *words != END; words += 2) {
        if (*words == CONSTANT || *words == ARGUMENT) {
            const int64_t x = *words == CONSTANT ? words[1] : a[words[1]].whole;
            fits &= x >= 0 && depth < DEPTH;
            stack[depth < DEPTH ? depth++ : 0] = x;
            continue;
        }
        depth--;
        const int64_t x = stack[depth - 1], y = stack[depth];
        fits &= x >= 0 && y >= 0 && x <= LARGEST && y <= LARGEST;
        if (fits)
            stack[depth - 1] = *words == TIMES ? x * y : *words == PLUS || x > y ? x + (*words == PLUS) * y : y;
    }
    *result = fits ? stack[0] : -1;
    return words + 1;
}

/* Finds the address of an array of the dtype and size that the words name. Returns the word after them; NULL if the
object is another one. */
static const int64_t *array_at(const int64_t *words, object x, const union argument *a, void **found)
{
    const int64_t dtype = words[0], itemsize = words[1], marks = words[2];
    int64_t size, count = 1;
    words = calculated(words + 3, a, &size);
    *found = NULL;
    if (x == layout.none && marks & OPTIONAL)
        return words;
    if (!has_type(x, layout.array) || FIELD(x, object, dtype) != (object)(intptr_t)dtype)
        return NULL;
    const int wanted = marks & WRITTEN ? CONTIGUOUS | WRITEABLE : CONTIGUOUS;
    for (int i = 0; i < FIELD(x, int, ndim); i++)
        count *= FIELD(x, intptr_t *, shape)[i];
    *found = FIELD(x, void *, data);
    if (noted)
        note_array(x, count * itemsize, marks & WRITTEN);
    return (FIELD(x, int, flags) & wanted) == wanted && count == size && (intptr_t)*found % itemsize == 0 ? words : NULL;
}

/* The same for a matrix of floats, or an array of matrices, whose sizes and steps the words name (`KERNELS` of table.py
lists them). */
static const int64_t *matrix_at(const int64_t *words, object x, const union argument *a, void **found)
{
    const int64_t dtype = words[0], count = words[1];
    int64_t given[8] = {0};
    words += 2;
    for (int i = 0; i < count; i++) {
        words = calculated(words, a, &given[i]);
        if (given[i] < 0 || given[i] > LARGEST)
            return NULL;
    }
    if (!has_type(x, layout.array) || FIELD(x, object, dtype) != (object)(intptr_t)dtype)
        return NULL;
    const int outer = count == 8 ? 2 : 0;
    const int64_t rows = given[given[0] ? 2 : 1], columns = given[given[0] ? 1 : 2], distance = given[3];
    const int64_t shape[4] = {given[4], given[5], rows, columns}, steps[4] = {given[6], given[7], distance, 1};
    if (FIELD(x, int, ndim) != outer + 2 || distance < columns)
        return NULL;
    for (int i = 0; i < outer + 2; i++) {
        const int k = i + 2 - outer;
        if (FIELD(x, intptr_t *, shape)[i] != shape[k] || FIELD(x, intptr_t *, strides)[i] != 4 * steps[k])
            return NULL;
    }
    *found = FIELD(x, void *, data);
    if (noted)                                 /* its size does not matter: it is no small constant */
        note_array(x, LARGEST, READ);
    return (intptr_t)*found % 4 == 0 ? words : NULL;
}

/* Reads `count` arguments of a kernel by its signature: `first` and then those from `args` on. Returns the word after
those of these arguments; NULL if an argument is not as the signature says, or if only Python can tell whether it is. All
numbers are read before any array, because code of a class of numbers runs then. */
static const int64_t *fitting(const int64_t *signature, object first, object const *args, int64_t count,
                              union argument *a)
{
    const int64_t *kinds = signature + 2, *words = kinds + signature[1];
    for (int64_t i = 0; i < count; i++) {
        const object x = i ? args[i - 1] : first;
        int doubtful = 0;                      /* -1 may be a number, or mean an error */
        if (kinds[i] == WHOLE)
            doubtful = (a[i].whole = layout.to_int(x)) == -1;
        else if (kinds[i] == REAL)
            doubtful = (a[i].real = layout.to_double(x)) == -1.0;
        if (doubtful && layout.raised()) {
            layout.clear();
            return NULL;
        }
    }
    for (int64_t i = 1; words && i < count; i++)
        if (kinds[i] == ARRAY || kinds[i] == MATRIX)
            words = (kinds[i] == ARRAY ? array_at : matrix_at)(words, args[i - 1], a, &a[i].place);
    return words;
}

/* Calls a kernel. Other threads may run meanwhile. */
static int64_t entered(const int64_t *signature, const union argument *a)
{
    int64_t (*function)(const void *) = (int64_t (*)(const void *))(intptr_t)signature[0];
    void *thread = layout.save_thread();
    const int64_t result = function(a);
    layout.restore_thread(thread);
    return result;
}

/* Checks the arguments of a kernel by its signature, calls it, and returns what it returns; -1 without a call if they
do not fit. */
KERNEL object call_checked(object signature, object const *args, intptr_t given)
{
    const int64_t *words = (const int64_t *)((char *)signature + layout.content);
    union argument a[MOST_ARGUMENTS];
    const int fits = given == words[1] && fitting(words, args[0], args + 1, given, a);
    if (noted && fits)
        note_call(words[0], given, words + 2, a);
    return layout.from_int(fits ? entered(words, a) : -1);
}

/* A new array of so many bytes that the kernel fills, whose address goes to `result` among the arguments; what the kernel
returned if it failed. */
static object filled(const int64_t *words, union argument *a, union argument *result, object dtype, int64_t bytes,
                     int ndim, const intptr_t *shape, int64_t count, const int64_t *kinds)
{
    layout.hold(dtype);                        /* the array takes this reference */
    object out = layout.new_array(layout.array, dtype, ndim, shape, NULL, NULL, 0, NULL);
    if (!out)
        return NULL;
    result->place = FIELD(out, void *, data);
    if (noted) {
        note_array(out, bytes, WRITTEN);
        note_call(words[0], count, kinds, a);
    }
    const int64_t failed = entered(words, a);
    if (!failed)
        return out;
    layout.drop(out);
    return layout.from_int(failed);
}

/* The same for a kernel whose last argument is an array that it fills. This array is made here. Its shape comes second
among the arguments, and it is returned if the kernel returns 0. */
KERNEL object make_checked(object signature, object const *args, intptr_t given)
{
    const int64_t *words = (const int64_t *)((char *)signature + layout.content), *last;
    const int64_t count = words[1] - 1;
    int64_t size, product = 1;
    intptr_t shape[MOST_DIMENSIONS];
    union argument a[MOST_ARGUMENTS];
    if (given != words[1] || !(last = fitting(words, args[0], args + 2, count, a)))
        return layout.from_int(-1);
    calculated(last + 3, a, &size);
    const intptr_t ndim = layout.length(args[1]);
    for (intptr_t i = 0; product >= 0 && i < ndim && i < MOST_DIMENSIONS; i++) {
        const int64_t extent = layout.to_int(layout.item(args[1], i));
        shape[i] = (intptr_t)extent;
        product = extent < 0 || extent > LARGEST || product > LARGEST ? -1 : product * extent;
    }
    if (ndim < 0 || ndim > MOST_DIMENSIONS || product < 0 || product != size) {
        layout.clear();
        return layout.from_int(-1);
    }
    return filled(words, a, &a[count], (object)(intptr_t)last[0], size * last[1], (int)ndim, shape, count + 1, words + 2);
}

/* The places of the arguments of the elementwise machine (walk4 of table.py). */
enum { ELEMENTS = 1, PLAN_SIZE = 2, SIZES = 3, NUMBERS = 7, PLAN = 11, OPERANDS = 12, RESULT = 16, SLOTS = 17 };
static const int64_t kinds_of_slots[SLOTS] = {WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE,
                                              ARRAY, ARRAY, ARRAY, ARRAY, ARRAY};

/* Runs the elementwise machine on arrays and then numbers, and returns the new array. The arrays after the first one
have its shape, or one element and not more dimensions. An array of one number, repeated by strides of zero, as the
gradient of a sum is, counts as one element. -1 without a call if they do not fit. The words of the signature are the
machine's function, a dtype and its size, the numbers of arrays and of numbers, and the plan. */
KERNEL object make_walked(object signature, object const *args, intptr_t given)
{
    const int64_t *words = (const int64_t *)((char *)signature + layout.content);
    const int64_t itemsize = words[2], arrays = words[3], numbers = words[4];
    union argument a[SLOTS] = {{0}};
    intptr_t *shape = NULL;
    int ndim = 0, fits = given == 1 + arrays + numbers;
    if (fits) {
        a[0].whole = layout.to_int(args[0]);
        for (int64_t i = 0; i < numbers; i++)
            a[NUMBERS + i].real = layout.to_double(args[1 + arrays + i]);
        if (layout.raised()) {
            layout.clear();
            fits = 0;
        }
    }
    for (int64_t k = 0; fits && k < arrays; k++) {
        const object x = args[1 + k];
        fits = has_type(x, layout.array) && FIELD(x, object, dtype) == (object)(intptr_t)words[1]
            && FIELD(x, intptr_t, data) % itemsize == 0;
        if (!fits)
            break;
        const intptr_t *of_x = FIELD(x, intptr_t *, shape), *steps = FIELD(x, intptr_t *, strides);
        const int dimensions = FIELD(x, int, ndim);
        int64_t count = 1;
        int alike = k && dimensions == ndim, moves = 0;
        for (int i = 0; i < dimensions; i++) {
            count *= of_x[i];
            alike = alike && of_x[i] == shape[i];
            moves |= of_x[i] != 1 && steps[i];
        }
        if (!k) {
            shape = FIELD(x, intptr_t *, shape);
            ndim = dimensions;
            a[ELEMENTS].whole = count;
        }
        fits = k ? alike || (count == 1 && dimensions <= ndim) : count > 0;
        fits = fits && (!moves || FIELD(x, int, flags) & CONTIGUOUS);
        a[SIZES + k].whole = moves ? count : 1;
        a[OPERANDS + k].place = FIELD(x, void *, data);
        if (noted)
            note_array(x, a[SIZES + k].whole * itemsize, READ);
    }
    if (!fits)
        return layout.from_int(-1);
    a[PLAN_SIZE].whole = words[5];
    a[PLAN].place = (void *)(words + 6);
    if (noted) {
        const int64_t held[2] = {HELD_NOTE, (intptr_t)signature};
        note(2, held);
    }
    return filled(words, a, &a[RESULT], (object)(intptr_t)words[1], a[ELEMENTS].whole * itemsize, ndim, shape, SLOTS,
                  kinds_of_slots);
}

/* Calls the function that the dictionary has for the first argument, with the others. */
KERNEL object call_named(object functions, object const *args, intptr_t given)
{
    object function = given ? layout.value(functions, args[0]) : NULL;
    if (!function) {
        layout.raise(layout.error, "there is no kernel of this name");
        return NULL;
    }
    layout.hold(function);                     /* its first call puts another one in its place */
    object result = layout.call(function, args + 1, (size_t)given - 1, NULL);
    layout.drop(function);
    return result;
}

/* A kernel that objects.py calls to find out whether arrays are read as NumPy reads them. */
KERNEL int64_t enter_nothing(const union argument *a)
{
    (void)a;
    return 0;
}

/* Runs a program (replay.c) and returns the array that it makes, or what `enter_replay` returned if it made none or failed.
After the bytes come the arrays and then the numbers that this call has. The words of the bytes: the address of `enter_replay`
and its nine arguments; the address of the bases, which arrays, the new array and numbers are written to in this order;
the numbers of arrays, of new arrays (0 or 1) and of numbers; the new array's dtype, number of dimensions and shape; and how
many bytes before each array its memory begins. */
enum { BASES = 10, ARRAYS, MADE, REALS, DTYPE, DIMENSIONS, EXTENTS };

KERNEL object launch(object unused, object const *args, intptr_t given)
{
    (void)unused;
    const int64_t *words = (const int64_t *)((char *)args[0] + layout.content);
    if (!has_type(args[0], layout.bytes) || given != 1 + words[ARRAYS] + words[REALS]) {
        layout.raise(layout.error, "a program takes bytes, arrays and numbers");
        return NULL;
    }
    note_unknown();
    int64_t *base = (int64_t *)(intptr_t)words[BASES];
    const int64_t *before = words + EXTENTS + words[DIMENSIONS];
    object made = NULL;
    int64_t k = 0;
    for (; k < words[ARRAYS]; k++) {
        if (!has_type(args[1 + k], layout.array)) {
            layout.raise(layout.error, "a program takes arrays");
            return NULL;
        }
        base[k] = (intptr_t)FIELD(args[1 + k], void *, data) - before[k];
    }
    for (int64_t i = 0; i < words[REALS]; i++) {
        const double x = layout.to_double(args[1 + k + i]);
        if (x == -1.0 && layout.raised())
            return NULL;
        memcpy(base + k + words[MADE] + i, &x, sizeof x);
    }
    if (words[MADE]) {
        intptr_t shape[MOST_DIMENSIONS];
        for (int64_t i = 0; i < words[DIMENSIONS]; i++)
            shape[i] = (intptr_t)words[EXTENTS + i];
        layout.hold((object)(intptr_t)words[DTYPE]);
        made = layout.new_array(layout.array, (object)(intptr_t)words[DTYPE], (int)words[DIMENSIONS], shape, NULL, NULL, 0, NULL);
        if (!made)
            return NULL;
        base[k] = (intptr_t)FIELD(made, void *, data);
    }
    const int64_t failed = entered(words, (const union argument *)(words + 1));
    if (made && !failed)
        return made;
    if (made)
        layout.drop(made);
    return layout.from_int(failed);
}

struct identity identity;

KERNEL void set_identity(const int64_t *a)
{
    identity.list = (object)(intptr_t)a[0];
    identity.tensor = (object)(intptr_t)a[1];
    identity.no = (object)(intptr_t)a[2];
    identity.grad = (object)(intptr_t)a[3];
    identity.hooks = (object)(intptr_t)a[4];
    identity.array = a[5];
    identity.flag = a[6];
    identity.version = a[7];
    identity.node = a[8];
    identity.view = a[9];
    identity.of_dict = a[10];
    identity.item = (object (*)(object, object))(intptr_t)a[11];
    identity.from_bool = (object (*)(long))(intptr_t)a[12];
    identity.in_list = (object (*)(object, intptr_t))(intptr_t)a[13];
    identity.attribute = (object (*)(object, object))(intptr_t)a[14];
    identity.set_item = (int (*)(object, object, object))(intptr_t)a[15];
    identity.set_in_list = (int (*)(object, intptr_t, object))(intptr_t)a[16];
    identity.new_list = (object (*)(intptr_t))(intptr_t)a[17];
    identity.new_instance = (object (*)(object, object, object))(intptr_t)a[18];
}

KERNEL object wrapped(object unused, object array)
{
    (void)unused;
    object cell = identity.new_list(1), zero = layout.from_int(0);
    object made = cell && zero ? identity.new_instance(identity.tensor, NULL, NULL) : NULL;
    if (!made)
        return NULL;                           /* there is no memory for anything */
    identity.set_in_list(cell, 0, zero);
    layout.hold(array);
    layout.hold(layout.none);
    layout.hold(layout.none);
    layout.hold(identity.no);
    OF_TENSOR(made, array) = array;
    OF_TENSOR(made, node) = layout.none;
    OF_TENSOR(made, view) = layout.none;
    OF_TENSOR(made, flag) = identity.no;
    OF_TENSOR(made, version) = cell;
    return made;
}

/* The number of references to an object that has few. It stands before the object's class. */
INLINE int64_t references(object x)
{
    uint32_t found;
    memcpy(&found, (char *)x + layout.type - sizeof(void *), sizeof found);
    return found;
}

enum { AT_ADDRESS, ITEM, NUMBER, NO_ITEM, ALONE, UNCHANGED };

/* Whether one object is as an entry of four words says. The first word is a kind:
    AT_ADDRESS  address, -, object: it is at this address
    ITEM        dict, key, object: the dict has it under this key
    NUMBER      address, address, size: so many bytes are the same at both addresses
    NO_ITEM     dict, key, -: the dict has None or nothing under this key
    ALONE       dict of a leaf, tensor, array: the leaf's gradient is this tensor or None; the tensor has this array and
                requires no gradient; and nothing refers to them but the leaf and one other object each */
INLINE int holds(const int64_t *entry)
{
    const object first = (object)(intptr_t)entry[1], second = (object)(intptr_t)entry[2];
    const object last = (object)(intptr_t)entry[3];
    object found;
    if (entry[0] == AT_ADDRESS)
        return *(object *)first == last;
    if (entry[0] == NUMBER)
        return !memcmp(first, second, entry[3]);
    if (entry[0] == ALONE) {
        found = identity.item(first, identity.grad);
        return (found == second || !found || found == layout.none) && references(second) == 1 + (found == second)
            && OF_TENSOR(second, array) == last && references(last) == 2 && OF_TENSOR(second, flag) == identity.no;
    }
    found = identity.item(first, second);
    if (entry[0] == NO_ITEM)
        return !found || found == layout.none;
    return found == last;
}

/* The version of a dict, which any change increases; 0 if Python has no versions. */
INLINE int64_t version_of(object dict)
{
    int64_t found = 0;
    if (identity.of_dict)
        memcpy(&found, (char *)dict + identity.of_dict, sizeof found);
    return found;
}

/* Whether objects are where they were. The bytes `packed` hold their number and an entry for each of them. The entry
UNCHANGED, dict, version, count: the next `count` entries, which are about items of this dict, hold if it has this version.
If they hold in another version, this one is written there. */
KERNEL object same(object unused, object packed)
{
    (void)unused;
    if (!has_type(packed, layout.bytes)) {
        layout.raise(layout.error, "addresses come as bytes");
        return NULL;
    }
    char *words = (char *)packed + layout.content, *of_version = NULL;
    int64_t count, last = -1, version = 0;
    memcpy(&count, words, sizeof count);
    for (int64_t i = 0; i < count; i++) {
        int64_t entry[4];
        memcpy(entry, words + 8 + 32 * i, sizeof entry);
        if (entry[0] == UNCHANGED) {
            version = version_of((object)(intptr_t)entry[1]);
            if (version && version == entry[2])
                i += entry[3];
            else {
                of_version = words + 8 + 32 * i + 16;
                last = i + entry[3];
            }
            continue;
        }
        if (!holds(entry))
            return identity.from_bool(0);
        if (i == last)
            memcpy(of_version, &version, sizeof version);
    }
    return identity.from_bool(1);
}

/* Notes what a program has done to tensors. The bytes `packed` hold two numbers; for the first, the dict of a leaf and the
tensor that becomes its gradient; for the second, tensors whose version increases by one. Returns whether all of them had
usual version cells; if not, nothing is noted. */
KERNEL object settle(object unused, object packed)
{
    (void)unused;
    if (!has_type(packed, layout.bytes)) {
        layout.raise(layout.error, "addresses come as bytes");
        return NULL;
    }
    const char *words = (char *)packed + layout.content;
    int64_t count[2], at[2];
    memcpy(count, words, sizeof count);
    const char *written = words + 16 + 16 * count[0];
    for (int64_t i = 0; i < count[1]; i++) {
        memcpy(at, written + 8 * i, 8);
        if (!has_type(OF_TENSOR((intptr_t)at[0], version), identity.list))
            return identity.from_bool(0);
    }
    for (int64_t i = 0; i < count[0]; i++) {
        memcpy(at, words + 16 + 16 * i, sizeof at);
        const object leaf = (object)(intptr_t)at[0], gradient = (object)(intptr_t)at[1];
        if (identity.item(leaf, identity.grad) != gradient && identity.set_item(leaf, identity.grad, gradient))
            return NULL;
    }
    for (int64_t i = 0; i < count[1]; i++) {
        memcpy(at, written + 8 * i, 8);
        const object cell = OF_TENSOR((intptr_t)at[0], version), before = identity.in_list(cell, 0);
        object after = before ? layout.from_int(layout.to_int(before) + 1) : NULL;
        if (!after || identity.set_in_list(cell, 0, after))
            return NULL;
    }
    return identity.from_bool(1);
}

enum { OBJECT, TENSOR };

/* The array that owns the memory of an array; NULL if another object owns it. */
static object root_of(object array)
{
    const int64_t base = layout.strides + (int64_t)sizeof(void *);
    for (object next; (next = *(object *)((char *)array + base)); array = next)
        if (!has_type(next, layout.array))
            return NULL;
    return array;
}

/* Whether a tensor is as the words after TENSOR say: its class; its array's dtype, number of dimensions, shape and strides;
its flag; and whether it has a node. 1, 0, or -1 after an error of Python. */
static int is_alike(const int64_t *words, object x)
{
    if (!has_type(x, (object)(intptr_t)words[0]))
        return 0;
    const object array = OF_TENSOR(x, array);
    const int64_t ndim = words[2];
    if (!has_type(array, layout.array) || FIELD(array, object, dtype) != (object)(intptr_t)words[1]
            || FIELD(array, int, ndim) != ndim || OF_TENSOR(x, flag) != (object)(intptr_t)words[3]
            || (OF_TENSOR(x, node) != layout.none) != words[4] || !has_type(OF_TENSOR(x, version), identity.list))
        return 0;
    for (int64_t i = 0; i < ndim; i++)
        if (FIELD(array, intptr_t *, shape)[i] != words[5 + i] || FIELD(array, intptr_t *, strides)[i] != words[5 + ndim + i])
            return 0;
    object hooks = identity.attribute(x, identity.hooks);
    if (!hooks)
        return -1;
    layout.drop(hooks);                        /* its address is compared, nothing else */
    return hooks == layout.none;
}

/* Whether a tuple of arguments fits bytes that hold the number of arguments and for each of them: OBJECT and the object; or
TENSOR, the number of the first tensor that shares its memory, the number of words that follow, and the words of
`is_alike`. 1 or 0; or -1 if it is another object, which may be equal, or if another object owns an array's memory. */
KERNEL object fits(object unused, object const *given, intptr_t count)
{
    (void)unused;
    if (count != 2 || !has_type(given[0], layout.bytes)) {
        layout.raise(layout.error, "a signature comes as bytes");
        return NULL;
    }
    const int64_t *words = (const int64_t *)((char *)given[0] + layout.content);
    object roots[MOST_TENSORS], tensors[MOST_TENSORS];
    int known = 0, doubtful = 0;
    if (layout.length(given[1]) != words[0])
        return layout.from_int(0);
    const int64_t *word = words + 1;
    for (int64_t i = 0; i < words[0]; i++) {
        const object x = layout.item(given[1], (intptr_t)i);
        if (word[0] == OBJECT) {
            doubtful |= x != (object)(intptr_t)word[1];
            word += 2;
            continue;
        }
        const int found = known < MOST_TENSORS ? is_alike(word + 3, x) : 0;
        if (found <= 0)
            return found ? NULL : layout.from_int(0);
        tensors[known] = x;
        roots[known] = root_of(OF_TENSOR(x, array));
        doubtful |= !roots[known];
        int first = 0;
        while (first < known && roots[first] != roots[known] && tensors[first] != x)
            first++;
        if (first < known && tensors[first] == x)
            return layout.from_int(0);
        if (!doubtful && first != word[1])
            return layout.from_int(0);
        known++;
        word += 3 + word[2];
    }
    return layout.from_int(doubtful ? -1 : 1);
}
