/* launch_serve.c — the command that serves: the engine's own words for the replica's layout, and for weights packed as
 * the plan was reckoned with. A command that loaded them unpacked would not fit the cards it is meant for.
 */
#include <string.h>

#include "planner/takeaway/launch_options.h"
#include "planner/takeaway/launch_text.h"
#include "planner/takeaway/vendor.h"

/* An engine without a row is started like vLLM, whose command most of them copy. fp8, bnb4: the option that packs
 * unpacked weights at the start; awq, gptq: that says how stored ones are packed. NULL: the engine does not, or sees it
 * by itself. */
struct serve_words {
    enum engine engine;
    const char *command, *tensor, *pipeline, *expert, *context, *kv8, *fp8, *bnb4, *awq, *gptq, *always;
};

static const struct serve_words serve_words[] = {
    {.engine = ENGINE_VLLM,
     .command = "vllm serve ",
     .tensor = "--tensor-parallel-size",
     .pipeline = "--pipeline-parallel-size",
     .expert = "--enable-expert-parallel",
     .context = "--max-model-len",
     .kv8 = "--kv-cache-dtype fp8",
     .fp8 = "--quantization fp8",
     .bnb4 = "--quantization bitsandbytes"},
    {.engine = ENGINE_SGLANG,
     .command = "python3 -m sglang.launch_server --model-path ",
     .tensor = "--tp-size",
     .pipeline = "--pp-size",
     .expert = "--ep-size",
     .context = "--context-length",
     .kv8 = "--kv-cache-dtype fp8_e5m2",
     .fp8 = "--quantization fp8",
     .bnb4 = "--load-format bitsandbytes --quantization bitsandbytes"},
    {.engine = ENGINE_LMDEPLOY,
     .command = "lmdeploy serve api_server ",
     .tensor = "--tp",
     .expert = "--ep",
     .context = "--session-len",
     .kv8 = "--quant-policy 8",
     .awq = "--model-format awq",
     .gptq = "--model-format gptq"},
    {.engine = ENGINE_TENSORRT_LLM,
     .command = "trtllm-serve ",
     .tensor = "--tp_size",
     .pipeline = "--pp_size",
     .expert = "--ep_size",
     .context = "--max_seq_len"},
    {.engine = ENGINE_LLAMA_CPP,
     .command = "llama-server --model ",
     .context = "--ctx-size",
     .kv8 = "--cache-type-k q8_0 --cache-type-v q8_0",
     .always = "--n-gpu-layers 999"},
    {.engine = ENGINE_TGI,
     .command = "text-generation-launcher --model-id ",
     .tensor = "--num-shard",
     .context = "--max-total-tokens",
     .kv8 = "--kv-cache-dtype fp8_e5m2",
     .fp8 = "--quantize fp8",
     .bnb4 = "--quantize bitsandbytes-nf4",
     .awq = "--quantize awq",
     .gptq = "--quantize gptq"},
};

static const struct serve_words *words_of(const struct serving *s)
{
    const bool gguf = s->engine == ENGINE_UNSTATED && s->weight_format >= WF_GGUF; /* one engine reads it */
    const enum engine engine = gguf ? ENGINE_LLAMA_CPP : s->engine;
    for (size_t i = 0; i < sizeof serve_words / sizeof *serve_words; i++)
        if (serve_words[i].engine == engine)
            return &serve_words[i];
    return &serve_words[0];
}

/* Bits of a weight as served: as asked for, else as the reserve had to take them; 0 = as they are. */
static double served_bits(const struct launch_request *q)
{
    const struct note *fewer = q->reserve ? note_find(&q->reserve->notes, "reserve_fewer_bits") : NULL;
    if (q->workload->serving.weight_bits > 0 || !fewer)
        return q->workload->serving.weight_bits;
    for (unsigned i = 0; i < fewer->n_args; i++)
        if (strcmp(fewer->args[i].name, "bits") == 0)
            return fewer->args[i].number;
    return 0;
}

/* A width alone means what physics takes it for (serving_replica.c). */
static enum weight_format format_of(const struct launch_request *q, const struct serve_words *words)
{
    const struct serving *s = &q->workload->serving;
    const double bits = served_bits(q);
    const bool local = words->engine == ENGINE_LLAMA_CPP;
    if (s->weight_format != WF_UNSTATED)
        return s->weight_format;
    if (bits <= 0 || bits > 12)
        return local ? WF_GGUF_F16 : WF_UNSTATED;
    if (local)
        return bits > 6 ? WF_GGUF_Q8_0 : WF_GGUF_Q4_K_M;
    return bits > 6 ? WF_FP8 : WF_AWQ;
}

