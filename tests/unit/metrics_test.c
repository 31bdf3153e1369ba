// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/module/annotation.c ctl/publish/metrics.c ctl/publish/features.c ctl/publish/capacity.c ctl/session/render.c ctl/host/drives.c ctl/base/tree.c ctl/module/failure.c ctl/cli/out.c ctl/cli/out_print.c ctl/base/text.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/session/identity.c ctl/module/netlink_gen.c ctl/cli/context.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
// packages: json-c libnl-3.0
/*
 * What Prometheus and node feature discovery are told: a small fabric, the
 * lines that have to be there, and a reader that is as strict as theirs. With
 * METRICS_FILE in the environment the text is left there, for promtool.
 */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>

#include "base/text.h"
#include "publish/features.h"
#include "publish/metrics.h"
#include "tap.h"

#define HISTOGRAM "gpufabric_operation_duration_seconds"

static struct gf_function nvidia = { .address = (char *)"0000:41:00.0", .vendor = 0x10de, .device = 0x2331,
				     .class = 0x030200, .driver = (char *)"nvidia" };
static struct gf_function bare = { .address = (char *)"0000:42:00.0", .vendor = 0x10de, .device = 0x2331,
				   .class = 0x030200 };
static struct gf_slot slots[] = {
	{ .name = (char *)"3-1", .state = GF_STATE_READY, .functions = &nvidia, .n_functions = 1,
	  .identity = GPUFABRIC_IDENTITY_SOURCE_LIVE, .vendor = 0x10de, .device = 0x2331,
	  .composition = (char *)"train70b", .attaches = 7, .detaches = 6, .faults = 2, .flaps = 3,
	  .degradations = 4, .flags = GPUFABRIC_SLOT_FLAG_LINK_DEGRADED },
	{ .name = (char *)"3-2", .state = GF_STATE_READY, .functions = &bare, .n_functions = 1,
	  .identity = GPUFABRIC_IDENTITY_SOURCE_LIVE, .vendor = 0x10de, .device = 0x2331 },
	{ .name = (char *)"3-3", .state = GF_STATE_DRAINING, .functions = &nvidia, .n_functions = 1,
	  .identity = GPUFABRIC_IDENTITY_SOURCE_LIVE, .vendor = 0x10de, .device = 0x2331 },
	{ .name = (char *)"odd\"\\\n", .state = GF_STATE_OFF },
	{ .name = (char *)"4-1", .state = GF_STATE_READY, .functions = &bare, .n_functions = 1,
	  .identity = GPUFABRIC_IDENTITY_SOURCE_LIVE, .vendor = 0x1234, .device = 0x11 },
};
static struct gf_switch switches[1];
static struct gf_composition compositions[] = {
	{ .name = (char *)"train70b", .state = GPUFABRIC_COMPOSITION_STATE_ACTIVE },
};
static struct gf_fabric fabric = { slots, 5, switches, 1, compositions, 1 };
static struct gf_bucket buckets[] = {
	{ .below = 1000, .has.below = true, .count = 2 },
	{ .below = 1048576, .has.below = true, .count = 3 },
	{ .count = 1 },
};
static struct gf_stats stats[] = {
	{ .kind = GPUFABRIC_OPERATION_KIND_ATTACH, .phase = GPUFABRIC_PHASE_LINK, .count = 6,
	  .microseconds = 2500001, .buckets = buckets, .n_buckets = 3 },
	{ .kind = GPUFABRIC_OPERATION_KIND_ATTACH, .phase = GPUFABRIC_PHASE_TOTAL },
	{ .kind = GPUFABRIC_OPERATION_KIND_ATTACH, .phase = GPUFABRIC_PHASE_RESOURCES },
};
static const struct gf_histograms histograms = { stats, 3 };
static const struct gf_status status = { .version = (char *)"0.1.0", .operations = 1 };
static struct cat_gpu gpus[1];
static struct gpu_pci_id h100 = { .vendor = 0x10de, .device = 0x2331 };
static struct knowledge knowledge;

static bool has_line(const char *text, const char *line)
{
	size_t len = strlen(line);
	const char *at = text;

	while ((at = strstr(at, line))) {
		if ((at == text || at[-1] == '\n') && at[len] == '\n')
			return true;
		at++;
	}
	return false;
}

