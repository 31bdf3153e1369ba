// SPDX-License-Identifier: GPL-2.0-only
/* DOC: watts, overhead of the house, carbon and price, see plan_rates.h. */
#include "base/conf.h"
#include "cli/given.h"
#include "cmd/plan_rates.h"

const struct ctl_option plan_rates_options[] = {
	{ "busy-watts", 0, "WATTS", "power of a GPU that works (default 427, an H100)" },
	{ "idle-watts", 0, "WATTS", "power of a GPU that is on and idle (default 68)" },
	{ "off-watts", 0, "WATTS", "power of a GPU that is off (default 0)" },
	{ "host-watts", 0, "WATTS", "power of a host for each GPU that is on (default 0)" },
	{ "pue", 0, "NUMBER", "power of the data centre over power of the machines (default 1.3)" },
	{ "carbon", 0, "NUMBER", "grams of CO2 per kWh (default 400)" },
	{ "kwh-price", 0, "NUMBER", "price of a kWh" },
	{ NULL },
};

int plan_rates_number(struct ctl_ctx *ctx, const char *name, double min, double max, double *out)
{
	const char *word = ctl_opt(ctx, name);
	struct fault f = { "" };

	if (word && conf_decimal(word, min, max, out, &f))
		return ctl_fail(ctx, CTL_USAGE, "--%s: %s", name, f.text);
	return CTL_DONE;
}

int plan_rates(struct ctl_ctx *ctx, struct energy_rates *rates)
{
	int ret;

	*rates = energy_default;
	ret = plan_rates_number(ctx, "busy-watts", 0, 10000, &rates->busy_w);
	if (!ret)
		ret = plan_rates_number(ctx, "idle-watts", 0, 10000, &rates->idle_w);
	if (!ret)
		ret = plan_rates_number(ctx, "off-watts", 0, 10000, &rates->off_w);
	if (!ret)
		ret = plan_rates_number(ctx, "host-watts", 0, 10000, &rates->host_w);
	if (!ret)
		ret = plan_rates_number(ctx, "pue", 1, 5, &rates->pue);
	if (!ret)
		ret = plan_rates_number(ctx, "carbon", 0, 5000, &rates->carbon);
	if (!ret)
		ret = plan_rates_number(ctx, "kwh-price", 0, 1000, &rates->price);
	return ret;
}

const char *plan_rates_basis(struct ctl_ctx *ctx)
{
	if (ctl_flag(ctx, "busy-watts") && ctl_flag(ctx, "idle-watts"))
		return "given";
	return "modelled";
}
