/* fuzz_config.c — pasted text to a model: understood with sane dimensions, or refused. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "api/decode.h"
#include "api/model_config.h"
#include "tests/fuzz/fuzz_catalog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decode d;
    struct fault_list faults;
    struct model m = {0};
    json_t *text = json_stringn((const char *)data, size);
    if (!text || size == 0 || size > 65536) {
        json_decref(text);
        return 0;
    }
    struct arena *arena = arena_new(1u << 20);
    struct note_list notes;
    note_list_init(&notes, arena);
    decode_init(&d, data[size - 1] & 1 ? fuzz_catalog() : NULL, arena, LANG_EN, 0, &faults); /* recognised or counted */
    d.notes = &notes;
    model_config_decode(&d, text, "/workload/model/config", &m);
    if (faults.n == 0 && !(isfinite(m.params) && m.params > 0 && m.layers > 0 && m.hidden > 0))
        abort();
    json_decref(text);
    arena_free(arena);
    return 0;
}
