/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests of all sorts, one after the other, that leave everything as it was. */
#ifndef SELFTESTS_CHURN_H
#define SELFTESTS_CHURN_H

#include "gf.h"

int churn(struct gf *gf, struct gf *watch, const char *first, const char *second, const char *bad);
int churn_cycle(struct gf *gf, struct gf *watch, const char *name);

#endif /* SELFTESTS_CHURN_H */
