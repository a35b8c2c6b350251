/*
 * bench_median - times, sorted, so that the middle one and its neighbours can be read.
 */
#ifndef BENCH_MEDIAN_H
#define BENCH_MEDIAN_H

#include <stdlib.h>

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline void bench_sort(double *times, size_t count)
{
    qsort(times, count, sizeof(*times), bench_compare);
}

#endif
