// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/module/annotation.c ctl/session/render.c ctl/host/drives.c ctl/base/tree.c ctl/module/failure.c ctl/op/progress.c ctl/cli/out.c ctl/cli/out_print.c ctl/base/text.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/session/identity.c ctl/module/netlink_gen.c ctl/cli/context.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
// packages: json-c libnl-3.0
/*
 * What people see of slots: warnings that say what to do, and progress that is
 * drawn over itself on a terminal. And how events bring a snapshot up to date.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "linux/gpufabric.h"
#include "op/progress.h"
#include "session/render.h"
#include "tap.h"

static struct verdict verdict;

static char *warnings_of(const struct gf_slot *slot)
{
	struct identity identity = { .label = "-" };
	struct out *out = out_new(NULL);
	char *text;

	render_slot_warnings(out, slot, &identity, &verdict);
	text = out_render_text(out);
	out_free(out);
	return text;
}

static void warns(const struct gf_slot *slot, const char *want, const char *name)
{
	char *text = warnings_of(slot);

	is_str(text, want, name);
	free(text);
}

static void test_warnings(void)
{
	struct gf_slot slot = { .name = "3-2", .state = GF_STATE_READY };

	warns(&slot, "", "nothing to warn of");
	slot.state = GF_STATE_FAULT;
	slot.condition.cause = GPUFABRIC_CAUSE_LINK;
	slot.failure.cause = GPUFABRIC_CAUSE_LINK;
	warns(&slot, "! 3-2: fault (link): the link of the GPU is down (gpuctl clear 3-2)\n", "a fault");
	slot.flags = GPUFABRIC_SLOT_FLAG_QUARANTINED;
	slot.faults = 3;
	warns(&slot, "! 3-2: fault (link): the link of the GPU is down (gpuctl clear 3-2)\n"
	      "! 3-2: in quarantine after 3 faults (gpuctl clear 3-2)\n", "the third one");
	slot = (struct gf_slot){ .name = "3-2", .state = GF_STATE_LOST,
				 .condition.cause = GPUFABRIC_CAUSE_SURPRISE };
	warns(&slot, "! 3-2: lost (surprise) (gpuctl clear 3-2)\n", "lost");
	slot.state = GF_STATE_STUCK;
	slot.last_operation.kind = GPUFABRIC_OPERATION_KIND_DETACH;
	slot.failure = (struct gf_failure){ .cause = GPUFABRIC_CAUSE_TIMEOUT,
					    .activity = GPUFABRIC_ACTIVITY_DETACHING };
	warns(&slot, "! 3-2: stuck in detach: the kernel has not returned from detach: wait or reboot (gpuctl show 3-2)\n",
	      "stuck");
	slot.failure.driver = (char *)"nvidia";
	slot.failure.address = (char *)"0000:41:00.0";
	warns(&slot, "! 3-2: stuck in detach: driver nvidia does not let go of 0000:41:00.0 (gpuctl show 3-2)\n",
	      "stuck in a driver");
}

static void test_room(void)
{
	struct gf_slot slot = { .name = "3-2", .state = GF_STATE_OFF };
	struct gf_slot slow = { .name = "3-3", .state = GF_STATE_READY,
				.flags = GPUFABRIC_SLOT_FLAG_LINK_DEGRADED,
				.link = { .speed = 16000, .width = 8, .port_speed = 32000, .port_width = 16,
					  .device_speed = 16000, .device_width = 16 } };

	verdict = (struct verdict){ .now = GF_FIT_CANNOT, .need = 128ull << 30, .free = 64ull << 30,
				    .bridge = "0000:40:01.0" };
	warns(&slot, "! 3-2: needs 128 GiB of address space, 64 GiB is available behind 0000:40:01.0 (gpuctl show)\n",
	      "no room behind a bridge");
	verdict = (struct verdict){ .now = GF_FIT_FITS };
	warns(&slot, "", "where there is room nothing is said");
	warns(&slow, "! 3-3: link trained at 16 GT/s x8, it can do 16 GT/s x16 (gpuctl show 3-3)\n",
	      "a link below what both ends can do");
}

/* What is drawn, with @n slots of which every second is ready. */
static char *drawn(size_t n, bool twice, bool tty)
{
	struct ctl_ctx ctx = { .tty = tty };
	struct gf_fabric fabric = { .slots = mem_zalloc(n, sizeof(*fabric.slots)), .n_slots = n };
	struct wait wait = { .slots = mem_zalloc(n, sizeof(char *)), .n_slots = n,
			     .operation = { .id = 7, .kind = GPUFABRIC_OPERATION_KIND_ATTACH } };
	struct progress progress;
	int saved = dup(STDERR_FILENO);
	FILE *file = tmpfile();
	char *text = NULL;
	size_t size = 0, i;

	for (i = 0; i < n; i++) {
		fabric.slots[i].name = mem_printf("3-%zu", i);
		wait.slots[i] = mem_strdup(fabric.slots[i].name);
		fabric.slots[i].state = i % 2 ? GF_STATE_READY : GF_STATE_ATTACHING;
		if (i % 2) {
			struct gf_operation *last = &fabric.slots[i].last_operation;

			fabric.slots[i].has.last_operation = true;
			last->id = 7;
			last->durations = mem_zalloc(2, sizeof(*last->durations));
			last->n_durations = 2;
			last->durations[0].phase = GPUFABRIC_PHASE_LINK;
			last->durations[0].microseconds = 120000;
			last->durations[1].phase = GPUFABRIC_PHASE_TOTAL;
			last->durations[1].microseconds = 310000;
		}
	}
	dup2(fileno(file), STDERR_FILENO);
	progress_start(&progress, &ctx);
	progress_draw(&progress, &fabric, &wait, 1);
	if (twice)
		progress_draw(&progress, &fabric, &wait, 1);
	progress_end(&progress);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = mem_strdup("");
	}
	fclose(file);
	for (i = 0; i < n; i++)
		free(wait.slots[i]);
	free(wait.slots);
	gf_fabric_free(&fabric);
	return text;
}

