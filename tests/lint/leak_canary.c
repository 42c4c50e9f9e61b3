/* leak_canary.c — a test that leaks on purpose: `make check-asan` first demands that this turns a run red, since
 * Criterion alone lets a leak pass. */
#include <criterion/criterion.h>
#include <stdlib.h>

Test(canary, leaks)
{
    char *volatile lost = malloc(77);
    cr_assert(lost != NULL);
    lost = NULL;
}
