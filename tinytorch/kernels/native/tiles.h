/* The product of some rows and a panel, tile by tile. panels.c includes this for each kind of numbers, with NAMED and
TARGET (the instructions) set, and with a function that computes the sums of a tile. */

TARGET INLINE void NAMED(one_tile)(int rows, int vectors, const struct panel *p, int64_t row)
{
    vec sums[HIGH][WIDE];
    NAMED(tile_sums)(rows, vectors, p->k, p->a + row * p->by_tile, p->by_row, p->by_term, p->b, p->ldb, sums);
    if (p->turned)
        put_turned(rows, vectors, p->width, sums, p->c + row, p->ldc, p->add);
    else
        put_tile(rows, vectors, p->width, sums, p->c + row * p->ldc, p->ldc, p->add);
}

TARGET INLINE void NAMED(panel_rows)(int vectors, const struct panel *p, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i += HIGH)
        switch (last - i) {
        case 1: NAMED(one_tile)(1, vectors, p, i); break;
        case 2: NAMED(one_tile)(2, vectors, p, i); break;
        case 3: NAMED(one_tile)(3, vectors, p, i); break;
#if HIGH > 4
        case 4: NAMED(one_tile)(4, vectors, p, i); break;
        case 5: NAMED(one_tile)(5, vectors, p, i); break;
#endif
#if HIGH > 6
        case 6: NAMED(one_tile)(6, vectors, p, i); break;
        case 7: NAMED(one_tile)(7, vectors, p, i); break;
#endif
        default: NAMED(one_tile)(HIGH, vectors, p, i);
        }
}

TARGET void NAMED(times_panel)(const struct panel *p, int64_t first, int64_t last)
{
    switch (packed_size(1, p->width) / LANES) {
    case 1: NAMED(panel_rows)(1, p, first, last); break;
#if WIDE > 2
    case 2: NAMED(panel_rows)(2, p, first, last); break;
#endif
    default: NAMED(panel_rows)(WIDE, p, first, last);
    }
}
