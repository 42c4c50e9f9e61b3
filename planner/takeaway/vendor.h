/* vendor.h — what each maker of cards calls its tools, so that commands handed to a customer run on his machine. */
#ifndef SUANPAN_PLANNER_TAKEAWAY_VENDOR_H
#define SUANPAN_PLANNER_TAKEAWAY_VENDOR_H

#include "planner/core/hardware.h"

struct vendor_tools {
    const char *vendor;          /* start of gpu.vendor */
    const char *list;            /* names, memory, driver of every card */
    const char *topology;        /* links between cards */
    const char *torch_check;     /* one line that counts and names the cards from PyTorch */
    const char *collective_test; /* all-reduce over the cards of one node, %d = number of cards */
    const char *resource;        /* Kubernetes extended resource */
    const char *gres;            /* what Slurm calls such a card; NULL = "gpu" */
};

/* Never NULL: an unknown maker gets the row with generic commands. */
const struct vendor_tools *vendor_tools_of(const struct gpu *gpu);

#endif
