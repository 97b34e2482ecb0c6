/* Functions that Python calls as it calls its built-in functions. ctypes takes longer than many a kernel to find the
address of an array and to pass arguments on, and Python takes longer than many a kernel to check arguments. No header
of Python or NumPy is included, so one build serves every version: objects.py passes the offsets of the fields that are
read here, and the addresses of the functions of Python's and NumPy's C API. */
#include "common.h"

typedef void *object;

/* The classes, offsets and functions that objects.py passes, in this order: the classes ndarray, bytes and TypeError and
the object None; the offsets of an object's class, of an array's fields and of the content of bytes; functions of
Python's C API; and PyArray_NewFromDescr of NumPy's. */
static struct {
    object array, bytes, error, none;
    int64_t type, data, ndim, shape, strides, dtype, flags, content;
    object (*from_pointer)(void *), (*from_int)(long long);
    long long (*to_int)(object);
    double (*to_double)(object);
    void *(*save_thread)(void), (*restore_thread)(void *), (*raise)(object, const char *);
    object (*raised)(void);
    void (*clear)(void);
    intptr_t (*length)(object);
    object (*item)(object, intptr_t), (*value)(object, object);
    void (*hold)(object), (*drop)(object);
    object (*call)(object, object const *, size_t, object);
    object (*new_array)(object, object, int, const intptr_t *, const intptr_t *, void *, int, object);
} layout;

/* Flags of an array. */
enum { CONTIGUOUS = 0x0001, WRITEABLE = 0x0400 };

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

#define FIELD(x, class, field) (*(class *)((char *)(x) + layout.field))

INLINE int has_type(object x, object class)
{
    return FIELD(x, object, type) == class;
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
#define MOST_ARGUMENTS 48
#define MOST_DIMENSIONS 32
union argument { int64_t whole; double real; void *place; };

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
    return layout.from_int(fits ? entered(words, a) : -1);
}

/* A new array that the kernel fills, whose address goes to `result` among the arguments; what the kernel returned if it
failed. */
static object filled(const int64_t *words, union argument *a, union argument *result, object dtype, int ndim,
                     const intptr_t *shape)
{
    layout.hold(dtype);                        /* the array takes this reference */
    object out = layout.new_array(layout.array, dtype, ndim, shape, NULL, NULL, 0, NULL);
    if (!out)
        return NULL;
    result->place = FIELD(out, void *, data);
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
    return filled(words, a, &a[count], (object)(intptr_t)last[0], (int)ndim, shape);
}

/* The places of the arguments of the elementwise machine (walk4 of table.py). */
enum { ELEMENTS = 1, PLAN_SIZE = 2, SIZES = 3, NUMBERS = 7, PLAN = 11, OPERANDS = 12, RESULT = 16, SLOTS = 17 };

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
    }
    if (!fits)
        return layout.from_int(-1);
    a[PLAN_SIZE].whole = words[5];
    a[PLAN].place = (void *)(words + 6);
    return filled(words, a, &a[RESULT], (object)(intptr_t)words[1], ndim, shape);
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

/* For `same`, from capture/identity.py: the class of the tensors in dicts and the offset of their arrays; and two functions
of Python's C API. */
static struct {
    object tensor;
    int64_t array;
    object (*item)(object, object), (*from_bool)(long);
} identity;

KERNEL void set_identity(const int64_t *a)
{
    identity.tensor = (object)(intptr_t)a[0];
    identity.array = a[1];
    identity.item = (object (*)(object, object))(intptr_t)a[2];
    identity.from_bool = (object (*)(long))(intptr_t)a[3];
}

enum { AT_ADDRESS, ITEM, ARRAY_OF_ITEM, NUMBER };

/* Whether objects are where they were. The bytes `packed` hold their number, and for each of them: a kind; an address or
a dict; a key; the object. AT_ADDRESS: it is at this address. ITEM: the dict has it under this key. ARRAY_OF_ITEM: the
dict has a tensor under this key, and it is the tensor's array. NUMBER: so many bytes (the fourth word) are the same at
two addresses. */
KERNEL object same(object unused, object packed)
{
    (void)unused;
    if (!has_type(packed, layout.bytes)) {
        layout.raise(layout.error, "addresses come as bytes");
        return NULL;
    }
    const char *words = (char *)packed + layout.content;
    int64_t count;
    memcpy(&count, words, sizeof count);
    for (int64_t i = 0; i < count; i++) {
        int64_t entry[4];
        memcpy(entry, words + 8 + 32 * i, sizeof entry);
        object found;
        if (entry[0] == NUMBER) {
            if (memcmp((void *)(intptr_t)entry[1], (void *)(intptr_t)entry[2], entry[3]))
                return identity.from_bool(0);
            continue;
        }
        if (entry[0] == AT_ADDRESS)
            found = *(object *)(intptr_t)entry[1];
        else {
            found = identity.item((object)(intptr_t)entry[1], (object)(intptr_t)entry[2]);
            if (entry[0] == ARRAY_OF_ITEM)
                found = found && has_type(found, identity.tensor) ? *(object *)((char *)found + identity.array) : NULL;
        }
        if (found != (object)(intptr_t)entry[3])
            return identity.from_bool(0);
    }
    return identity.from_bool(1);
}
