/* decode_training.c — the training block, and how its work is cut over GPUs. */
#include <string.h>

#include "api/decode.h"

static void take_fp8_recipe(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    const char *s = jspec_string(d, value, pointer, 1, 40);
    if (!s)
        return;
    if (strcmp(s, "mxfp8") == 0)
        *(bool *)dest = true;
    else if (strcmp(s, "tensorwise") != 0)
        jspec_unknown_value(d, pointer, "unknown_value", s, "mxfp8, tensorwise");
}

#define OF(member) offsetof(struct training, member)
#define TRI(name)                                                                                                      \
    {                                                                                                                  \
#name, J_TRI, OF(name), 0, 0, 0, 0, NULL, NULL                                                                 \
    }
#define AMOUNT(name, max)                                                                                              \
    {                                                                                                                  \
#name, J_AMOUNT, OF(name), 1, (max), 0, 0, NULL, NULL                                                          \
    }

static const struct jfield training_fields[] = {
    JFIELD_ENUM(method, ENUM_METHOD),
    AMOUNT(tokens, 1e18),
    AMOUNT(samples, 1e15),
    AMOUNT(steps, 1e12),
    JFIELD_NUMBER(epochs, 0, 10000, J_EXCLUSIVE_MIN),
    JFIELD_INT(seq_len, 1, 10000000),
    JFIELD_INT(global_batch, 1, 10000000),
    JFIELD_INT(grad_accumulation, 1, 1000000),
    TRI(packed),
    JFIELD_NUMBER(mean_len, 1, 10000000, 0),
    JFIELD_ENUM(precision, ENUM_PRECISION),
    JFIELD_ENUM(optimizer, ENUM_OPTIMIZER),
    JFIELD_INT(runs, 1, 10000),
    JFIELD_INT(parallel_runs, 1, 1000),
    JFIELD_INT(shareable_runs, 0, 10000),
    JFIELD_NUMBER(dataset_gb, 0, 1e8, 0),
    JFIELD_INT(checkpoints_kept, 0, 10000),
    JFIELD_INT(lora_rank, 1, 8192),
    JFIELD_NUMBER(quant_bits, 1, 16, 0),
    TRI(compile),
    TRI(master_weights),
    TRI(train_embeddings),
    TRI(optimizer_in_backward),
    JFIELD_ENUM(loss_impl, ENUM_LOSS_IMPL),
    {"fp8_recipe", J_CUSTOM, OF(fp8_mx), 0, 0, 0, 0, NULL, take_fp8_recipe},
    JFIELD_NUMBER(flops_per_sample, 0, 1e21, J_EXCLUSIVE_MIN),
    JFIELD_NUMBER(state_gb, 0, 1e6, 0),
    JFIELD_NUMBER(activation_gb_per_sample, 0, 1e5, 0),
};
const struct jspec spec_training = {JFIELDS(training_fields), offsetof(struct training, stated)};

#undef OF
#define OF(member) offsetof(struct layout, member)

static const struct jfield layout_fields[] = {
    JFIELD_INT(tp, 1, 4096),
    JFIELD_INT(pp, 1, 4096),
    JFIELD_INT(vpp, 1, 1000),
    JFIELD_INT(dp, 1, 1000000),
    JFIELD_INT(cp, 1, 4096),
    JFIELD_INT(ep, 1, 4096),
    JFIELD_ENUM(sharding, ENUM_SHARDING),
    JFIELD_INT(shard_group, 1, 1000000),
    JFIELD_ENUM(offload, ENUM_OFFLOAD),
    JFIELD_ENUM(recompute, ENUM_RECOMPUTE),
    JFIELD_INT(micro_batch, 1, 1000000),
    TRI(flash_attention),
    TRI(vocab_parallel),
    TRI(async_tp),
    JFIELD_ENUM(grad_sync, ENUM_GRAD_SYNC),
    JFIELD_ENUM(ep_dispatch, ENUM_EP_DISPATCH),
};
const struct jspec spec_layout = {JFIELDS(layout_fields), JSPEC_NO_STATED};