static void has(const char *text, const char *line)
{
	ok(has_line(text, line), "%s", line);
}

/**
 * struct reader - where in the text a strict reader is
 * @family: name of the metric that TYPE told last
 * @type: its type
 * @seen: names of metrics and series that were there, one a line
 * @below: count of the bucket before, in the series @series
 * @problem: the first line that is not right
 */
struct reader {
	char family[128], type[16];
	struct text seen;
	unsigned long long below;
	char series[256];
	char *problem;
	size_t samples;
};

static bool once(struct reader *r, const char *what, const char *name)
{
	char *line = mem_printf("%s %s", what, name);
	bool first = !r->seen.text || !has_line(r->seen.text, line);

	text_add(&r->seen, "%s\n", line);
	free(line);
	return first;
}

static bool matches(const char *line, const char *pattern)
{
	regex_t regex;
	bool good;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
		return false;
	good = !regexec(&regex, line, 0, NULL, 0);
	regfree(&regex);
	return good;
}

#define VALUE "\"([^\"\\\\]|\\\\[\\\\n\"])*\""
#define LABEL "[a-z_]+=" VALUE
#define SAMPLE "^[a-z_]+(\\{" LABEL "(," LABEL ")*\\})? [0-9]+(\\.[0-9]+)?$"

/* Buckets rise, and the count is what the last one says. */
static bool histogram_grows(struct reader *r, const char *line)
{
	const char *le = strstr(line, ",le=\""), *at = strchr(line, '{');
	unsigned long long value = strtoull(strrchr(line, ' ') + 1, NULL, 10);
	char series[256];

	if (!strncmp(line, HISTOGRAM "_sum", strlen(HISTOGRAM "_sum")))
		return true;
	if (!le)
		return value == r->below;
	snprintf(series, sizeof(series), "%.*s", (int)(le - at), at);
	if (strcmp(series, r->series))
		r->below = 0;
	snprintf(r->series, sizeof(r->series), "%s", series);
	if (value < r->below)
		return false;
	r->below = value;
	return true;
}

static bool sample_good(struct reader *r, const char *line)
{
	size_t len = strlen(r->family);
	const char *rest = line + len;
	char *series;
	bool good;

	r->samples++;
	if (!matches(line, SAMPLE) || strncmp(line, r->family, len))
		return false;
	if (!strcmp(r->type, "histogram")) {
		if (strncmp(rest, "_bucket{", 8) && strncmp(rest, "_sum{", 5) && strncmp(rest, "_count{", 7))
			return false;
		if (!histogram_grows(r, line))
			return false;
	} else if (*rest != '{' && *rest != ' ') {
		return false;
	}
	series = mem_printf("%.*s", (int)(strrchr(line, ' ') - line), line);
	good = once(r, "series", series);
	free(series);
	return good;
}

static bool line_good(struct reader *r, const char *line)
{
	char name[128];

	if (sscanf(line, "# HELP %127s", name) == 1)
		return strlen(line) > strlen(name) + 8 && once(r, "help", name);
	if (sscanf(line, "# TYPE %127s %15s", r->family, r->type) == 2)
		return once(r, "type", r->family) && matches(r->type, "^(gauge|counter|histogram)$") &&
		       !strcmp(r->type, "counter") == matches(r->family, "_total$");
	return sample_good(r, line);
}

static void test_format(const char *text)
{
	char *copy = mem_strdup(text), *line, *rest = copy;
	struct reader r = { .problem = NULL };

	while ((line = strsep(&rest, "\n")) && rest)
		if (!r.problem && !line_good(&r, line))
			r.problem = mem_strdup(line);
	is_str(r.problem, NULL, "every line is what a strict reader takes");
	is_str(line, "", "the last line is ended");
	ok(r.samples > 50, "there were samples: %zu", r.samples);
	tap_counted("metrics.samples", r.samples);
	free(r.problem);
	free(r.seen.text);
	free(copy);
}

