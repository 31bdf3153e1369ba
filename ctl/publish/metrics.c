// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: metrics
 *
 * Prometheus' text format 0.0.4. Samples of a metric stand together below
 * its HELP and TYPE, units are seconds and bytes, and nothing has a time
 * stamp: the node exporter refuses them in files. States are there with
 * 0 as well, so that a rule can tell zero from absent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "module/netlink_gen.h"
#include "publish/capacity.h"
#include "publish/metrics.h"
#include "session/render.h"

#define US_PER_S 1000000ull

static void family(struct text *t, const char *name, const char *type, const char *help)
{
	text_add(t, "# HELP gpufabric_%s %s\n# TYPE gpufabric_%s %s\n", name, help, name, type);
}

/* A label's value: UTF-8 with three characters escaped. The caller frees. */
static char *quote(const char *value)
{
	char *copy = mem_strdup(value ? value : ""), *s;
	struct text t = { 0 };

	text_utf8(copy);
	text_add(&t, "\"");
	for (s = copy; *s; s++) {
		if (*s == '\n')
			text_add(&t, "\\n");
		else
			text_add(&t, "%s%c", *s == '"' || *s == '\\' ? "\\" : "", *s);
	}
	text_add(&t, "\"");
	free(copy);
	return t.text;
}

static void sample(struct text *t, const char *name, const char *label, const char *value,
		   uint64_t number)
{
	char *quoted = quote(value);

	text_add(t, "gpufabric_%s{%s=%s} %llu\n", name, label, quoted, (unsigned long long)number);
	free(quoted);
}

static void print_info(struct text *t, const struct gf_fabric *fabric,
		       const struct gf_status *status)
{
	family(t, "info", "gauge", "Version of the module.");
	sample(t, "info", "version", status->version, 1);
	family(t, "switches", "gauge", "Switches of the fabric.");
	text_add(t, "gpufabric_switches %zu\n", fabric->n_switches);
	family(t, "operations", "gauge", "Operations that are under way.");
	text_add(t, "gpufabric_operations %u\n", status->operations);
}

static void print_states(struct text *t, const struct gf_fabric *fabric)
{
	const char *name;
	unsigned int state;
	size_t i, n;

	family(t, "slots", "gauge", "Slots by state.");
	for (state = 0; (name = gf_state_name(state)); state++) {
		for (n = 0, i = 0; i < fabric->n_slots; i++)
			n += fabric->slots[i].state == state;
		sample(t, "slots", "state", name, n);
	}
	family(t, "compositions", "gauge", "Compositions by state.");
	for (state = 0; (name = gfnl_composition_state_name(state)); state++) {
		for (n = 0, i = 0; i < fabric->n_compositions; i++)
			n += fabric->compositions[i].state == state;
		sample(t, "compositions", "state", name, n);
	}
}

static void print_capacity(struct text *t, const struct gf_fabric *fabric,
			   const struct knowledge *knowledge)
{
	struct capacity capacity;
	size_t i;

	capacity_of(fabric, knowledge, &capacity);
	family(t, "gpus_ready", "gauge", "GPUs in state ready, by kind.");
	for (i = 0; i < capacity.n; i++)
		sample(t, "gpus_ready", "kind", capacity.kinds[i].name, capacity.kinds[i].ready);
	family(t, "gpus_held", "gauge", "GPUs in state ready that a composition holds, by kind.");
	for (i = 0; i < capacity.n; i++)
		sample(t, "gpus_held", "kind", capacity.kinds[i].name, capacity.kinds[i].held);
	family(t, "gpu_memory_bytes", "gauge", "Usable memory of one GPU by kind.");
	for (i = 0; i < capacity.n; i++)
		if (capacity.kinds[i].memory)
			sample(t, "gpu_memory_bytes", "kind", capacity.kinds[i].name,
			       capacity.kinds[i].memory);
	capacity_free(&capacity);
}

static uint64_t slot_attaches(const struct gf_slot *slot)
{
	return slot->attaches;
}

static uint64_t slot_detaches(const struct gf_slot *slot)
{
	return slot->detaches;
}

static uint64_t slot_faults(const struct gf_slot *slot)
{
	return slot->faults;
}

