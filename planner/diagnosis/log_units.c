/* log_units.c — units of time as logs write them. */
#include <string.h>

#include "planner/diagnosis/log.h"
#include "planner/diagnosis/text.h"

double log_unit_at(const char *p)
{
    static const struct {
        const char *name;
        double s;
    } units[] = {{"milliseconds", 1e-3}, {"seconds", 1}, {"second", 1}, {"secs", 1},    {"sec", 1}, {"msec", 1e-3},
                 {"ms", 1e-3},           {"us", 1e-6},   {"s", 1},      {"毫秒", 1e-3}, {"秒", 1},  {"分钟", 60},
                 {"minutes", 60},        {"mins", 60},   {"min", 60},   {"m", 60}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (text_starts(p, units[i].name) && !text_is_alnum(p[strlen(units[i].name)]))
            return units[i].s;
    return 0;
}