static void test_metrics(void)
{
	char *text = metrics_print(&fabric, &histograms, &status, &knowledge);
	const char *path = getenv("METRICS_FILE");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (f) {
		fputs(text, f);
		fclose(f);
	}
	test_format(text);
	has(text, "gpufabric_info{version=\"0.1.0\"} 1");
	has(text, "gpufabric_switches 1");
	has(text, "gpufabric_operations 1");
	has(text, "gpufabric_slots{state=\"ready\"} 3");
	has(text, "gpufabric_slots{state=\"draining\"} 1");
	has(text, "gpufabric_slots{state=\"stuck\"} 0");
	has(text, "gpufabric_compositions{state=\"active\"} 1");
	has(text, "gpufabric_gpus_ready{kind=\"h100-pcie-80\"} 2");
	has(text, "gpufabric_gpus_held{kind=\"h100-pcie-80\"} 1");
	has(text, "gpufabric_gpus_ready{kind=\"1234-0011\"} 1");
	has(text, "gpufabric_slot_ready{slot=\"3-3\"} 0");
	has(text, "gpufabric_slot_link_degraded{slot=\"3-1\"} 1");
	has(text, "gpufabric_slot_attaches_total{slot=\"3-1\"} 7");
	has(text, "gpufabric_slot_detaches_total{slot=\"3-1\"} 6");
	has(text, "gpufabric_slot_faults_total{slot=\"3-1\"} 2");
	has(text, "gpufabric_slot_flaps_total{slot=\"3-1\"} 3");
	has(text, "gpufabric_slot_link_degradations_total{slot=\"3-1\"} 4");
	has(text, "gpufabric_slot_faults_total{slot=\"odd\\\"\\\\\\n\"} 0");
	has(text, HISTOGRAM "_bucket{operation=\"attach\",phase=\"link\",le=\"0.001\"} 2");
	has(text, HISTOGRAM "_bucket{operation=\"attach\",phase=\"link\",le=\"1.048576\"} 5");
	has(text, HISTOGRAM "_bucket{operation=\"attach\",phase=\"link\",le=\"+Inf\"} 6");
	has(text, HISTOGRAM "_sum{operation=\"attach\",phase=\"link\"} 2.500001");
	has(text, HISTOGRAM "_count{operation=\"attach\",phase=\"link\"} 6");
	has(text, HISTOGRAM "_count{operation=\"attach\",phase=\"total\"} 0");
	ok(!strstr(text, "phase=\"power\""), "a phase that never took place is not there");
	free(text);
}

static void test_features(void)
{
	struct manager_conf conf[] = { { .name = (char *)"Rack", .n_ports = 4 },
				       { .name = (char *)"rack-b", .n_ports = 2 } };
	struct managers managers = { .conf = conf, .n = 2 };
	char *text = features_print(&fabric, &knowledge, &managers);

	has(text, "gpufabric.io/slots=5");
	has(text, "gpufabric.io/gpus.ready=3");
	has(text, "gpufabric.io/gpus.free=2");
	has(text, "gpufabric.io/h100-pcie-80.ready=2");
	has(text, "gpufabric.io/h100-pcie-80.free=1");
	has(text, "gpufabric.io/h100-pcie-80.driver=mixed");
	has(text, "gpufabric.io/1234-0011.ready=1");
	ok(!strstr(text, "1234-0011.driver"), "no driver, no line");
	/* As dra_publish.py has it of the driver. */
	has(text, "gpufabric.io/fabric.rack-0ce99e92=4");
	has(text, "gpufabric.io/fabric.rack-b=2");
	free(text);

	slots[0].state = GF_STATE_DRAINING;
	nvidia.driver = (char *)"not a label";
	text = features_print(&fabric, &knowledge, &managers);
	has(text, "gpufabric.io/h100-pcie-80.ready=1");
	has(text, "gpufabric.io/gpus.ready=2");
	free(text);
	slots[0].state = GF_STATE_READY;
	slots[1].state = GF_STATE_OFF;
	text = features_print(&fabric, &knowledge, &managers);
	ok(!strstr(text, "not a label"), "what is no label is not written");
	free(text);
}

int main(void)
{
	gpus[0] = (struct cat_gpu){ .id = (char *)"h100-pcie-80", .brief = (char *)"H100", .name = (char *)"H100",
				    .pci = &h100, .n_pci = 1 };
	knowledge.catalogue.gpus = gpus;
	knowledge.catalogue.n_gpus = 1;
	test_metrics();
	test_features();
	return tap_done();
}
