/* SPDX-License-Identifier: GPL-2.0-only */
/* Energy of GPUs from how long they were busy, idle and off: arithmetic only. */
#ifndef GPUCTL_PLAN_ENERGY_H
#define GPUCTL_PLAN_ENERGY_H

/**
 * struct energy_rates - what is assumed; modelled, unless the user gives measured watts
 * @busy_w: watts of a GPU that works
 * @idle_w: of one that is powered and has nothing to do
 * @off_w: of one that is off
 * @host_w: of the host's share for each powered GPU, beside the GPU itself
 * @pue: watts of the house over watts of the machines
 * @carbon: g CO2 of a kWh
 * @price: of a kWh, 0: not known
 */
struct energy_rates {
	double busy_w, idle_w, off_w, host_w;
	double pue;
	double carbon;
	double price;
};

/* 427 W busy and 68 W idle: an H100 (modelled); PUE 1.3; 400 g/kWh. */
extern const struct energy_rates energy_default;

/**
 * struct energy - of some GPUs over some time
 * @kwh: of the GPUs alone, all of it
 * @idle_kwh: the part of GPUs that were on and idle
 * @host_kwh: of their hosts
 * @house_kwh: all with the house's overhead
 * @co2_kg: of @house_kwh
 * @cost: of @house_kwh
 */
struct energy {
	double kwh, idle_kwh, host_kwh, house_kwh, co2_kg, cost;
};

/* From GPU-seconds in each condition. */
struct energy energy_of(const struct energy_rates *rates, double busy_s, double idle_s,
			double off_s);

/* kWh of the house for each GPU-hour that was served; 0 where none was. */
double energy_per_gpu_hour(const struct energy *e, double busy_s);

#endif