static void draws(char *text, const char *want, const char *name)
{
	is_str(text, want, name);
	free(text);
}

static void test_progress(void)
{
	draws(drawn(3, false, false), "", "nothing but on a terminal");
	draws(drawn(2, false, true),
	      "\033[K  3-0          ####------ attaching\n"
	      "\033[K  3-1          ########## ready     0.31 s   link 0.12\n"
	      "\033[2A\033[J", "a line a slot, taken away at the end");
	draws(drawn(1, true, true),
	      "\033[K  3-0          ####------ attaching\n\033[1A"
	      "\033[K  3-0          ####------ attaching\n\033[1A\033[J", "drawn over itself");
	draws(drawn(30, false, true), "\033[K  15 attaching 15 ready\n\033[1A\033[J",
	      "more than a screenful is counted");
}

/* How far removals are drawn. */
static void test_removal(void)
{
	static const struct {
		unsigned int state;
		const char *bar;
	} rows[] = {
		{ GF_STATE_READY, "----------" }, { GF_STATE_DRAINING, "##--------" },
		{ GF_STATE_DETACHING, "######----" }, { GF_STATE_OFF, "##########" },
		{ GF_STATE_ATTACHED, "#######---" }, { GF_STATE_FAULT, "----------" },
	};
	struct ctl_ctx ctx = { .tty = true };
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *names[] = { (char *)"a", (char *)"gone" };
		struct gf_slot slot = { .name = (char *)"a", .state = rows[i].state };
		struct gf_fabric fabric = { .slots = &slot, .n_slots = 1 };
		struct wait wait = { .slots = names, .n_slots = 2,
				     .operation = { .kind = GPUFABRIC_OPERATION_KIND_RELEASE } };
		struct progress progress;
		int saved = dup(STDERR_FILENO);
		FILE *file = tmpfile();
		char line[128] = "";

		dup2(fileno(file), STDERR_FILENO);
		progress_start(&progress, &ctx);
		progress_draw(&progress, &fabric, &wait, 1);
		fflush(stderr);
		dup2(saved, STDERR_FILENO);
		close(saved);
		rewind(file);
		ok(fgets(line, sizeof(line), file) && strstr(line, rows[i].bar), "%s: %s",
		   render_state(rows[i].state), rows[i].bar);
		fclose(file);
	}
}

static struct gf_message event_of(unsigned int kind, uint64_t sequence, uint32_t id)
{
	struct gf_message event = { .kind = kind, .sequence = sequence };

