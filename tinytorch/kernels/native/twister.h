/* Numbers from the words of the Mersenne twister (random.c), one after the other. */
#ifndef TINYTORCH_TWISTER_H
#define TINYTORCH_TWISTER_H

#include "common.h"

#define STEP53 (1.0 / 9007199254740992.0)      /* 2^-53 */
#define TURN 6.283185307179586                 /* 2 pi */

INLINE uint32_t tempered(uint32_t y)
{
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

/* The low 53 bits of two words, the first of which is the high half, times 2^-53. Every step is exact. */
INLINE double of_two_words(uint32_t high, uint32_t low)
{
    const double upper = (double)(int32_t)(high & 0x1fffffu), lower = (double)(int32_t)(low ^ 0x80000000u) + 2147483648.0;
    return upper * (1.0 / 2097152.0) + lower * STEP53;
}

/* normal.c: uniform to normal numbers, in place. */
void box_muller(int64_t threads, int64_t blocks, float mean, float std, float *u);

/* draws.c: n numbers scale * log1p(-u), as floats. */
void exponentials(twister *key, double scale, int64_t n, float *out);

/* The source of numbers that take varying numbers of words: the twister, the position of its next word, which is read
once, and `source` of the kernels: whether a normal number is left, this number, and whether words were drawn. `single`:
parts of the arithmetic are rounded to float, as torch's are for float parameters. */
struct numbers { twister *state; double *source; int64_t single; uint32_t next; int drawn; };

INLINE struct numbers numbers_of(twister *state, double *source, int64_t single)
{
    const struct numbers s = {state, source, single, *(volatile uint32_t *)&state->next, 0};
    return s;
}

INLINE double uniform53(struct numbers *s)
{
    const uint32_t at = s->next;
    uint32_t words[2];
    s->drawn = 1;
    if (at < WORDS - 1) {
        s->next = at + 2;
        words[0] = tempered(s->state->key[at]);
        words[1] = tempered(s->state->key[at + 1]);
    } else {
        s->state->next = at;
        draw_words(s->state, words, 2);
        s->next = *(volatile uint32_t *)&s->state->next;
    }
    return of_two_words(words[0], words[1]);
}

/* Writes the position of the next word back at the end of a kernel. */
INLINE void leave(const struct numbers *s)
{
    s->state->next = s->next;
    s->source[2] = s->drawn;
}

/* A standard normal number: the one that is left of a pair, or the first of a new pair. */
INLINE double normal_number(struct numbers *s)
{
    if (s->source[0] != 0) {
        s->source[0] = 0;
        return s->source[1];
    }
    const double first = uniform53(s), second = uniform53(s);
    const double radius = sqrt(-2.0 * log1p(-second)), angle = TURN * first;
    s->source[0] = 1;
    s->source[1] = radius * sin(angle);
    return radius * cos(angle);
}

#endif
