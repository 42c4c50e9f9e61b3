/* decode_serving.c — the serving block, and one fixed operating point of an estimate. */
#include <string.h>

#include "api/decode.h"

static void take_speculative(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    const char *s = jspec_string(d, value, pointer, 1, 40);
    if (!s)
        return;
    if (strcmp(s, "mtp") == 0)
        *(bool *)dest = true;
    else if (strcmp(s, "none") != 0)
        jspec_unknown_value(d, pointer, "unknown_value", s, "mtp, none");
}

static void take_own_model(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    struct serving *s = dest;
    s->own_model = true;
    decode_model(d, value, pointer, &s->model, NULL);
}

static void take_months(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    struct serving *s = dest;
    s->months_stated = jspec_number(d, value, pointer, 0, 600, 0, &s->months);
}

static void take_version(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    const char *s = jspec_string(d, value, pointer, 1, 40);
    if (!s)
        return;
    if (strspn(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-_") == strlen(s))
        *(const char **)dest = s;
    else
        jspec_fault(d, pointer, "not_a_version", NULL, NULL);
}

#define OF(member) offsetof(struct serving, member)

static const struct jfield serving_fields[] = {
    {"model", J_CUSTOM, 0, 0, 0, 0, 0, NULL, take_own_model},
    JFIELD_NUMBER(weight_bits, 1, 32, 0),
    JFIELD_NUMBER(kv_bits, 1, 32, 0),
    JFIELD_NUMBER(requests_per_s, 0, 1e7, J_EXCLUSIVE_MIN),
    JFIELD_NUMBER(concurrency, 0, 1e7, J_EXCLUSIVE_MIN),
    JFIELD_NUMBER(users, 0, 1e10, J_EXCLUSIVE_MIN),
    JFIELD_NUMBER(requests_per_user_hour, 0, 1e6, J_EXCLUSIVE_MIN),
    JFIELD_NUMBER(peak_factor, 1, 1000, 0),
    JFIELD_INT(input_tokens, 1, 100000000),
    JFIELD_INT(output_tokens, 1, 100000000),
    JFIELD_NUMBER(ttft_ms, 0, 1e8, J_EXCLUSIVE_MIN),
    JFIELD_NUMBER(tpot_ms, 0, 1e8, J_EXCLUSIVE_MIN),
    JFIELD_NUMBER(batch_share, 0, 1, 0),
    JFIELD_NUMBER(hours_per_day, 0, 24, J_EXCLUSIVE_MIN),
    {"months", J_CUSTOM, 0, 0, 600, 0, 0, NULL, take_months},
    JFIELD_INT(spare_replicas, 0, 10000),
    JFIELD_ENUM(engine, ENUM_ENGINE),
    {"engine_version", J_CUSTOM, OF(engine_version), 0, 0, 0, 0, NULL, take_version},
    JFIELD_ENUM(weight_format, ENUM_WEIGHT_FORMAT),
    {"speculative", J_CUSTOM, OF(speculative_mtp), 0, 0, 0, 0, NULL, take_speculative},
    JFIELD_BOOL(attention_dp),
    JFIELD_BOOL(enforce_eager),
};
const struct jspec spec_serving = {JFIELDS(serving_fields), offsetof(struct serving, stated)};

#undef OF
#define OF(member) offsetof(struct operating_point, member)

static const struct jfield operating_point_fields[] = {
    JFIELD_INT(batch, 1, 10000000),
    JFIELD_INT(input_tokens, 0, 100000000),
    JFIELD_INT(output_tokens, 0, 100000000),
    JFIELD_INT(max_model_len, 1, 1000000000),
    JFIELD_NUMBER(gpu_memory_utilization, 0.05, 1, 0),
    JFIELD_INT(max_num_seqs, 1, 10000000),
    JFIELD_INT(max_num_batched_tokens, 1, 100000000),
    JFIELD_BOOL(decode_only),
    JFIELD_ENUM(scenario, ENUM_SCENARIO),
};
const struct jspec spec_operating_point = {JFIELDS(operating_point_fields), offsetof(struct operating_point, stated)};
