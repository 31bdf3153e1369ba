// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl size machines
 *
 * Arrangements of GPUs with their time, cost and energy, sorted by a goal. What
 * is assumed (watts, carbon, overhead of the house) is printed below.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/size.h"
#include "cmd/size_print.h"
#include "size/estimate.h"
#include "size/machines.h"

#define EACH_MAX 256
#define SHOWN 15
#define GPUS_MAX 65536
#define PRICE_FILE_MAX (1 << 16)

static const struct ctl_option options[] = {
	{ "best", 0, "GOAL", "sort them by cost, time, energy or count (default)",
	  "cost time energy count" },
	{ "deadline", 0, "TIME",
	  "training: only arrangements that finish in this time, such as 30d" },
	{ "price", 0, "PRICE|FILE",
	  "price of a GPU-hour, or a file with sections [KIND] and price = 2.50", "@files" },
	{ "gpus-max", 0, "COUNT", "no arrangement with more GPUs (default 1024)" },
	{ "pue", 0, "NUMBER", "power of the data centre over power of the GPUs (default 1.3)" },
	{ "carbon", 0, "NUMBER", "grams of CO2 per kWh (default 400)" },
	{ "ttft", 0, "TIME",
	  "inference: only arrangements that can give the first token in this time" },
	{ "tpot", 0, "TIME",
	  "inference: only arrangements with this time per further token, such as 50ms" },
	{ NULL },
};

static const struct out_column columns[] = {
	{ "gpu", NULL, 0 },
	{ "gpu_name", "ARRANGEMENT", 0 },
	{ "gpus", "GPUS", OUT_RIGHT },
	{ "tensor_parallel", "TP", OUT_RIGHT },
	{ "pipeline_parallel", "PP", OUT_RIGHT },
	{ "attention_data_parallel", "ADP", OUT_RIGHT | OUT_OPTIONAL },
	{ "expert_parallel", "EP", OUT_RIGHT | OUT_OPTIONAL },
	{ "data_parallel", "DP", OUT_RIGHT },
	{ "p50_bytes", NULL, 0 },
	{ "p95_bytes", "P95 A GPU", OUT_RIGHT },
	{ "usable_bytes", "OF", OUT_RIGHT },
	{ "tokens_per_second", "TOKENS/S", OUT_RIGHT },
	{ "mfu", "MFU", OUT_RIGHT | OUT_OPTIONAL },
	{ "hours", "HOURS", OUT_RIGHT | OUT_OPTIONAL },
	{ "gpu_hours", NULL, 0 },
	{ "cost", "COST", OUT_RIGHT | OUT_OPTIONAL },
	{ "kwh", "KWH", OUT_RIGHT | OUT_OPTIONAL },
	{ "co2_kg", "KG CO2", OUT_RIGHT | OUT_OPTIONAL },
	{ "limit", "LIMIT", 0 },
	{ "ttft_bound_s", "TTFT >=", OUT_RIGHT | OUT_OPTIONAL },
	{ "ttft_limit", NULL, 0 },
	{ "tpot_bound_s", "TPOT >=", OUT_RIGHT | OUT_OPTIONAL },
	{ "tpot_limit", NULL, 0 },
	{ "hot_plug", NULL, 0 },
	{ NULL, NULL, 0 },
};

/**
 * struct prices - what a GPU-hour costs
 * @cat: whose kinds
 * @price: by index, negative if not known
 */
struct prices {
	const struct catalogue *cat;
	double *price;
};

static int take_price(const struct conf_item *item, void *arg, struct fault *f)
{
	struct prices *p = arg;
	const struct cat_gpu *gpu;

	if (cat_gpu_find(p->cat->gpus, p->cat->n_gpus, item->section, &gpu, f))
		return -ENOENT;
	if (!item->key)
		return 0;
	if (strcmp(item->key, "price"))
		return fault_set(f, EINVAL, "no such key: %s; only price is known", item->key);
	return conf_decimal(item->value, 0, 1e6, &p->price[gpu - p->cat->gpus], f);
}

static int prices_read(const char *path, struct prices *p, struct fault *f)
{
	FILE *file = fopen(path, "re");
	char *text;
	size_t n;
	int err;

	if (!file)
		return fault_set(f, errno, "%.200s: %s", path, strerror(errno));
	text = mem_zalloc(PRICE_FILE_MAX, 1);
	n = fread(text, 1, PRICE_FILE_MAX, file);
	fclose(file);
	err = n == PRICE_FILE_MAX ? fault_set(f, E2BIG, "%.200s: too large", path) :
				    conf_parse(path, text, n, take_price, p, f);
	free(text);
	return err;
}

