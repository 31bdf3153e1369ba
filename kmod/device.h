/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_DEVICE_H
#define GPUFABRIC_DEVICE_H

#include "slot.h"

int gf_device_start(void);
void gf_device_stop(void);
void gf_device_init(struct gf_slot *slot);
void gf_device_unlink(struct gf_slot *slot);
void gf_device_publish(struct work_struct *work);

#endif /* GPUFABRIC_DEVICE_H */
