// SPDX-License-Identifier: GPL-2.0-only
/* GPUs of fabric managers as tables, for fabric, list and topo. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/out.h"
#include "cmd/pool_table.h"

static const struct out_column gpu_columns[] = {
	{ "gpu", "GPU" },   { "kind", "KIND" }, { "model", NULL },  { "state", "STATE" },
	{ "host", "HOST" }, { "slot", "SLOT" }, { "port", "PORT" }, { "manager", "MANAGER" },
	{ "vendor", NULL }, { "device", NULL }, { "serial", NULL }, { "why", "WHY", OUT_OPTIONAL },
	{ NULL, NULL },
};

static const struct out_column manager_columns[] = {
	{ "manager", "MANAGER" },
	{ "driver", NULL },
	{ "url", "URL" },
	{ "host", "HERE" },
	{ "gpus", "GPUS", OUT_RIGHT },
	{ "free", "FREE", OUT_RIGHT },
	{ "bound", "BOUND", OUT_RIGHT },
	{ "ports", "PORTS", OUT_RIGHT },
	{ "error", NULL },
	{ NULL, NULL },
};

void pool_seen_read(struct ctl_ctx *ctx, const struct catalogue *catalogue, struct pool_seen *pool)
{
	size_t i;

	memset(pool, 0, sizeof(*pool));
	managers_load(ctx, &pool->managers);
	for (i = 0; i < pool->managers.n_bad; i++)
		ctl_warn(ctx, "%s", pool->managers.bad[i].why);
	pool->asked = managers_inventory(ctx, &pool->managers, catalogue);
	for (i = 0; i < pool->managers.n; i++)
		if (pool->asked[i].ret)
			ctl_warn(ctx, "%s", pool->asked[i].why);
}

void pool_seen_free(struct pool_seen *pool)
{
	managers_asked_free(pool->asked, pool->managers.n);
	managers_free(&pool->managers);
	memset(pool, 0, sizeof(*pool));
}

static void render_gpu(struct out_table *t, const struct manager_conf *conf,
		       const struct pool_gpu *gpu)
{
	out_row(t);
	out_str(t, "gpu", gpu->id);
	out_str(t, "kind", gpu->gpu ? gpu->gpu->id : NULL);
	out_text(t, "kind", "%s", gpu->label);
	if (gpu->model)
		out_str(t, "model", gpu->model);
	out_str(t, "state", pool_state_text(gpu));
	out_str(t, "host", gpu->host);
	out_str(t, "slot", gpu->slot);
	out_str(t, "port", gpu->port);
	out_str(t, "manager", conf->name);
	if (gpu->vendor)
		out_strf(t, "vendor", "%04x", gpu->vendor);
	if (gpu->device)
		out_strf(t, "device", "%04x", gpu->device);
	if (gpu->serial)
		out_str(t, "serial", gpu->serial);
	if (gpu->why)
		out_str(t, "why", gpu->why);
}

void pool_seen_render(struct ctl_ctx *ctx, const struct pool_seen *pool)
{
	struct out_table *t = out_table(ctx->out, "pool", gpu_columns, OUT_TABLE);
	size_t i, j;

	for (i = 0; i < pool->managers.n; i++)
		for (j = 0; j < pool->asked[i].reply.inventory.n; j++)
			render_gpu(t, &pool->managers.conf[i],
				   &pool->asked[i].reply.inventory.gpus[j]);
}

static size_t pool_count(const struct inventory *inventory, enum pool_state state)
{
	size_t n = 0, i;

	for (i = 0; i < inventory->n; i++)
		n += inventory->gpus[i].state == state;
	return n;
}

void pool_seen_render_managers(struct ctl_ctx *ctx, const struct pool_seen *pool)
{
	struct out_table *t = out_table(ctx->out, "managers", manager_columns, OUT_TABLE);
	size_t i;

	for (i = 0; i < pool->managers.n; i++) {
		const struct manager_conf *conf = &pool->managers.conf[i];
		const struct inventory *inventory = &pool->asked[i].reply.inventory;

		out_row(t);
		out_str(t, "manager", conf->name);
		out_str(t, "driver", manager_driver_text(conf->driver));
		out_str(t, "url", conf->url);
		out_str(t, "host", conf->host);
		out_uint(t, "ports", conf->n_ports);
		if (pool->asked[i].ret) {
			out_str(t, "error", pool->asked[i].why);
			continue;
		}
		out_uint(t, "gpus", inventory->n);
		out_uint(t, "free", pool_count(inventory, POOL_FREE));
		out_uint(t, "bound", pool_count(inventory, POOL_OURS));
	}
}

/* Managers answer as fast as they like: the snapshot is older than what they say. */
void pool_print(struct ctl_ctx *ctx, const struct catalogue *catalogue)
{
	struct pool_seen pool = { 0 };

	pool_seen_read(ctx, catalogue, &pool);
	out_line(ctx->out, "%s", "");
	pool_seen_render(ctx, &pool);
	pool_seen_free(&pool);
}
