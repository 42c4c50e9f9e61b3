/* handlers.h — what the route table calls. Each fills call->res. */
#ifndef SUANPAN_API_HANDLERS_H
#define SUANPAN_API_HANDLERS_H

#include "api/decode.h"
#include "api/route.h"

void handle_estimate(struct call *c);
void handle_plan_post(struct call *c);
void handle_plan_get(struct call *c);
void handle_diagnosis(struct call *c);
void handle_list(struct call *c); /* route->data: a struct collection (catalog_read.h) */
void handle_item(struct call *c);
void handle_openapi(struct call *c);

/* Turns a refusal of engine or plan into the answer: 422 with a pointer, or 5xx. */
void refuse_computation(struct call *c, struct decode *d, const struct err *err);

#endif
