/* estimate.c — the words an estimate is graded with. */
#include "planner/core/estimate.h"

const char *fits_name(enum fits f)
{
    switch (f) {
    case FITS_NO:
        return "no";
    case FITS_TIGHT:
        return "tight";
    case FITS_YES:
        return "yes";
    }
    return "no";
}

const char *confidence_name(enum confidence c)
{
    switch (c) {
    case CONF_ANALYTIC:
        return "analytic";
    case CONF_CALIBRATED:
        return "calibrated";
    case CONF_MEASURED:
        return "measured";
    }
    return "analytic";
}
