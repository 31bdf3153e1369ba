/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_INVENTORY_H
#define GPUFABRIC_INVENTORY_H

int gf_inventory_check(void);
void gf_inventory_start(void);
void gf_inventory_stop(void);
void gf_inventory_queue(void);

#endif /* GPUFABRIC_INVENTORY_H */
