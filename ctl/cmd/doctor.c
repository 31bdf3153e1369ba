// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl doctor: check whether this host can hot-plug GPUs, and what has to change. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "catalogue/catalogue.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "doctor/doctor.h"

static const struct ctl_option options[] = {
	{ "gpu", 'g', "GPU", "judge slots for this card (default: the card with the largest BAR)" },
	{ "sysfs", 0, "DIR", "check a copy of a host instead of this host" },
	{ "record", 0, "DIR", "copy the files that doctor reads to a new directory, for --sysfs" },
	{ NULL },
};

static const struct out_column columns[] = {
	{ "level", "LEVEL" }, { "check", "CHECK" },  { NULL, "FINDING" }, { "reason", NULL },
	{ "remedy", NULL },   { "parameter", NULL }, { NULL, NULL },
};

static const struct out_column summary[] = {
	{ "failures", NULL }, { "warnings", NULL }, { "kernel", NULL },
	{ "gpu", NULL },      { NULL, NULL },
};

/* Of GPUs in a slot only cards count. */
static void choose_cards(struct doctor *doctor, const struct catalogue *cat)
{
	double bar, devices, largest = 0, most = 1;
	size_t i;

	for (i = 0; i < cat->n_gpus; i++) {
		const struct cat_gpu *gpu = &cat->gpus[i];

		if (gpu->form != GPU_FORM_CARD)
			continue;
		if (cat_gpu_fact(gpu, GPU_BAR1_MIB, &bar) && bar > largest) {
			largest = bar;
			doctor->gpu = gpu;
		}
		if (cat_gpu_fact(gpu, GPU_DEVICES, &devices) && devices > most) {
			most = devices;
			doctor->most_devices = gpu;
		}
	}
	doctor->gpu_bar = (uint64_t)largest << 20;
}

static int choose_gpu(struct ctl_ctx *ctx, struct doctor *doctor, const struct catalogue *cat)
{
	const char *name = ctl_opt(ctx, "gpu");
	struct fault fault = { "" };
	double bar;

	choose_cards(doctor, cat);
	if (!name)
		return CTL_DONE;
	if (cat_gpu_find(cat->gpus, cat->n_gpus, name, &doctor->gpu, &fault))
		return ctl_fail(ctx, CTL_USAGE, "--gpu: %s", fault.text);
	if (!cat_gpu_fact(doctor->gpu, GPU_BAR1_MIB, &bar))
		return ctl_fail(ctx, CTL_USAGE,
				"--gpu: the catalogue does not know the BAR of %s: add bar1_mib to it",
				doctor->gpu->name);
	doctor->gpu_bar = (uint64_t)bar << 20;
	return CTL_DONE;
}

static void doctor_render(struct ctl_ctx *ctx, const struct doctor *doctor)
{
	struct out_table *t = out_table(ctx->out, "findings", columns, OUT_LINES);
	size_t failures = doctor_count(doctor, DOCTOR_FAIL);
	size_t warnings = doctor_count(doctor, DOCTOR_WARN), i;
	struct out_table *sum;

	for (i = 0; i < doctor->n_findings; i++) {
		const struct doctor_finding *f = &doctor->findings[i];

		out_row(t);
		out_str(t, "level", doctor_level_name(f->level));
		out_str(t, "check", f->check);
		out_strf(t, "FINDING", "%s%s%s", f->reason, f->remedy ? ": " : "",
			 f->remedy ? f->remedy : "");
		out_str(t, "reason", f->reason);
		out_str(t, "remedy", f->remedy);
		out_str(t, "parameter", f->parameter);
	}
	if (!out_is_json(ctx->out)) {
		out_line(ctx->out, "%zu failure%s, %zu warning%s", failures,
			 failures == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
		return;
	}
	sum = out_table(ctx->out, NULL, summary, OUT_SINGLE);
	out_row(sum);
	out_uint(sum, "failures", failures);
	out_uint(sum, "warnings", warnings);
	out_str(sum, "kernel", doctor->release);
	out_str(sum, "gpu", doctor->gpu ? doctor->gpu->name : NULL);
}

static int examine(struct ctl_ctx *ctx)
{
	struct fault fault = { "" };
	struct catalogue cat = { 0 };
	struct doctor doctor;
	int ret = CTL_DONE;

	if (doctor_open(&doctor, ctl_opt(ctx, "sysfs"), ctx->config_dir, &fault)) {
		ret = ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	} else {
		if (catalogue_load_gpus(&cat, ctx->data_dir, ctx->config_dir, &fault))
			doctor_find(&doctor, DOCTOR_FAIL, "catalogue",
				    "%s\ncorrect the line; see man gpuctl-catalogue", fault.text);
		ret = choose_gpu(ctx, &doctor, &cat);
		if (!ret) {
			doctor_examine(&doctor);
			doctor_render(ctx, &doctor);
			ret = doctor_count(&doctor, DOCTOR_FAIL) ? CTL_FAILED : CTL_DONE;
		}
		catalogue_free(&cat);
	}
	doctor_close(&doctor);
	return ret;
}

static int record(struct ctl_ctx *ctx, const char *dir)
{
	struct fault fault = { "" };
	size_t files;

	if (doctor_record(NULL, dir, ctx->config_dir, &files, &fault))
		return ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	out_note(ctx->out, "recorded", "recorded ", "%zu files in %s: gpuctl doctor --sysfs %s",
		 files, dir, dir);
	return CTL_DONE;
}

static int doctor_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const char *dir = ctl_opt(ctx, "record");
	int ret = ctl_operands(ctx, argc, 0, 0);

	(void)argv;
	if (ret)
		return ret;
	if (dir && (ctl_opt(ctx, "sysfs") || ctl_opt(ctx, "gpu")))
		return ctl_fail(ctx, CTL_USAGE,
				"--record only copies files: leave the other options out");
	return dir ? record(ctx, dir) : examine(ctx);
}

const struct ctl_command cmd_doctor = {
	.name = "doctor",
	.group = CTL_HOST,
	.args = "",
	.summary = "check whether this host can hot-plug GPUs, and what has to change",
	.help = "Prints one line for each finding: ok, note, warn or FAIL, the check, the result, and what to do about\n"
		"it. The exit code is 1 if there is a FAIL. The code that judges an attach judges the slots. If a kernel\n"
		"parameter would help, doctor computes it for this host; if none does, doctor says so. Run it as root, soon\n"
		"after boot: only the kernel's log says who has set the windows of bridges.\n"
		"\n"
		"With --record DIR nothing is judged: gpuctl copies the files that the checks would read, for gpuctl doctor\n"
		"--sysfs DIR on another host. The copy has the kernel's log and command line, configuration spaces of PCI\n"
		"devices with their serial numbers, and no files of users.",
	.options = { options },
	.flags = CTL_NO_DRY_RUN,
	.run = doctor_run,
};
