// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl gpus: the catalogue of GPU products. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "catalogue/catalogue.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"

static const struct ctl_option options[] = {
	{ "cards", 'c', NULL, "only GPUs that fit into a slot" },
	{ NULL },
};

/* The facts in the order of gpu_fact_types[], then what else is known. */
static const struct out_column list_columns[] = {
	{ "id", "GPU", 0 },
	{ "name", "NAME", 0 },
	{ "memory_mib", "MEMORY", OUT_RIGHT },
	{ "bandwidth_gbs", "GB/S", OUT_RIGHT },
	{ "fp16_tflops", "FP16", OUT_RIGHT },
	{ "fp8_tflops", "FP8", OUT_RIGHT },
	{ "tdp_w", "WATTS", OUT_RIGHT },
	{ "bar1_mib", "BAR", OUT_RIGHT },
	{ "form", "FORM", 0 },
	{ NULL, NULL, 0 },
};

static const struct out_column show_columns[] = {
	{ "id", "gpu", 0 },
	{ "name", "name", 0 },
	{ "short_name", "short name", 0 },
	{ "aliases", "also called", 0 },
	{ "vendor", "vendor", 0 },
	{ "driver", "driver", 0 },
	{ "form", "form", 0 },
	{ "hot_plug", "for a slot", 0 },
	{ "pci_ids", "PCI ids", 0 },
	{ "pci_vf_ids", "VF ids", 0 },
	{ "memory_mib", "memory", 0 },
	{ "memory_source", NULL, 0 },
	{ "memory_label_gib", "sold as", 0 },
	{ "devices", "devices", 0 },
	{ "bandwidth_gbs", "bandwidth", 0 },
	{ "fp32_tflops", "fp32", 0 },
	{ "fp16_tflops", "fp16, dense", 0 },
	{ "fp8_tflops", "fp8, dense", 0 },
	{ "tdp_w", "power", 0 },
	{ "idle_w", "idle", 0 },
	{ "link", "GPU link", 0 },
	{ "link_gbs", "link speed", 0 },
	{ "pcie_gen", "PCIe gen", 0 },
	{ "pcie_width", "PCIe width", 0 },
	{ "bar1_mib", "large BAR", 0 },
	{ "compute_capability", "CUDA capability", 0 },
	{ "assumed", NULL, 0 },
	{ "source", "source", 0 },
	{ "note", "note", 0 },
	{ NULL, NULL, 0 },
};

static struct json_object *gpus_number(double value, bool whole)
{
	if (whole)
		return json_object_new_uint64((uint64_t)value);
	return json_object_new_double(value);
}

/* A number with its unit; "~" marks what is not verified. */
static void put_fact(struct out_table *t, const struct cat_gpu *gpu, enum gpu_fact fact, bool unit)
{
	const struct gpu_fact_type *type = &gpu_fact_types[fact];
	enum gpu_trust trust;
	double value;

	trust = cat_gpu_fact(gpu, fact, &value);
	if (trust == GPU_UNKNOWN)
		return;
	out_cell(t, type->key, gpus_number(value, type->whole), "%s%g%s%s%s",
		 trust == GPU_VERIFIED ? "" : "~", value, unit && *type->unit ? " " : "",
		 unit ? type->unit : "", unit && trust == GPU_ASSUMED ? " (assumed)" : "");
}

static void put_memory(struct out_table *t, const struct cat_gpu *gpu)
{
	enum gpu_trust trust;
	uint64_t mib = cat_gpu_memory_mib(gpu, &trust);

	if (!mib)
		return;
	out_cell(t, "memory_mib", json_object_new_uint64(mib), "%s%.1f GiB",
		 trust == GPU_VERIFIED ? "" : "~", (double)mib / 1024);
}

static void put_bar(struct out_table *t, const struct cat_gpu *gpu)
{
	enum gpu_trust trust;
	double mib;

	trust = cat_gpu_fact(gpu, GPU_BAR1_MIB, &mib);
	if (trust != GPU_UNKNOWN)
		out_cell(t, "bar1_mib", gpus_number(mib, true), "%s%g GiB",
			 trust == GPU_VERIFIED ? "" : "~", mib / 1024);
}

static void list_one(struct out_table *t, const struct cat_gpu *gpu)
{
	out_row(t);
	out_str(t, "id", gpu->id);
	out_str(t, "name", gpu->name);
	put_memory(t, gpu);
	put_fact(t, gpu, GPU_BANDWIDTH_GBS, false);
	put_fact(t, gpu, GPU_FP16_TFLOPS, false);
	put_fact(t, gpu, GPU_FP8_TFLOPS, false);
	put_fact(t, gpu, GPU_TDP_W, false);
	put_bar(t, gpu);
	out_str(t, "form", cat_gpu_form_name(gpu->form));
}

