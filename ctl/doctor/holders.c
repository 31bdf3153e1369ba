// SPDX-License-Identifier: GPL-2.0-only
/* What would make a detach busy although no process shows as a holder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "host/kernel_holders.h"

#define DAEMON "nvidia-persiste"

/* Its command is cut at 15 letters, as the kernel does. */
static char *daemon_pid(const struct doctor *doctor)
{
	size_t n, i;
	char **names = tree_names(&doctor->tree, &n, "proc"), *pid = NULL;

	for (i = 0; i < n && !pid; i++) {
		char *comm;

		if (names[i][0] < '1' || names[i][0] > '9')
			continue;
		comm = tree_line(&doctor->tree, "proc/%s/comm", names[i]);
		if (comm && !strcmp(comm, DAEMON))
			pid = mem_strdup(names[i]);
		free(comm);
	}
	tree_free_names(names, n);
	return pid;
}

static size_t count_driver(const struct doctor *doctor, const char *driver)
{
	size_t i, n = 0;

	for (i = 0; i < doctor->n_slots; i++) {
		size_t gpu = doctor->slots[i].gpu;

		n += gpu != PCI_NOBODY && doctor->pci.items[gpu].driver &&
		     !strcmp(doctor->pci.items[gpu].driver, driver);
	}
	return n;
}

static void check_daemon(struct doctor *doctor)
{
	size_t n = count_driver(doctor, "nvidia");
	char *pid = n ? daemon_pid(doctor) : NULL;

	/* Ours, under any name that has it run at its time. */
	if (pid && !doctor_has_hook(doctor, "pre-detach.d", "nvidia"))
		doctor_find(doctor, DOCTOR_WARN, "holders",
			    "nvidia-persistenced (pid %s) keeps %zu GPUs in use: a detach is refused\n"
			    "ln -s /usr/share/gpuctl/hooks/nvidia %s/hooks.d/pre-detach.d/50-nvidia, which turns it off for the GPU that goes",
			    pid, n, doctor->config_dir);
	free(pid);
}

/* The same as a detach lists, without the processes, which come and go. */
void doctor_check_holders(struct doctor *doctor)
{
	char *proc = mem_printf("%s/proc", doctor->tree.dir);
	char *sys = mem_printf("%s/sys", doctor->tree.dir);
	const struct holders_roots roots = { proc, sys };
	size_t before = doctor->n_findings, gpus = 0, i, k;

	for (i = 0; i < doctor->n_slots; i++) {
		const struct doctor_slot *slot = &doctor->slots[i];
		const struct pci_device *gpu;
		struct gf_function function;
		struct holders holders = { 0 };
		struct gf_slot one = { .functions = &function, .n_functions = 1 };
		const struct gf_slot *slots[] = { &one };

		if (slot->gpu == PCI_NOBODY)
			continue;
		gpus++;
		gpu = &doctor->pci.items[slot->gpu];
		memset(&function, 0, sizeof(function));
		one.name = slot->name;
		function.address = gpu->address;
		function.driver = gpu->driver;
		kernel_holders(&roots, slots, 1, &holders);
		for (k = 0; k < holders.n; k++)
			doctor_find(doctor, DOCTOR_WARN, "holders",
				    "slot %s: a detach is refused: %s\n"
				    "turn that off before a detach, with a hook in %s/hooks.d/pre-detach.d",
				    slot->name, holders.items[k].paths, doctor->config_dir);
		holders_free(&holders);
	}
	check_daemon(doctor);
	if (gpus && doctor->n_findings == before)
		doctor_find(doctor, DOCTOR_OK, "holders", "no driver keeps an idle GPU in use");
	free(proc);
	free(sys);
}