static int read_prices(struct ctl_ctx *ctx, const struct catalogue *cat, struct prices *p)
{
	const char *word = ctl_opt(ctx, "price");
	struct fault f = { "" };
	double all = -1;
	size_t i;

	p->cat = cat;
	p->price = mem_zalloc(cat->n_gpus, sizeof(*p->price));
	if (word && conf_decimal(word, 0, 1e6, &all, &f))
		all = -1;
	for (i = 0; i < cat->n_gpus; i++)
		p->price[i] = all;
	if (!word || all >= 0)
		return CTL_DONE;
	if (access(word, R_OK))
		return ctl_fail(ctx, CTL_USAGE,
				"--price: \"%.80s\" is neither a number from 0 to 1000000 nor a file that can be read",
				word);
	if (prices_read(word, p, &f))
		return ctl_fail(ctx, CTL_USAGE, "--price: %s", f.text);
	return CTL_DONE;
}

static int read_number(struct ctl_ctx *ctx, const char *name, double min, double max, double *out)
{
	const char *word = ctl_opt(ctx, name);
	struct fault f = { "" };

	if (word && conf_decimal(word, min, max, out, &f))
		return ctl_fail(ctx, CTL_USAGE, "--%s: %s", name, f.text);
	return CTL_DONE;
}

static int read_time(struct ctl_ctx *ctx, const char *name, double *seconds)
{
	const char *word = ctl_opt(ctx, name);
	uint64_t ms;

	if (!word)
		return CTL_DONE;
	if (!text_parse_duration(word, &ms) || !ms)
		return ctl_fail(ctx, CTL_USAGE,
				"--%s: \"%.40s\" is not a time: write 30d, 8h or 50ms", name, word);
	*seconds = (double)ms / 1000;
	return CTL_DONE;
}

static int read_wish(struct ctl_ctx *ctx, const struct catalogue *cat,
		     const struct size_request *req, struct machine_wish *wish)
{
	double max = 1024;
	int ret;

	memset(wish, 0, sizeof(*wish));
	wish->pue = 1.3;
	wish->carbon = 400;
	wish->speed = cat->speed;
	wish->tokens = (double)req->tokens * req->epochs;
	wish->answers = (double)req->output_tokens * req->qpm / 60;
	ret = read_number(ctx, "pue", 1, 5, &wish->pue);
	if (!ret)
		ret = read_number(ctx, "carbon", 0, 5000, &wish->carbon);
	if (!ret)
		ret = read_number(ctx, "gpus-max", 1, GPUS_MAX, &max);
	if (!ret)
		ret = read_time(ctx, "deadline", &wish->seconds);
	if (!ret)
		ret = read_time(ctx, "ttft", &wish->ttft);
	if (!ret)
		ret = read_time(ctx, "tpot", &wish->tpot);
	wish->gpus_max = (unsigned int)max;
	if (!ret && wish->seconds > 0 && !req->tokens)
		ret = ctl_fail(ctx, CTL_USAGE,
			       "--deadline needs --tokens, the number of tokens to train on");
	if (!ret && wish->seconds > 0 && req->task == SIZE_INFER)
		ret = ctl_fail(ctx, CTL_USAGE, "--deadline is for training: add --task train");
	if (!ret && (wish->ttft > 0 || wish->tpot > 0) && req->task != SIZE_INFER)
		ret = ctl_fail(ctx, CTL_USAGE, "--%s is for inference: leave it out",
			       wish->ttft > 0 ? "ttft" : "tpot");
	return ret;
}

static void put_real(struct out_table *t, const char *column, double value, int digits)
{
	if (value > 0)
		out_real(t, column, value, digits);
}

/* Milliseconds for people, where they asked; programs get seconds. */
static void put_bound(struct out_table *t, const char *column, const char *limit, double seconds,
		      enum speed_term term, bool asked)
{
	if (seconds <= 0)
		return;
	out_cell(t, column, json_object_new_double(seconds), "%.1f ms", seconds * 1000);
	if (!asked)
		out_text(t, column, "-");
	out_str(t, limit, speed_term_names[term]);
}

