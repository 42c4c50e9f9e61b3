/* hints.c — what drivers and frameworks complain of in plain words: no verdict, but what to mend first. */
#include <stddef.h>

#include "planner/diagnosis/rules.h"
#include "planner/diagnosis/text.h"

const char *hint_fault(const char *text)
{
    static const char *const words[] = {"GPU is lost",
                                        "GPU requires reset",
                                        "Unable to determine the device handle",
                                        "Failed to initialize NVML",
                                        "couldn't communicate with the NVIDIA driver",
                                        "No devices were found",
                                        "Unknown Error",
                                        "uncorrectable ECC error",
                                        "ERR!",
                                        "NVRM: Xid"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (text_find(text, words[i]) != NULL)
            return words[i];
    return NULL;
}

void hints_add(struct diagnosis *d, const char *log)
{
    static const struct {
        const char *words, *code;
    } hints[] = {
        {"out of memory", "out_of_memory"},
        {"does not have many workers which may be a bottleneck", "loader_workers"},
        {"suggested max number of worker", "loader_workers"},
        {"NCCL WARN", "collective_trouble"},
        {"Watchdog caught collective operation timeout", "collective_trouble"},
        {"pytorch allocator cache flushes", "allocator_flushes"},
    };
    for (size_t i = 0; log != NULL && i < sizeof hints / sizeof *hints; i++) {
        bool said = false;
        for (size_t k = 0; k < i; k++)
            said = said || (hints[k].code == hints[i].code && text_find(log, hints[k].words) != NULL);
        if (!said && text_find(log, hints[i].words) != NULL)
            remark_add(d, hints[i].code, "iterations", (double)d->iterations.n);
    }
}
