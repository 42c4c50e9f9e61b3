/* api.c — the door's first call. */
#include "api/api.h"

#include <jansson.h>

#include "api/message.h"

void api_init(void)
{
    json_object_seed(0);
    message_init();
}