static void print_machine(struct out_table *t, const struct catalogue *cat,
			  const struct machine_wish *wish, const struct machine *m)
{
	const struct cat_gpu *gpu = &cat->gpus[m->kind];
	char buf[UNITS_TEXT_MAX];

	out_row(t);
	out_str(t, "gpu", gpu->id);
	out_str(t, "gpu_name", gpu->name);
	out_uint(t, "gpus", m->gpus);
	out_uint(t, "tensor_parallel", m->layout.tp);
	out_uint(t, "pipeline_parallel", m->layout.pp);
	if (m->layout.adp > 1) {
		out_uint(t, "attention_data_parallel", m->layout.adp);
		out_uint(t, "expert_parallel", m->layout.tp * m->layout.adp);
	}
	out_uint(t, "data_parallel", m->dp);
	out_uint(t, "p50_bytes", (uint64_t)m->p50);
	out_cell(t, "p95_bytes", json_object_new_uint64((uint64_t)m->p95), "%s",
		 units_gib(buf, (uint64_t)m->p95));
	out_cell(t, "usable_bytes", json_object_new_uint64(m->usable), "%s",
		 units_gib(buf, m->usable));
	put_real(t, "tokens_per_second", m->rate.tokens_per_s * m->gpus, 0);
	put_real(t, "mfu", m->rate.mfu, 3);
	put_real(t, "hours", m->hours, 1);
	put_real(t, "gpu_hours", m->hours * m->gpus, 0);
	put_real(t, "cost", m->cost, 2);
	put_real(t, "kwh", m->kwh, 0);
	put_real(t, "co2_kg", m->co2_kg, 0);
	if (m->rate.tokens_per_s > 0)
		out_str(t, "limit", speed_term_names[m->rate.limit]);
	put_bound(t, "ttft_bound_s", "ttft_limit", m->latency.ttft, m->latency.ttft_limit,
		  wish->ttft > 0);
	put_bound(t, "tpot_bound_s", "tpot_limit", m->latency.tpot, m->latency.tpot_limit,
		  wish->tpot > 0);
	out_bool(t, "hot_plug", gpu->form == GPU_FORM_CARD);
}

static size_t machines_collect(struct ctl_ctx *ctx, const struct catalogue *cat,
			       const struct size_request *req, const struct machine_wish *wish,
			       struct machine *all)
{
	struct machine each[EACH_MAX];
	enum gpu_trust trust;
	size_t i, j, n = 0, got;

	for (i = 0; i < cat->n_gpus; i++) {
		if (!size_kind_asked(ctx, &cat->gpus[i]) ||
		    !cat_gpu_memory_mib(&cat->gpus[i], &trust))
			continue;
		got = machines_find(req, &cat->gpus[i], i, wish, each, EACH_MAX);
		for (j = 0; j < got; j++)
			all[n++] = each[j];
	}
	return n;
}

/* All options; prices are the caller's to free when they are good. */
static int machines_read(struct ctl_ctx *ctx, const struct catalogue *cat,
			 const struct size_request *req, struct machine_wish *wish,
			 enum machine_goal *goal, struct prices *prices)
{
	const char *best = ctl_opt(ctx, "best");
	struct fault f = { "" };
	int ret;

	*goal = GOAL_COUNT;
	if (req->method != &size_method_engine)
		return ctl_fail(ctx, CTL_USAGE, "times are known only with --method engine");
	if (req->host_layers)
		return ctl_fail(ctx, CTL_USAGE,
				"times of layers in the host's memory are not known: leave --host-layers out");
	ret = size_check_kinds(ctx, cat);
	if (ret)
		return ret;
	if (best && machine_goal_find(best, goal, &f))
		return ctl_fail(ctx, CTL_USAGE, "--best: %s", f.text);
	ret = read_wish(ctx, cat, req, wish);
	if (!ret && *goal == GOAL_COST && !ctl_flag(ctx, "price"))
		ret = ctl_fail(ctx, CTL_USAGE, "--best cost needs --price: a number or a file");
	if (!ret && *goal == GOAL_ENERGY && !req->tokens)
		ret = ctl_fail(ctx, CTL_USAGE,
			       "--best energy needs --tokens, the number of tokens to train on");
	if (!ret && *goal == GOAL_COST && !req->tokens)
		ret = ctl_fail(ctx, CTL_USAGE,
			       "--best cost needs --tokens, the number of tokens to train on");
	if (!ret)
		ret = read_prices(ctx, cat, prices);
	if (ret)
		free(prices->price);
	return ret;
}

