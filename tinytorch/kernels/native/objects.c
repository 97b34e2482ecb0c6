/* Three functions that Python calls as it calls its built-in functions. ctypes takes longer than many a kernel to find
the address of an array and to pass arguments on, and Python takes longer than many a kernel to check arguments. No
header of Python or NumPy is included, so one build serves every version: objects.py passes the offsets of the fields
that are read here, and the addresses of the C API's functions. */
#include "common.h"

typedef void *object;

/* The classes, offsets and functions that objects.py passes, in this order: the classes ndarray, bytes and TypeError and
the object None; the offsets of an object's class, of an array's fields and of the content of bytes; and functions of
Python's C API. */
static struct {
    object array, bytes, error, none;
    int64_t type, data, ndim, shape, strides, dtype, flags, content;
    object (*from_pointer)(void *), (*from_int)(long long);
    long long (*to_int)(object);
    double (*to_double)(object);
    void *(*save_thread)(void), (*restore_thread)(void *), (*raise)(object, const char *);
    object (*raised)(void);
    void (*clear)(void);
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

/* Checks the arguments of a kernel by its signature, calls it, and returns what it returns; -1 without a call if an
argument is not as the signature says, or if only Python can tell whether it is. All numbers are read before any array,
because code of a class of numbers runs then. */
KERNEL object call_checked(object signature, object const *args, intptr_t given)
{
    const int64_t *words = (const int64_t *)((char *)signature + layout.content);
    const int64_t count = words[1];
    int64_t (*function)(const void *) = (int64_t (*)(const void *))(intptr_t)words[0];
    const int64_t *kinds = words + 2, *next = kinds + count;
    union argument a[MOST_ARGUMENTS];
    int fits = given == count;
    for (int i = 0; fits && i < count; i++) {
        if (kinds[i] == WHOLE)
            fits = (a[i].whole = layout.to_int(args[i])) != -1 || !layout.raised();
        else if (kinds[i] == REAL)
            fits = (a[i].real = layout.to_double(args[i])) != -1.0 || !layout.raised();
        if (!fits)
            layout.clear();
    }
    for (int i = 0; fits && i < count; i++)
        if (kinds[i] == ARRAY || kinds[i] == MATRIX) {
            next = (kinds[i] == ARRAY ? array_at : matrix_at)(next, args[i], a, &a[i].place);
            fits = next != NULL;
        }
    if (!fits)
        return layout.from_int(-1);
    void *thread = layout.save_thread();
    const int64_t result = function(a);
    layout.restore_thread(thread);
    return layout.from_int(result);
}

/* A kernel that objects.py calls to find out whether arrays are read as NumPy reads them. */
KERNEL int64_t enter_nothing(const union argument *a)
{
    (void)a;
    return 0;
}
