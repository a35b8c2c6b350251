/* failing - makes allocations of the code under test fail, on the calling thread, and those that
 * jansson makes for it. */
#ifndef TEST_FAILING_H
#define TEST_FAILING_H

/* Lets `count` allocations succeed; all further ones fail until fail_never(). */
void fail_after(int count);
/* Returns whether an allocation has failed since fail_after(). */
int fail_never(void);

#endif