/* Nothing is fast enough: name a fast arrangement, and what limits it. */
static int fail_slow(struct ctl_ctx *ctx, const struct catalogue *cat,
		     const struct size_request *req, const struct machine_wish *wish,
		     struct machine *all)
{
	struct machine_wish any = *wish;
	const struct machine *best = NULL;
	bool first = wish->ttft > 0;
	size_t i, n;

	/* With both the first token counts, unless that alone could be had. */
	any.tpot = 0;
	if (first && wish->tpot > 0 && machines_collect(ctx, cat, req, &any, all))
		first = false;
	any.ttft = 0;
	n = machines_collect(ctx, cat, req, &any, all);
	for (i = 0; i < n; i++) {
		const struct size_latency *l = &all[i].latency;
		double bound = first ? l->ttft : l->tpot;

		if (bound > 0 &&
		    (!best || bound < (first ? best->latency.ttft : best->latency.tpot)))
			best = &all[i];
	}
	if (!best)
		return ctl_fail(ctx, CTL_NO_FIT,
				"no arrangement of at most %u GPUs holds the workload, or its speed is not known: raise --gpus-max, or take a smaller format",
				wish->gpus_max);
	return ctl_fail(ctx, CTL_NO_FIT,
			"no arrangement of at most %u GPUs is fast enough: %u x %s needs at least %.1f ms %s (%s)",
			wish->gpus_max, best->layout.gpus, cat->gpus[best->kind].name,
			1000 * (first ? best->latency.ttft : best->latency.tpot),
			first ? "to the first token" : "from token to token",
			speed_term_names[first ? best->latency.ttft_limit :
						 best->latency.tpot_limit]);
}

static int machines(struct ctl_ctx *ctx, struct catalogue *cat, const struct size_request *req,
		    const char *word)
{
	struct machine_wish wish;
	struct prices prices = { 0 };
	enum machine_goal goal;
	struct machine *all;
	struct size_terms terms;
	struct out_table *t;
	size_t n, i;
	int ret;

	(void)word;
	ret = machines_read(ctx, cat, req, &wish, &goal, &prices);
	if (ret)
		return ret;
	size_print_need(ctx, req, &terms);
	wish.price = prices.price;
	all = mem_zalloc(cat->n_gpus * EACH_MAX, sizeof(*all));
	n = machines_collect(ctx, cat, req, &wish, all);
	machines_sort(all, n, goal);
	t = out_table(ctx->out, "machines", columns, OUT_TABLE);
	for (i = 0; i < n && (out_is_json(ctx->out) || i < SHOWN); i++)
		print_machine(t, cat, &wish, &all[i]);
	if (n > SHOWN)
		out_line(ctx->out, "%zu more arrangements with -j", n - SHOWN);
	if (req->tokens)
		out_note(ctx->out, "remarks", "",
			 "energy: 85 %% of each board's watts, PUE %g, %g g CO2 a kWh", wish.pue,
			 wish.carbon);
	if (!n && (wish.ttft > 0 || wish.tpot > 0))
		ret = fail_slow(ctx, cat, req, &wish, all);
	else if (!n)
		ret = ctl_fail(ctx, CTL_NO_FIT,
			       "no arrangement of at most %u GPUs meets the request: raise --gpus-max or --deadline, or take a smaller format",
			       wish.gpus_max);
	free(prices.price);
	free(all);
	return ret;
}

static int size_machines_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	int ret = ctl_operands(ctx, argc, 0, 1);

	return ret ? ret : size_verb_run(ctx, NULL, argv[0], SIZE_READ_COUNT, machines);
}

const struct ctl_command cmd_size_machines = {
	.name = "size machines",
	.args = "[MODEL]",
	.summary = "arrangements of GPUs with their time, cost and energy",
	.help = "For each kind of GPU and each TP and ADP, gpuctl prints the smallest arrangement that holds the\n"
		"workload. --ttft and --tpot exclude arrangements by a lower bound of their latency.",
	.options = { options, size_kind_options, size_workload_options, size_fleet_options },
	.flags = CTL_NO_DRY_RUN,
	.completes = SIZE_MODELS,
	.run = size_machines_run,
};