/* Of weights that have to be packed before the engine starts: what their folder or file ends with; NULL: none have. */
static const char *packing(enum weight_format f)
{
    switch (f) {
    case WF_UNSTATED:
    case WF_BF16:
    case WF_FP16:
    case WF_FP32:
        return NULL;
    case WF_FP8:
    case WF_FP8_FBGEMM:
        return "-fp8";
    case WF_INT8:
        return "-w8a8";
    case WF_INT8_WEIGHT_ONLY:
        return "-int8";
    case WF_GPTQ:
        return "-gptq";
    case WF_AWQ:
    case WF_INT4:
        return "-awq";
    case WF_BNB4:
        return "-bnb-4bit";
    case WF_NVFP4:
        return "-nvfp4";
    case WF_MXFP4:
        return "-mxfp4";
    case WF_Q4F16:
        return "-q4f16";
    case WF_EXL2:
        return "-exl2";
    case WF_GGUF_F16:
        return "-f16.gguf";
    case WF_GGUF_Q2_K:
        return "-q2_k.gguf";
    case WF_GGUF_Q3_K_M:
        return "-q3_k_m.gguf";
    case WF_GGUF_IQ4_XS:
        return "-iq4_xs.gguf";
    case WF_GGUF_Q5_K_M:
        return "-q5_k_m.gguf";
    case WF_GGUF_Q6_K:
        return "-q6_k.gguf";
    case WF_GGUF_Q8_0:
        return "-q8_0.gguf";
    case WF_GGUF:
    case WF_GGUF_Q4_K_M:
        return "-q4_k_m.gguf";
    }
    return NULL;
}

struct weights {
    const char *path;   /* unpacked */
    const char *suffix; /* of what is served; "" = as it is */
    const char *option; /* NULL = none */
    bool gguf, ascend;
};

static struct weights weights_of(const struct launch_request *q, const struct serve_words *words)
{
    const struct serving *s = &q->workload->serving;
    const struct model *m = s->own_model ? &s->model : &q->workload->model;
    const struct gpu *gpu = q->reserve && q->reserve->gpu ? q->reserve->gpu : q->shape->gpu;
    const bool trained = q->workload->training.stated && !s->own_model;
    const enum weight_format f = format_of(q, words);
    struct weights w = {.path = trained ? "checkpoints/final" : m->id, .suffix = packing(f), .gguf = f >= WF_GGUF};
    if (!w.suffix) {
        w.suffix = "";
        return w;
    }
    w.ascend = strcmp(vendor_tools_of(gpu)->vendor, "Huawei") == 0 && words == &serve_words[0];
    if (w.ascend) { /* vLLM's plugin for it reads what msmodelslim packed */
        w.suffix = f == WF_INT8 || f == WF_FP8 || f == WF_INT8_WEIGHT_ONLY ? "-w8a8" : "-w4a8";
        w.option = "--quantization ascend";
        return w;
    }
    const char *at_load = f == WF_FP8 ? words->fp8 : f == WF_BNB4 ? words->bnb4 : NULL;
    w.option = at_load ? at_load : f == WF_AWQ || f == WF_INT4 ? words->awq : f == WF_GPTQ ? words->gptq : NULL;
    if (at_load)
        w.suffix = "";
    return w;
}

/* What has to lie there before. */
static void preparations(struct buf *b, const struct launch_request *q, const struct weights *w)
{
    const bool trained = q->workload->training.stated && !q->workload->serving.own_model;
    if (launch_is_adapter(q) && trained)
        buf_adds(b, "# checkpoints/final: the model with the adapter merged into it\n");
    if (*w->suffix == '\0')
        return;
    buf_adds(b, "# ");
    launch_word_add(b, w->path, "your-model");
    buf_addf(b, "%s: %s, %s\n", w->suffix, trained ? "made of checkpoints/final" : "as published so, or made",
             w->gguf     ? "with convert_hf_to_gguf.py and llama-quantize"
             : w->ascend ? "with msmodelslim"
                         : "with the format's own packer (llm-compressor, ModelOpt)");
}

/* Tokens of a request as the replica was sized for them; 0: no text, or a window of fixed length. An engine that is not
 * told keeps room for the model's whole context, which may not fit. */
static int context_tokens(const struct launch_request *q)
{
    const struct serving *s = &q->workload->serving;
    const struct model *m = s->own_model ? &s->model : &q->workload->model;
    if (s->input_tokens > 0 || s->output_tokens > 0)
        return s->input_tokens + s->output_tokens;
    if (m->flops_per_sample > 0 || m->encoder_positions > 0)
        return 0;
    return (int)(s->stated ? q->serve_default_input_tokens + q->serve_default_output_tokens
                           : q->reserve_input_tokens + q->reserve_output_tokens);
}

static void serve_option(struct buf *b, const char *name, int value)
{
    if (name && value > 1)
        buf_addf(b, " %s %d", name, value);
}

void launch_text_serve(struct buf *b, const struct launch_request *q)
{
    const struct serving *s = &q->workload->serving;
    const struct layout *l = launch_serving_layout(q);
    const struct serve_words *words = words_of(s);
    const struct weights w = weights_of(q, words);
    preparations(b, q, &w);
    buf_adds(b, words->command);
    launch_word_add(b, w.path, "your-model");
    buf_adds(b, w.suffix);
    serve_option(b, words->tensor, l->tp);
    serve_option(b, words->pipeline, l->pp);
    if (l->ep > 1 && words == &serve_words[0])
        buf_addf(b, " %s", words->expert);
    else
        serve_option(b, words->expert, l->ep);
    serve_option(b, words->context, context_tokens(q));
    if (w.option)
        buf_addf(b, " %s", w.option);
    if (s->kv_bits > 0 && s->kv_bits <= 8 && words->kv8)
        buf_addf(b, " %s", words->kv8);
    if (words->always)
        buf_addf(b, " %s", words->always);
    if (s->enforce_eager && words == &serve_words[0])
        buf_adds(b, " --enforce-eager");
    buf_addc(b, '\n');
}
