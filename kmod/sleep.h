/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_SLEEP_H
#define GPUFABRIC_SLEEP_H

#include <linux/types.h>

int gf_sleep_start(void);
void gf_sleep_stop(void);
void gf_sleep_worker(bool begins);

#endif /* GPUFABRIC_SLEEP_H */
