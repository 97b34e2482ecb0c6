/* Two functions that Python calls as it calls its built-in functions. ctypes takes longer than many a kernel to find the
address of an array and to pass arguments on. No header of Python or NumPy is included, so one build serves every
version: objects.py passes the offsets of the fields that are read here, and the addresses of the C API's functions. */
#include "common.h"

typedef void *object;

/* The classes, offsets and functions that objects.py passes, in this order: the classes ndarray, bytes and TypeError; the
offsets of an object's class and of an array's address and flags; the flags that must be set; the offset of the content
of bytes; and five functions of Python's C API. */
static struct {
    object array, bytes, error;
    int64_t type, data, flags, wanted, content;
    object (*from_pointer)(void *), (*from_int)(long long);
    void *(*save_thread)(void), (*restore_thread)(void *), (*raise)(object, const char *);
} layout;

KERNEL void set_layout(const int64_t *a)
{
    layout.array = (object)(intptr_t)a[0];
    layout.bytes = (object)(intptr_t)a[1];
    layout.error = (object)(intptr_t)a[2];
    layout.type = a[3];
    layout.data = a[4];
    layout.flags = a[5];
    layout.wanted = a[6];
    layout.content = a[7];
    layout.from_pointer = (object (*)(void *))(intptr_t)a[8];
    layout.from_int = (object (*)(long long))(intptr_t)a[9];
    layout.save_thread = (void *(*)(void))(intptr_t)a[10];
    layout.restore_thread = (void (*)(void *))(intptr_t)a[11];
    layout.raise = (void (*)(object, const char *))(intptr_t)a[12];
}

INLINE int has_type(object x, object class)
{
    return *(object *)((char *)x + layout.type) == class;
}

/* The address of a contiguous and writeable array; a TypeError for every other object. */
KERNEL object place_of(object unused, object x)
{
    (void)unused;
    if (has_type(x, layout.array) && (*(int *)((char *)x + layout.flags) & layout.wanted) == layout.wanted)
        return layout.from_pointer(*(void **)((char *)x + layout.data));
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
