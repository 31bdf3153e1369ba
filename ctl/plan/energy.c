// SPDX-License-Identifier: GPL-2.0-only
/* DOC: energy, see energy.h. */
#include "energy.h"

#define J_PER_KWH 3.6e6

const struct energy_rates energy_default = {
	.busy_w = 427,
	.idle_w = 68,
	.off_w = 0,
	.host_w = 0,
	.pue = 1.3,
	.carbon = 400,
};

struct energy energy_of(const struct energy_rates *rates, double busy_s, double idle_s,
			double off_s)
{
	struct energy e;

	e.idle_kwh = rates->idle_w * idle_s / J_PER_KWH;
	e.kwh = (rates->busy_w * busy_s + rates->off_w * off_s) / J_PER_KWH + e.idle_kwh;
	e.host_kwh = rates->host_w * (busy_s + idle_s) / J_PER_KWH;
	e.house_kwh = (e.kwh + e.host_kwh) * rates->pue;
	e.co2_kg = e.house_kwh * rates->carbon / 1000;
	e.cost = e.house_kwh * rates->price;
	return e;
}

double energy_per_gpu_hour(const struct energy *e, double busy_s)
{
	return busy_s > 0 ? e->house_kwh / (busy_s / 3600) : 0;
}
