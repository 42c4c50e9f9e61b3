/* model_config.h — a pasted Hugging Face config.json of any common architecture as a struct model. */
#ifndef SUANPAN_API_MODEL_CONFIG_H
#define SUANPAN_API_MODEL_CONFIG_H

#include "api/jspec.h"
#include "planner/core/model.h"

/* `value` is the config as an object, or as text the way people paste it (log prefixes, trailing commas, a second
 * block behind it). What cannot be understood is a fault that names it. */
void model_config_decode(struct decode *d, json_t *value, const char *pointer, struct model *ret);

#endif
