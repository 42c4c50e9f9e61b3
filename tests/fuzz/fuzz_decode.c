/* fuzz_decode.c — bytes to a workload: the first byte picks the request, the rest is its body.
 *
 * Either it decodes, or it is refused with a place or with faults; nothing else may happen.
 */
#include <stdint.h>
#include <string.h>

#include "api/decode.h"
#include "tests/fuzz/fuzz_catalog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct decoded_estimate estimate;
    static struct decoded_plan plan;
    struct decode d;
    struct fault_list faults;
    struct err err = {0};
    if (size == 0)
        return 0;
    const struct catalog *catalog = fuzz_catalog();
    struct arena *arena = arena_new(4u << 20);
    decode_init(&d, catalog, arena, data[0] & 1 ? LANG_EN : LANG_ZH_CN, date_from_civil(2026, 11, 30), &faults);
    int rc = data[0] & 2 ? decode_estimate_request(&d, data + 1, size - 1, &estimate, &err)
                         : decode_plan_request(&d, data + 1, size - 1, &plan, &err);
    if (rc == 0 && faults.n)
        abort(); /* sound and faulty at once */
    if (rc && err.code == ERR_NONE && faults.n == 0)
        abort(); /* refused without a word */
    if (rc && err.code == ERR_INVALID && d.place.line < 1)
        abort(); /* no place */
    arena_free(arena);
    return 0;
}