	switch (kind) {
	case GPUFABRIC_EVENT_KIND_SLOT_ADDED:
	case GPUFABRIC_EVENT_KIND_SLOT_CHANGED:
	case GPUFABRIC_EVENT_KIND_SLOT_REMOVED:
		event.has.slot = true;
		event.slot = (struct gf_slot){ .id = id, .sequence = sequence };
		event.slot.name = mem_printf("slot%u-%u", id, (unsigned int)sequence);
		break;
	case GPUFABRIC_EVENT_KIND_SWITCH_ADDED:
	case GPUFABRIC_EVENT_KIND_SWITCH_REMOVED:
		event.has.sw = true;
		event.sw = (struct gf_switch){ .id = id, .sequence = sequence };
		event.sw.address = mem_printf("switch%u-%u", id, (unsigned int)sequence);
		break;
	default:
		event.has.composition = true;
		event.composition = (struct gf_composition){ .id = id, .sequence = sequence };
		event.composition.name = mem_printf("c%u-%u", id, (unsigned int)sequence);
	}
	return event;
}

static bool apply(struct gf_fabric *fabric, unsigned int kind, uint64_t sequence, uint32_t id)
{
	struct gf_message event = event_of(kind, sequence, id);
	bool news = gf_fabric_apply(fabric, &event);

	gf_message_free(&event);
	return news;
}

static void test_apply(void)
{
	static const struct {
		unsigned int added, changed, removed;
		const char *name;
	} rows[] = {
		{ GPUFABRIC_EVENT_KIND_SLOT_ADDED, GPUFABRIC_EVENT_KIND_SLOT_CHANGED,
		  GPUFABRIC_EVENT_KIND_SLOT_REMOVED, "slot" },
		{ GPUFABRIC_EVENT_KIND_SWITCH_ADDED, GPUFABRIC_EVENT_KIND_SWITCH_ADDED,
		  GPUFABRIC_EVENT_KIND_SWITCH_REMOVED, "switch" },
		{ GPUFABRIC_EVENT_KIND_COMPOSITION_ADDED, GPUFABRIC_EVENT_KIND_COMPOSITION_CHANGED,
		  GPUFABRIC_EVENT_KIND_COMPOSITION_REMOVED, "composition" },
	};
	struct gf_fabric fabric = { 0 };
	size_t i;

	for (i = 0; i < 3; i++) {
		ok(apply(&fabric, rows[i].added, 10, 1), "%s: new", rows[i].name);
		ok(apply(&fabric, rows[i].added, 11, 2), "%s: another", rows[i].name);
		ok(!apply(&fabric, rows[i].changed, 10, 1), "%s: what is known already is no news", rows[i].name);
		ok(apply(&fabric, rows[i].changed, 12, 1), "%s: changed", rows[i].name);
		ok(!apply(&fabric, rows[i].removed, 13, 9), "%s: removed that was never there", rows[i].name);
		ok(!apply(&fabric, rows[i].removed, 12, 1), "%s: an old removal", rows[i].name);
		ok(apply(&fabric, rows[i].removed, 14, 2), "%s: removed", rows[i].name);
	}
	is_int((intmax_t)(fabric.n_slots + fabric.n_switches + fabric.n_compositions), 3, "one of each is left");
	is_str(fabric.slots[0].name, "slot1-12", "the slot as it was last told");
	ok(gf_composition_by_name(&fabric, "c1-12") && !gf_composition_by_name(&fabric, "c2-11"), "by name");
	ok(gf_switch_by_id(&fabric, 1) && !gf_switch_by_id(&fabric, 2), "by id");
	ok(apply(&fabric, GPUFABRIC_EVENT_KIND_OPERATION_DONE + 50, 20, 1) && gf_composition_by_name(&fabric, "c1-20"),
	   "an event of a kind that is newer than this tool says what its object is as well");
	gf_fabric_free(&fabric);
}

static void test_words(void)
{
	char buf[32];

	is_str(gf_link_text(buf, 2500, 1), "2.5 GT/s x1", "a slow link");
	is_str(gf_link_text(buf, 0, 16), "-", "a link that is down");
	ok(render_state(99) && render_cause(99) && render_kind(99) && render_composition_state(99),
	   "numbers that are newer than this tool have words too");
}

int main(void)
{
	test_warnings();
	test_room();
	test_progress();
	test_removal();
	test_apply();
	test_words();
	return tap_done();
}
