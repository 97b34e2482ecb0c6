/* The Mersenne twister (Matsumoto and Nishimura 1998), and torch's draws of words. */
#include "twister.h"

#define MIDDLE 397

INLINE uint32_t twisted(uint32_t upper, uint32_t lower)
{
    uint32_t y = (upper & 0x80000000u) | (lower & 0x7fffffffu);
    return (y >> 1) ^ ((0u - (y & 1u)) & 0x9908b0dfu);
}

/* Three loops, in each of which an element depends on none that is nearer than the length of a vector. */
static void next_state(uint32_t *key)
{
    for (int i = 0; i < WORDS - MIDDLE; i++)
        key[i] = key[i + MIDDLE] ^ twisted(key[i], key[i + 1]);
    for (int i = WORDS - MIDDLE; i < WORDS - 1; i++)
        key[i] = key[i + MIDDLE - WORDS] ^ twisted(key[i], key[i + 1]);
    key[WORDS - 1] = key[MIDDLE - 1] ^ twisted(key[WORDS - 1], key[0]);
}

/* The next `n` words, at most WORDS. A position beyond the state begins a new state. */
void draw_words(twister *restrict state, uint32_t *restrict out, int64_t n)
{
    uint32_t at = *(volatile uint32_t *)&state->next;
    while (n > 0) {
        if (at >= WORDS) {
            next_state(state->key);
            at = 0;
        }
        int64_t take = WORDS - at < n ? WORDS - at : n;
        const uint32_t *from = state->key + at;
        for (int64_t i = 0; i < take; i++)
            out[i] = tempered(from[i]);
        at += (uint32_t)take;
        out += take;
        n -= take;
    }
    state->next = at;
}

void words(int64_t threads, int64_t n, twister *key, uint64_t *out)
{
    uint32_t drawn[WORDS];
    (void)threads;
    for (int64_t start = 0; start < n; start += WORDS) {
        int64_t count = n - start < WORDS ? n - start : WORDS;
        draw_words(key, drawn, count);
        for (int64_t i = 0; i < count; i++)
            out[start + i] = drawn[i];
    }
}

/* Numbers of two words each, the first of which is the high half. */
void double_words(int64_t threads, int64_t n, twister *key, uint64_t *out)
{
    uint32_t drawn[WORDS];
    (void)threads;
    for (int64_t start = 0; start < n; start += WORDS / 2) {
        int64_t count = n - start < WORDS / 2 ? n - start : WORDS / 2;
        draw_words(key, drawn, 2 * count);
        for (int64_t i = 0; i < count; i++)
            out[start + i] = (uint64_t)drawn[2 * i] << 32 | drawn[2 * i + 1];
    }
}

/* For each element, whether the low 53 bits of two words are below `limit`. */
void below(int64_t threads, int64_t n, int64_t limit, twister *key, uint8_t *out)
{
    uint32_t drawn[WORDS], high = (uint32_t)(limit >> 32), low = (uint32_t)limit;
    (void)threads;
    for (int64_t start = 0; start < n; start += WORDS / 2) {
        int64_t count = n - start < WORDS / 2 ? n - start : WORDS / 2;
        draw_words(key, drawn, 2 * count);
        for (int64_t i = 0; i < count; i++) {
            uint32_t h = drawn[2 * i] & 0x1fffffu, l = drawn[2 * i + 1];
            out[start + i] = (uint8_t)((h < high) | ((h == high) & (l < low)));
        }
    }
}
