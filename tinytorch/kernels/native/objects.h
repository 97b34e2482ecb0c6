/* How C reads objects of Python and NumPy (see objects.c). */
#ifndef TINYTORCH_OBJECTS_H
#define TINYTORCH_OBJECTS_H

#include "common.h"

typedef void *object;

#define MOST_ARGUMENTS 48
#define MOST_DIMENSIONS 32
#define MOST_TENSORS 30
union argument { int64_t whole; double real; void *place; };

/* The classes, offsets and functions that objects.py passes, in this order: the classes ndarray, bytes and TypeError and
the object None; the offsets of an object's class, of an array's fields and of the content of bytes; functions of
Python's C API; and PyArray_NewFromDescr of NumPy's. */
struct layout {
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
};
extern struct layout layout;

/* Flags of an array. */
enum { CONTIGUOUS = 0x0001, IN_STEP = 0x0100, WRITEABLE = 0x0400 };

#define FIELD(x, class, field) (*(class *)((char *)(x) + layout.field))

INLINE int has_type(object x, object class)
{
    return FIELD(x, object, type) == class;
}

/* What autograd/identity.py passes: the classes list and Tensor; the objects False, "_grad" and "_hooks";
the offsets of a tensor's array, flag, version cell, node and view, and of a dict's version, or 0; and functions of Python's C
API. */
struct identity {
    object list, tensor, no, grad, hooks;
    int64_t array, flag, version, node, view, of_dict;
    object (*new_list)(intptr_t), (*new_instance)(object, object, object);
    object (*item)(object, object), (*from_bool)(long), (*in_list)(object, intptr_t), (*attribute)(object, object);
    int (*set_item)(object, object, object), (*set_in_list)(object, intptr_t, object);
};
extern struct identity identity;

#define OF_TENSOR(x, field) (*(object *)((char *)(x) + identity.field))

/* A new leaf around an array, as `wrap` of tensor.py makes it. */
KERNEL object wrapped(object unused, object array);

#endif
