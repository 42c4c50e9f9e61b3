/* vendor.c — the table behind vendor.h. */
#include "planner/takeaway/vendor.h"

#include <stddef.h>
#include <string.h>

#define TORCH(device)                                                                                                  \
    "python3 -c \"import torch; print(torch." device ".device_count(), torch." device ".get_device_name(0))\""
#define TORCH_PLUGIN(plugin, device)                                                                                   \
    "python3 -c \"import torch, " plugin "; print(torch." device ".device_count(), torch." device                      \
    ".get_device_name(0))\""

static const struct vendor_tools tools[] = {
    {"NVIDIA", "nvidia-smi --query-gpu=name,memory.total,driver_version,ecc.mode.current --format=csv",
     "nvidia-smi topo -m", TORCH("cuda"), "all_reduce_perf -b 8M -e 8G -f 2 -g %d", "nvidia.com/gpu", NULL},
    {"AMD", "rocm-smi --showproductname --showmeminfo vram --showdriverversion", "rocm-smi --showtopo", TORCH("cuda"),
     "all_reduce_perf -b 8M -e 8G -f 2 -g %d", "amd.com/gpu", NULL},
    {"Huawei", "npu-smi info", "npu-smi info -t topo", TORCH_PLUGIN("torch_npu", "npu"),
     "mpirun -n %d all_reduce_test -b 8M -e 4G -f 2 -d fp32 -o sum", "huawei.com/Ascend910", "npu"},
    {"Hygon", "hy-smi", "hy-smi --showtopo", TORCH("cuda"), "all_reduce_perf -b 8M -e 8G -f 2 -g %d", "hygon.com/dcu",
     "dcu"},
    {"Cambricon", "cnmon info", "cnmon topo -m", TORCH_PLUGIN("torch_mlu", "mlu"),
     "allreduce --begin_byte 8M --end_byte 4G --thread %d", "cambricon.com/mlu", "mlu"},
    {"Moore Threads", "mthreads-gmi -q", "mthreads-gmi topo -m", TORCH_PLUGIN("torch_musa", "musa"),
     "all_reduce_perf -b 8M -e 8G -f 2 -g %d", "mthreads.com/gpu", NULL},
    {"MetaX", "mx-smi", "mx-smi topo -m", TORCH("cuda"), "all_reduce_perf -b 8M -e 8G -f 2 -g %d", "metax-tech.com/gpu",
     NULL},
    {"Kunlunxin", "xpu-smi", "xpu-smi topo -m", TORCH("cuda"), "all_reduce_perf -b 8M -e 8G -f 2 -g %d",
     "kunlunxin.com/xpu", NULL},
    {"Alibaba T-Head", "ppu-smi", "ppu-smi topo -m", TORCH("cuda"), "all_reduce_perf -b 8M -e 8G -f 2 -g %d",
     "alibabacloud.com/ppu", NULL},
};

/* A maker whose tools are not known: what every Linux machine and every PyTorch build has. */
static const struct vendor_tools generic = {"",
                                            "lspci -nn",
                                            "lstopo --of console",
                                            TORCH("cuda"),
                                            "torchrun --nproc-per-node=%d all_reduce_bench.py",
                                            "vendor.example/gpu",
                                            NULL};

const struct vendor_tools *vendor_tools_of(const struct gpu *gpu)
{
    for (size_t i = 0; gpu && gpu->vendor && i < sizeof tools / sizeof *tools; i++)
        if (strncmp(gpu->vendor, tools[i].vendor, strlen(tools[i].vendor)) == 0)
            return &tools[i];
    return &generic;
}
