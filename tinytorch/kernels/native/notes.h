/* What kernels are called with, written down for repeat.c while a thread listens to its own calls. */
#ifndef TINYTORCH_NOTES_H
#define TINYTORCH_NOTES_H

#include "objects.h"

#ifdef _MSC_VER
#define OF_THREAD __declspec(thread)
#else
#define OF_THREAD _Thread_local
#endif

/* NULL, or the number of words in the notes, the most that there may be, and the notes:
    ARRAY_NOTE, address, bytes, written, content (WORDS_OF_CONTENT words; not of large arrays)
    CALL_NOTE, function, count, the kinds of the arguments, the arguments
    LOOP_NOTE, function, elements, data, count, and an address, a step and the first element for each operand; the last
        operand is written to
    HELD_NOTE, an object that must live as long as the calls in the notes are made again
    UNKNOWN_NOTE: a call of which nothing is known */
extern OF_THREAD int64_t *noted;
enum { ARRAY_NOTE, CALL_NOTE, LOOP_NOTE, HELD_NOTE, UNKNOWN_NOTE };
enum { WORDS_OF_CONTENT = 512, MOST_KEPT = 64 };

void note(int64_t count, const int64_t *words);
/* `array` lives until the thread stops to listen: so nothing else has its place in the notes. */
void note_array(object array, int64_t bytes, int64_t written);
void note_call(int64_t function, int64_t count, const int64_t *kinds, const union argument *a);
void note_loop(const void *function, char **args, int64_t elements, const intptr_t *steps, const void *data, int64_t count,
               int64_t itemsize);

INLINE void note_unknown(void)
{
    const int64_t word = UNKNOWN_NOTE;
    if (noted)
        note(1, &word);
}

#endif
