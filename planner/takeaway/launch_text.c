/* launch_text.c — torchrun, Slurm and Kubernetes text. All shell passes shellcheck (tests/unit). */
#include "planner/takeaway/launch_text.h"

#include <math.h>
#include <string.h>

#include "planner/takeaway/launch_options.h"
#include "planner/takeaway/vendor.h"

#define PORT 29500

/* Network cards that a process on the host drives: Ascend's sit in the cards themselves. */
static bool has_rdma(const struct launch_request *q)
{
    if (strcmp(vendor_tools_of(q->shape->gpu)->vendor, "Huawei") == 0)
        return false;
    return q->shape->inter == INTER_INFINIBAND || q->shape->inter == INTER_ROCE;
}

/* Part of the machine that a run has: cards sold singly come with their part of processors and memory. */
static double machine_share(const struct launch_request *q)
{
    return q->sku && q->sku->gpus_per_node > q->shape->gpus_per_node
               ? (double)q->shape->gpus_per_node / q->sku->gpus_per_node
               : 1;
}

static double cores_of(const struct launch_request *q)
{
    return q->sku ? floor(q->sku->cpu_cores * machine_share(q)) : 0;
}

/* What the libraries have to be told: of the order of kernels, which Megatron-LM insists on where ranks share a layer
 * (and its FSDP must not have), and of the fabric between the nodes. */
static void environment(struct buf *b, const struct launch_request *q, int indent)
{
    const struct layout *l = &q->estimate->layout;
    if (launch_uses_megatron(q) && (l->tp > 1 || l->cp > 1) && !launch_uses_megatron_fsdp(q))
        buf_addf(b, "%*sexport CUDA_DEVICE_MAX_CONNECTIONS=1\n", indent, "");
    const char *vendor = vendor_tools_of(q->shape->gpu)->vendor;
    if (strcmp(vendor, "Huawei") == 0 && q->shape->nodes > 1) /* large jobs start slower than the 120 s it waits */
        buf_addf(b, "%*sexport HCCL_CONNECT_TIMEOUT=1800\n", indent, "");
    if (q->shape->nodes < 2 || strcmp(vendor, "NVIDIA") != 0)
        return;
    if (q->shape->inter == INTER_ETHERNET)
        buf_addf(b, "%*sexport NCCL_IB_DISABLE=1\n", indent, "");
    if (q->shape->inter == INTER_ROCE)
        buf_addf(b, "%*sexport NCCL_IB_GID_INDEX=3\n", indent, "");
}

static void torchrun_static(struct buf *b, const struct launch_request *q, int indent)
{
    const struct shape *s = q->shape;
    buf_addf(b, "%*storchrun ", indent, "");
    if (s->nodes > 1)
        buf_addf(b,
                 "--nnodes=%d --nproc-per-node=%d --node-rank=\"$NODE_RANK\" \\\n%*s--master-addr=\"$MASTER_ADDR\" "
                 "--master-port=%d",
                 s->nodes, s->gpus_per_node, indent + 4, "", PORT);
    else
        buf_addf(b, "--standalone --nproc-per-node=%d", s->gpus_per_node);
    buf_addf(b, " \\\n%*s", indent + 4, "");
    launch_options_add(b, q, indent + 4);
    buf_addc(b, '\n');
}

/* What has to be there before the command runs. */
static void preparations(struct buf *b, const struct launch_request *q)
{
    if (strcmp(vendor_tools_of(q->shape->gpu)->vendor, "Huawei") == 0)
        buf_addf(b, "# first: source /usr/local/Ascend/ascend-toolkit/set_env.sh; the script imports torch_npu%s\n",
                 launch_uses_megatron(q) ? " and mindspeed.megatron_adaptor" : "");
    if (launch_uses_deepspeed(q->workload, &q->estimate->layout))
        buf_addf(b, "# deepspeed_config saved as ds_config.json beside train.py%s\n",
                 q->estimate->layout.shard_group > 1
                     ? "; mics_shard_size: where DeepSpeed has no MiCS any more, FSDP's HYBRID_SHARD does the same"
                     : "");
    else if (launch_uses_megatron(q) && launch_is_adapter(q))
        buf_adds(
            b,
            "# finetune_lora.py: your script on Megatron Bridge or Megatron-SWIFT; base holds the converted weights\n");
    else if (launch_uses_megatron(q) && q->workload->training.method != METHOD_PRETRAIN)
        buf_adds(
            b,
            "# Megatron-LM; base holds the weights converted to its format, data/text_document the tokenized text\n");
    else if (launch_uses_megatron(q))
        buf_adds(b, "# Megatron-LM; data/text_document holds the tokenized text\n");
}

void launch_text_torchrun(struct buf *b, const struct launch_request *q)
{
    preparations(b, q);
    if (q->shape->nodes > 1)
        buf_addf(b, "# on every node; NODE_RANK is 0 to %d, MASTER_ADDR is the address of node 0\n",
                 q->shape->nodes - 1);
    environment(b, q, 0);
    torchrun_static(b, q, 0);
}

/* D-HH:MM:SS, whole minutes up. */
static void slurm_time(struct buf *b, double hours)
{
    long minutes = (long)ceil(fmin(hours, 24.0 * 365) * 60);
    if (minutes < 1)
        minutes = 1;
    buf_addf(b, "#SBATCH --time=%ld-%02ld:%02ld:00\n", minutes / 1440, minutes / 60 % 24, minutes % 60);
}

