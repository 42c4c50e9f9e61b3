/* serving_engine.c — what kind of engine a name and a version stand for. */
#include <stdlib.h>

#include "planner/serving/serving_replica.h"

#define NEWEST 1e9 /* an unstated version behaves like the newest class */
#define SGLANG_TUNED_CDNA3                                                                                             \
    5.0095 /* from 0.5.10: fused kernels of a layer for MI300X too; 0.5.9 took 25 ms where this takes 15 */

static long below_thousand(long n)
{
    return n < 0 || n > 999 ? 999 : n;
}

/* "0.19.0" -> 19, "0.5.12" -> 5.012, "1.2" -> 1002; NEWEST when not stated or not a number. */
static double version_number(const char *version, bool *ret_known)
{
    *ret_known = false;
    if (version == NULL)
        return NEWEST;
    char *end;
    long major = strtol(version, &end, 10), minor = 0, patch = 0;
    if (end == version || major < 0 || major > 100000)
        return NEWEST;
    if (*end == '.')
        minor = strtol(end + 1, &end, 10);
    if (*end == '.')
        patch = strtol(end + 1, NULL, 10);
    *ret_known = true;
    return (double)major * 1000 + (double)below_thousand(minor) + (double)below_thousand(patch) / 1000;
}

static enum engine_kind kind_of(enum engine e)
{
    switch (e) {
    case ENGINE_TENSORRT_LLM:
    case ENGINE_LMDEPLOY:
        return EK_COMPILED;
    case ENGINE_LLAMA_CPP:
    case ENGINE_EXLLAMAV2:
    case ENGINE_MLC:
    case ENGINE_AUTOAWQ:
        return EK_LOCAL;
    case ENGINE_TRANSFORMERS:
        return EK_EAGER;
    case ENGINE_UNSTATED:
    case ENGINE_VLLM:
    case ENGINE_SGLANG:
    case ENGINE_MINDIE:
    case ENGINE_TGI:
    case ENGINE_ATOM:
        break;
    }
    return EK_PYTHON;
}

struct engine_traits engine_traits_of(enum engine e, const char *version, bool enforce_eager)
{
    struct engine_traits t = {.id = e, .kind = kind_of(e), .known = e != ENGINE_UNSTATED};
    t.version = version_number(version, &t.version_known);
    if (e == ENGINE_LMDEPLOY && !t.version_known)
        t.version = 0; /* its scheduler stayed compiled */
    t.old_collectives =
        (e == ENGINE_TENSORRT_LLM && t.version < 8) || (e == ENGINE_VLLM && t.version < 5) || e == ENGINE_TGI;
    t.overlapped_host = e == ENGINE_SGLANG || e == ENGINE_TENSORRT_LLM || e == ENGINE_ATOM;
    t.tuned_cdna3 = e == ENGINE_SGLANG && t.version >= SGLANG_TUNED_CDNA3;
    t.eager = t.kind == EK_EAGER || enforce_eager;
    return t;
}
