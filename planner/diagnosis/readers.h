/* readers.h — the readers of single outputs. Each takes a cleaned text (text_clean), which it cuts up, and adds what it
 * finds; none fails: what it does not know it leaves alone. */
#ifndef SUANPAN_PLANNER_DIAGNOSIS_READERS_H
#define SUANPAN_PLANNER_DIAGNOSIS_READERS_H

#include "planner/diagnosis/cards.h"
#include "planner/diagnosis/diagnosis.h"

/* The table of `nvidia-smi`. ret_driver, ret_cuda: left as they are where the text has none. */
void read_smi_table(char *text, struct cards *cards, const char **ret_driver, const char **ret_cuda);

/* The long list of `nvidia-smi -q`. */
void read_smi_list(char *text, struct cards *cards, const char **ret_driver, const char **ret_cuda);

/* `nvidia-smi -q -x`. */
void read_smi_xml(char *text, struct cards *cards, const char **ret_driver, const char **ret_cuda);

/* `nvidia-smi -L`, gpustat, tegrastats. After the readers above: names alone count only where no card was read. */
void read_smi_other(char *text, struct cards *cards);

/* One row a card below a heading: rocm-smi, hy-smi, `amd-smi monitor`, `dcgmi dmon`, `npu-smi info watch`, and rows of
 * `nvidia-smi dmon` whose heading was lost. */
void read_smi_columns(char *text, struct cards *cards);

/* The table of `amd-smi`. */
void read_amd_smi(char *text, struct cards *cards);

/* The table of `npu-smi info`. */
void read_npu_smi(char *text, struct cards *cards);

/* Figures of cards that somebody typed. After all readers of tools: only where none of them found a card. */
void read_smi_words(char *text, struct cards *cards);

/* `nvidia-smi --query-gpu=... --format=csv[,noheader][,nounits]`. */
void read_smi_csv(char *text, struct cards *cards);

/* `nvidia-smi dmon`. */
void read_dmon(char *text, struct cards *cards);

/* `nvidia-smi topo -m`. */
void read_topo(char *text, struct arena *arena, struct topology *topology);

/* A training log of any framework. */
void read_training_log(char *text, struct arena *arena, struct iteration_stats *ret);

/* Mean, median and variation of iteration times with warm-up steps and pauses left out. `after_pause` (NULL: none)
 * marks times that an evaluation or a checkpoint may be part of. */
void iteration_statistics(const double *times_s, const bool *after_pause, size_t n, struct arena *arena,
                          struct iteration_stats *ret);

#endif