static void put_ids(struct out_table *t, const char *column, const struct gpu_pci_id *ids, size_t n)
{
	struct json_object *array = json_object_new_array();
	struct text line = { 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		char id[24];

		if (ids[i].sub)
			snprintf(id, sizeof(id), "%04x:%04x/%04x:%04x", ids[i].vendor,
				 ids[i].device, ids[i].subvendor, ids[i].subdevice);
		else
			snprintf(id, sizeof(id), "%04x:%04x", ids[i].vendor, ids[i].device);
		json_object_array_add(array, json_object_new_string(id));
		text_join(&line, ", ", id);
	}
	out_cell(t, column, array, "%s", line.text ? line.text : "-");
	free(line.text);
}

static void put_assumed(struct out_table *t, const struct cat_gpu *gpu)
{
	const char *keys[GPU_FACTS];
	size_t n = 0;
	double value;
	int i;

	for (i = 0; i < GPU_FACTS; i++)
		if (cat_gpu_fact(gpu, (enum gpu_fact)i, &value) == GPU_ASSUMED)
			keys[n++] = gpu_fact_types[i].key;
	out_list(t, "assumed", keys, n);
}

static void show_memory(struct out_table *t, const struct cat_gpu *gpu)
{
	enum gpu_trust trust;
	uint64_t mib = cat_gpu_memory_mib(gpu, &trust);

	out_str(t, "memory_source", cat_gpu_trust_name(trust));
	if (mib)
		out_cell(t, "memory_mib", json_object_new_uint64(mib), "%llu MiB, %.1f GiB (%s)",
			 (unsigned long long)mib, (double)mib / 1024, cat_gpu_trust_name(trust));
}

static void show_one(struct out_table *t, const struct cat_gpu *gpu)
{
	int i;

	out_row(t);
	out_str(t, "id", gpu->id);
	out_str(t, "name", gpu->name);
	out_str(t, "short_name", gpu->brief);
	if (gpu->n_aliases)
		out_list(t, "aliases", (const char *const *)gpu->aliases, gpu->n_aliases);
	out_str(t, "vendor", gpu->vendor);
	if (gpu->driver)
		out_str(t, "driver", gpu->driver);
	out_str(t, "form", cat_gpu_form_name(gpu->form));
	out_bool(t, "hot_plug", gpu->form == GPU_FORM_CARD);
	put_ids(t, "pci_ids", gpu->pci, gpu->n_pci);
	if (gpu->n_pci_vf)
		put_ids(t, "pci_vf_ids", gpu->pci_vf, gpu->n_pci_vf);
	show_memory(t, gpu);
	for (i = GPU_MEMORY_MIB + 1; i < GPU_FACTS; i++)
		put_fact(t, gpu, (enum gpu_fact)i, true);
	if (gpu->link)
		out_str(t, "link", gpu->link);
	put_assumed(t, gpu);
	out_str(t, "source", gpu->source);
	if (gpu->note)
		out_str(t, "note", gpu->note);
}

static void list_all(struct ctl_ctx *ctx, const struct catalogue *cat)
{
	struct out_table *t = out_table(ctx->out, "gpus", list_columns, OUT_TABLE);
	size_t i;

	for (i = 0; i < cat->n_gpus; i++)
		if (!ctl_flag(ctx, "cards") || cat->gpus[i].form == GPU_FORM_CARD)
			list_one(t, &cat->gpus[i]);
	out_line(ctx->out,
		 "~ marks values that are assumed or from the label; gpuctl gpus GPU shows all values of a GPU");
}

static int show_named(struct ctl_ctx *ctx, const struct catalogue *cat, int argc, char **argv)
{
	struct out_table *t = out_table(ctx->out, "gpus", show_columns, OUT_RECORDS);
	size_t i;
	int arg;

	for (arg = 0; arg < argc; arg++) {
		const struct cat_gpu *gpu;
		struct fault f = { "" };

		/* one name may mean several products: all are shown */
		if (!cat_gpu_matches(cat->gpus, cat->n_gpus, argv[arg], NULL, 0)) {
			cat_gpu_find(cat->gpus, cat->n_gpus, argv[arg], &gpu, &f);
			return ctl_fail(ctx, CTL_USAGE, "%s", f.text);
		}
		for (i = 0; i < cat->n_gpus; i++)
			if (cat_gpu_answers(&cat->gpus[i], argv[arg]))
				show_one(t, &cat->gpus[i]);
	}
	return CTL_DONE;
}

static int gpus_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct catalogue cat;
	struct fault f = { "" };
	int ret = CTL_DONE;

	if (catalogue_load_gpus(&cat, ctx->data_dir, ctx->config_dir, &f))
		return ctl_fail(ctx, CTL_FAILED, "%s", f.text);
	if (argc)
		ret = show_named(ctx, &cat, argc, argv);
	else
		list_all(ctx, &cat);
	catalogue_free(&cat);
	return ret;
}

const struct ctl_command cmd_gpus = {
	.name = "gpus",
	.group = CTL_SIZING,
	.args = "[GPU...]",
	.summary = "the catalogue of GPUs",
	.help = "Without a name, the command lists all products; with one, it prints all that is known of the products of\n"
		"that name. Values from a source and assumed values are kept apart. Files in gpus.d of the\n"
		"configuration add products or correct single values.",
	.options = { options, ctl_table_options },
	.flags = CTL_NO_DRY_RUN,
	.run = gpus_run,
};
