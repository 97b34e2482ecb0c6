/* Two functions that Python calls as it calls its own: to find an address, and to pass arguments on, takes ctypes longer
than many a kernel takes. No header of Python's or NumPy's is read, so that one build serves every version: objects.py
tells where objects hold what is read here, and which functions make them. */
#include "common.h"

typedef void *object;

/* What is told, in this order: classes, where an object's is, where an array has its address and flags, which flags must
be set, where bytes have their content, and functions of Python's. */
static struct {
    object array, bytes, error;
    int64_t of_class, data, flags, wanted, content;
    object (*of_pointer)(void *), (*of_whole)(long long);
    void *(*let_others)(void), (*alone)(void *), (*raise)(object, const char *);
} known;

KERNEL void know(const int64_t *a)
{
    known.array = (object)(intptr_t)a[0];
    known.bytes = (object)(intptr_t)a[1];
    known.error = (object)(intptr_t)a[2];
    known.of_class = a[3];
    known.data = a[4];
    known.flags = a[5];
    known.wanted = a[6];
    known.content = a[7];
    known.of_pointer = (object (*)(void *))(intptr_t)a[8];
    known.of_whole = (object (*)(long long))(intptr_t)a[9];
    known.let_others = (void *(*)(void))(intptr_t)a[10];
    known.alone = (void (*)(void *))(intptr_t)a[11];
    known.raise = (void (*)(object, const char *))(intptr_t)a[12];
}

INLINE int is_of(object x, object class)
{
    return *(object *)((char *)x + known.of_class) == class;
}

/* Where the memory of an array begins that is contiguous and may be written to. TypeError for all else. */
KERNEL object place_of(object unused, object x)
{
    (void)unused;
    if (is_of(x, known.array) && (*(int *)((char *)x + known.flags) & known.wanted) == known.wanted)
        return known.of_pointer(*(void **)((char *)x + known.data));
    known.raise(known.error, "no contiguous array that may be written to");
    return NULL;
}

/* Calls the function whose address the bytes `entry` hold with the address of what the bytes `packed` hold, and lets
other threads run meanwhile. */
KERNEL object enter(object entry, object packed)
{
    if (!is_of(packed, known.bytes)) {
        known.raise(known.error, "a kernel takes bytes");
        return NULL;
    }
    int64_t (*function)(const void *);
    memcpy(&function, (char *)entry + known.content, sizeof function);
    void *thread = known.let_others();
    const int64_t result = function((char *)packed + known.content);
    known.alone(thread);
    return known.of_whole(result);
}