static uint64_t slot_flaps(const struct gf_slot *slot)
{
	return slot->flaps;
}

static uint64_t slot_degradations(const struct gf_slot *slot)
{
	return slot->degradations;
}

static uint64_t slot_ready(const struct gf_slot *slot)
{
	return slot->state == GF_STATE_READY;
}

static uint64_t slot_degraded(const struct gf_slot *slot)
{
	return !!(slot->flags & GPUFABRIC_SLOT_FLAG_LINK_DEGRADED);
}

static uint64_t slot_quarantined(const struct gf_slot *slot)
{
	return !!(slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED);
}

static const struct {
	const char *name, *type, *help;
	uint64_t (*value)(const struct gf_slot *slot);
} slot_families[] = {
	{ "slot_ready", "gauge", "1 while the slot is in state ready.", slot_ready },
	{ "slot_link_degraded", "gauge", "1 while the link is below what both ends can do.",
	  slot_degraded },
	{ "slot_quarantined", "gauge", "1 while the slot is out of the pool after faults.",
	  slot_quarantined },
	{ "slot_attaches_total", "counter", "GPUs attached.", slot_attaches },
	{ "slot_detaches_total", "counter", "GPUs detached.", slot_detaches },
	{ "slot_faults_total", "counter", "Faults.", slot_faults },
	{ "slot_flaps_total", "counter", "Times that the link went down and came back.",
	  slot_flaps },
	{ "slot_link_degradations_total", "counter", "Times that the link trained too low.",
	  slot_degradations },
};

static void print_slots(struct text *t, const struct gf_fabric *fabric)
{
	size_t i, f;

	for (f = 0; f < sizeof(slot_families) / sizeof(slot_families[0]); f++) {
		family(t, slot_families[f].name, slot_families[f].type, slot_families[f].help);
		for (i = 0; i < fabric->n_slots; i++)
			sample(t, slot_families[f].name, "slot", fabric->slots[i].name,
			       slot_families[f].value(&fabric->slots[i]));
	}
}

static void print_histogram(struct text *t, const struct gf_stats *stats)
{
	const char *phase = gfnl_phase_name(stats->phase), *kind = render_kind(stats->kind);
	char *labels = mem_printf("operation=\"%s\",phase=\"%s\"", kind, phase ? phase : "unknown");
	const char *name = "gpufabric_operation_duration_seconds";
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < stats->n_buckets; i++) {
		sum += stats->buckets[i].count;
		if (stats->buckets[i].has.below)
			text_add(t, "%s_bucket{%s,le=\"%.12g\"} %llu\n", name, labels,
				 (double)stats->buckets[i].below / US_PER_S,
				 (unsigned long long)sum);
	}
	/* The last one and the count have to be equal, whatever came in between. */
	text_add(t, "%s_bucket{%s,le=\"+Inf\"} %llu\n", name, labels, (unsigned long long)sum);
	text_add(t, "%s_sum{%s} %llu.%06llu\n", name, labels,
		 (unsigned long long)(stats->microseconds / US_PER_S),
		 (unsigned long long)(stats->microseconds % US_PER_S));
	text_add(t, "%s_count{%s} %llu\n", name, labels, (unsigned long long)sum);
	free(labels);
}

/* Attach and detach are there from the start: a rate needs the zero that it rises from. */
static bool metrics_wanted(const struct gf_stats *stats)
{
	return stats->count || (stats->phase == GPUFABRIC_PHASE_TOTAL &&
				(stats->kind == GPUFABRIC_OPERATION_KIND_ATTACH ||
				 stats->kind == GPUFABRIC_OPERATION_KIND_DETACH));
}

char *metrics_print(const struct gf_fabric *fabric, const struct gf_histograms *histograms,
		    const struct gf_status *status, const struct knowledge *knowledge)
{
	struct text t = { 0 };
	size_t i;

	print_info(&t, fabric, status);
	print_states(&t, fabric);
	print_capacity(&t, fabric, knowledge);
	print_slots(&t, fabric);
	family(&t, "operation_duration_seconds", "histogram",
	       "How long operations and their phases took.");
	for (i = 0; i < histograms->n; i++)
		if (metrics_wanted(&histograms->items[i]))
			print_histogram(&t, &histograms->items[i]);
	return t.text;
}