/* The run itself, or where jobs are capped a chain of jobs that each go on from the newest checkpoint. */
static void slurm_length(struct buf *b, const struct launch_request *q)
{
    const double run_h = launch_slow_hours(q);
    const double cap_h = launch_cap_hours(q);
    if (cap_h > 0 && !(run_h <= cap_h)) {
        slurm_time(b, cap_h);
        if (run_h > 0)
            buf_addf(b, "#SBATCH --array=1-%.0f%%1\n", ceil(run_h / cap_h));
    } else if (run_h > 0) {
        slurm_time(b, run_h);
    }
}

void launch_text_slurm(struct buf *b, const struct launch_request *q)
{
    const struct shape *s = q->shape;
    buf_adds(b, "#!/bin/bash\n# partition and account are the centre's own words: sinfo -s\n#SBATCH --job-name=");
    launch_word_add(b, q->workload->model.id, "train");
    buf_adds(b, "\n#SBATCH --partition=");
    launch_word_add(b, s->gpu->id, "gpu");
    const char *gres = vendor_tools_of(s->gpu)->gres;
    buf_addf(b, "\n#SBATCH --nodes=%d\n#SBATCH --ntasks-per-node=1\n", s->nodes);
    if (gres)
        buf_addf(b, "#SBATCH --gres=%s:%d\n", gres, s->gpus_per_node);
    else
        buf_addf(b, "#SBATCH --gpus-per-node=%d\n", s->gpus_per_node);
    buf_adds(b, "#SBATCH --requeue\n");
    if (machine_share(q) >= 1)
        buf_adds(b, "#SBATCH --exclusive\n");
    if (cores_of(q) >= 1)
        buf_addf(b, "#SBATCH --cpus-per-task=%.0f\n", cores_of(q));
    slurm_length(b, q);
    buf_adds(b, "\nset -euo pipefail\nMASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
                "export MASTER_ADDR\n");
    if (cores_of(q) >= 1) /* since Slurm 22.05 srun does not take this over from sbatch by itself */
        buf_adds(b, "export SRUN_CPUS_PER_TASK=\"$SLURM_CPUS_PER_TASK\"\n");
    environment(b, q, 0);
    buf_addf(b,
             "srun torchrun --nnodes=%d --nproc-per-node=%d --rdzv-id=\"$SLURM_JOB_ID\" \\\n"
             "    --rdzv-backend=c10d --rdzv-endpoint=\"$MASTER_ADDR:%d\" \\\n    ",
             s->nodes, s->gpus_per_node, PORT);
    launch_options_add(b, q, 4);
    buf_addc(b, '\n');
}

static void kubernetes_resources(struct buf *b, const struct launch_request *q)
{
    const struct shape *s = q->shape;
    const double needed_gib = q->estimate->training.host_memory_gb / 1.073741824;
    const double host_gb = (s->host_memory_gb > 0 ? s->host_memory_gb
                            : q->sku              ? q->sku->host_memory_gb
                                                  : 0) *
                           machine_share(q);
    buf_addf(b, "          resources:\n            limits:\n              %s: %d\n", vendor_tools_of(s->gpu)->resource,
             s->gpus_per_node);
    if (s->nodes > 1 && has_rdma(q))
        buf_adds(b, "              rdma/hca: 1\n");
    /* What the job needs; the whole machine less what the system keeps where that is known. */
    double gib = host_gb > 0 ? floor(host_gb / 1.073741824 * 0.9) : ceil(needed_gib);
    if (gib >= 1 || q->sku)
        buf_adds(b, "            requests:\n");
    if (gib >= 1)
        buf_addf(b, "              memory: %.0fGi\n", gib);
    if (cores_of(q) >= 2)
        buf_addf(b, "              cpu: %.0f\n", floor(cores_of(q) * 0.9));
    else if (q->sku && gib < 1)
        buf_adds(b, "              cpu: 1\n");
}

static void kubernetes_service(struct buf *b)
{
    buf_addf(b,
             "apiVersion: v1\nkind: Service\nmetadata:\n  name: train\nspec:\n  clusterIP: None\n  "
             "publishNotReadyAddresses: true\n"
             "  selector:\n"
             "    job-name: train\n  ports:\n    - port: %d\n---\n",
             PORT);
}

void launch_text_kubernetes(struct buf *b, const struct launch_request *q)
{
    const int nodes = q->shape->nodes;
    if (nodes > 1)
        kubernetes_service(b);
    buf_addf(b,
             "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: train\nspec:\n  completions: %d\n"
             "  parallelism: %d\n  completionMode: Indexed\n  template:\n    spec:\n      restartPolicy: OnFailure\n",
             nodes, nodes);
    if (nodes > 1)
        buf_adds(b, "      subdomain: train\n");
    buf_adds(b, "      containers:\n        - name: train\n          image: your-registry/your-image:tag\n"
                "          command: [\"bash\", \"-c\"]\n          args:\n            - |\n");
    if (nodes > 1)
        buf_adds(b, "              export NODE_RANK=\"$JOB_COMPLETION_INDEX\" MASTER_ADDR=train-0.train\n");
    environment(b, q, 14);
    torchrun_static(b, q, 14);
    if (nodes > 1 && has_rdma(q)) /* memory that a network card writes to is pinned */
        buf_adds(b, "          securityContext:\n            capabilities:\n              add: [IPC_LOCK]\n");
    kubernetes_resources(b, q);
    buf_adds(b, "          volumeMounts:\n            - {name: shm, mountPath: /dev/shm}\n      volumes:\n"
                "        - name: shm\n          emptyDir: {medium: Memory}\n");
}
