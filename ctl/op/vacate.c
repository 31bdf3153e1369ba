// SPDX-License-Identifier: GPL-2.0-only
/* DOC: this host has to stop using the GPUs of a manager, and has not much time for that. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"
#include "base/tree.h"
#include "host/pci.h"
#include "op/vacate.h"
#include "session/session.h"

#define SELF "/proc/self/exe"
#define KILL_MS 200
/* Hooks that hang must leave time for the request; most hosts have one or two. */
#define HOOK_PART 4
/* Each has two files here, and a process may have 1024. */
#define AT_ONCE 128

/* A card that is no GPU is nothing that the manager could give to others, and detach leaves it on. */
static bool is_on(const struct gf_slot *slot)
{
	if (gf_slot_is_other(slot) && !slot->operation.id)
		return false;
	return !gf_slot_has_no_power(slot);
}

/* Names of the manager's slots that have power; each is owned. */
static int find_on(struct ctl_ctx *ctx, const struct manager_conf *conf, char ***names, size_t *n)
{
	struct session session;
	size_t i;
	int ret = session_open(ctx, &session, SESSION_LOOK);

	*names = NULL;
	*n = 0;
	if (ret)
		return ret;
	for (i = 0; i < conf->n_ports; i++) {
		const struct gf_slot *slot = gf_slot_by_name(&session.fabric, conf->ports[i].slot);

		if (!slot || !is_on(slot))
			continue;
		*names = mem_push(*names, *n, sizeof(**names));
		(*names)[(*n)++] = mem_strdup(slot->name);
	}
	session_close(&session);
	return CTL_DONE;
}

static void names_free(char **names, size_t n)
{
	while (n)
		free(names[--n]);
	free(names);
}

static void programs_off(struct ctl_ctx *ctx, char *const *names, size_t n, uint64_t limit_ms)
{
	static const char *const words[] = { SELF, "detach", "--force", "--reason",
					     "the lease is over" };
	const size_t fixed = sizeof(words) / sizeof(words[0]), all = fixed + 2;
	const struct program_limits limits = { .timeout_ms = limit_ms, .grace_ms = KILL_MS };
	struct program *programs = mem_zalloc(n, sizeof(*programs));
	char **argv = mem_zalloc(n * all, sizeof(*argv));
	char *hook_limit = mem_printf("%llums", (unsigned long long)(limit_ms / HOOK_PART + 1));
	size_t i, j;

	setenv("GPUCTL_HOOK_TIMEOUT", hook_limit, true);
	free(hook_limit);
	for (i = 0; i < n; i++) {
		for (j = 0; j < fixed; j++)
			argv[i * all + j] = (char *)(uintptr_t)words[j];
		argv[i * all + fixed] = names[i];
		programs[i] = (struct program){ .argv = argv + i * all, .env = environ };
	}
	programs_run(programs, n, &limits);
	for (i = 0; i < n; i++) {
		if (!program_succeeded(&programs[i])) {
			char *why = program_complaint(&programs[i], &limits);

			ctl_warn(ctx, "gpuctl detach %s: %s", names[i], why);
			free(why);
		}
		program_free(&programs[i]);
	}
	free(programs);
	free(argv);
}

/*
 * A request for several slots is all or none, so each has its own: one that refuses, or whose
 * driver does not let go, keeps no other one on.
 */
static void vacate_off(struct ctl_ctx *ctx, char *const *names, size_t n, uint64_t limit_ms)
{
	uint64_t now = text_monotonic(), end = now + limit_ms;
	size_t done = 0, some;

	for (; done < n; done += some) {
		size_t rounds = (n - done + AT_ONCE - 1) / AT_ONCE;

		some = n - done < AT_ONCE ? n - done : AT_ONCE;
		now = text_monotonic();
		programs_off(ctx, names + done, some, now < end ? (end - now) / rounds : 0);
	}
}

int vacate(struct ctl_ctx *ctx, const struct manager_conf *conf, uint64_t limit_ms, size_t *left)
{
	char **names;
	size_t n;
	int ret = find_on(ctx, conf, &names, &n);

	*left = SIZE_MAX;
	/* Slots are asked again: what a program says of them is not enough here. */
	if (!ret && n) {
		vacate_off(ctx, names, n, limit_ms);
		names_free(names, n);
		ret = find_on(ctx, conf, &names, &n);
	}
	if (!ret)
		*left = n;
	names_free(names, n);
	return ret;
}

/*
 * Where the functions of a slot are in the paths of devices: at the address of a slot that a slot
 * driver has, else below the port, whose address is the slot's name. Owned.
 */
static char *slot_place(const struct tree *tree, const char *slot)
{
	char *at = tree_line(tree, "sys/bus/pci/slots/%s/address", slot);
	char *place = at ? mem_printf("/%s.", at) : mem_printf("/%s/", slot);

	free(at);
	return place;
}

static bool slot_has_gpu(const struct tree *tree, const struct pci_list *devices, const char *slot)
{
	char *place = slot_place(tree, slot);
	bool gpu = false;
	size_t i;

	for (i = 0; i < devices->n && !gpu; i++)
		gpu = pci_is_gpu(&devices->items[i]) && strstr(devices->items[i].path, place);
	free(place);
	return gpu;
}

bool vacate_has_gpu(const struct manager_conf *conf)
{
	struct pci_list devices = { 0 };
	struct fault fault = { "" };
	struct tree tree;
	bool gpu = false;
	size_t i;

	/* What cannot be read may be there. */
	if (tree_open(&tree, NULL, &fault))
		return true;
	pci_read(&tree, &devices);
	for (i = 0; i < conf->n_ports && !gpu; i++)
		gpu = slot_has_gpu(&tree, &devices, conf->ports[i].slot);
	pci_free(&devices);
	tree_close(&tree);
	return gpu;
}
