/* SPDX-License-Identifier: GPL-2.0-only */
/* Can this host hot-plug GPUs? What the checks share, and what they find. */
#ifndef GPUCTL_DOCTOR_H
#define GPUCTL_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tree.h"
#include "catalogue/gpu.h"
#include "host/klog.h"
#include "host/pci.h"
#include "host/room.h"

/* How bad a finding is; only the last makes the exit code 1. */
enum doctor_level {
	DOCTOR_OK,
	DOCTOR_NOTE, /* worth knowing, nothing to do */
	DOCTOR_WARN, /* works, but not as well as it could, or not for all */
	DOCTOR_FAIL,
};

/**
 * struct doctor_finding - one line
 * @level: how bad it is
 * @check: what was looked at, stable
 * @reason: what was found
 * @remedy: what to do, NULL where nothing is
 * @parameter: what of that belongs on the kernel's command line, NULL for nothing
 */
struct doctor_finding {
	enum doctor_level level;
	const char *check;
	char *reason;
	char *remedy;
	char *parameter;
};

/**
 * struct doctor_slot - a port that can take a GPU
 * @port: index in &doctor.pci
 * @name: as the module or the slot driver calls it, else the port's address
 * @gpu: index of the GPU below it, PCI_NOBODY when there is none
 * @driven: a slot driver can turn it on and off
 * @driver: its name, NULL when that is not known
 * @state: what the module says of it, NULL without the module
 * @composition: the same
 */
struct doctor_slot {
	size_t port;
	char *name;
	size_t gpu;
	bool driven;
	char *driver;
	const char *state;
	char *composition;
};

/**
 * struct doctor - a host that is looked at
 * @tree: its files
 * @config_dir: the admin's files, as a path on that host
 * @release: of its kernel
 * @cmdline: what that was booted with
 * @pci: its PCI devices
 * @slots: its slots, by address of their ports
 * @n_slots: how many
 * @log: its kernel's log; nothing in it when it could not be read
 * @has_log: it could
 * @gpu: the card that slots are judged by
 * @gpu_bar: its large BAR in bytes
 * @most_devices: the card of the catalogue that shows as most devices, NULL for none
 * @findings: what was found, in order
 * @n_findings: how many
 */
struct doctor {
	struct tree tree;
	const char *config_dir;
	char *release;
	char *cmdline;
	struct pci_list pci;
	struct doctor_slot *slots;
	size_t n_slots;
	struct klog log;
	bool has_log;
	const struct cat_gpu *gpu;
	uint64_t gpu_bar;
	const struct cat_gpu *most_devices;
	struct doctor_finding *findings;
	size_t n_findings;
};

/* What windows are judged by. */
static inline struct host doctor_host(const struct doctor *doctor)
{
	return (struct host){ &doctor->tree, &doctor->pci, &doctor->log, doctor->release };
}

/* @dir NULL: this host. */
int doctor_open(struct doctor *doctor, const char *dir, const char *config_dir,
		struct fault *fault);
void doctor_close(struct doctor *doctor);

/* Run every check. */
void doctor_examine(struct doctor *doctor);

/* Add a finding: the first line is the reason, what follows is what to do about it. */
struct doctor_finding *doctor_find(struct doctor *doctor, enum doctor_level level,
				   const char *check, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A reason, and a parameter for the kernel's command line as what to do; @parameter passes. */
void doctor_find_parameter(struct doctor *doctor, enum doctor_level level, const char *check,
			   char *parameter, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

const char *doctor_level_name(enum doctor_level level);
size_t doctor_count(const struct doctor *doctor, enum doctor_level level);

/* What "pci=" or the like has for an item: after "ITEM=", "" for ITEM alone, NULL without it. */
const char *doctor_option_item(const struct doctor *doctor, const char *option, const char *item,
			       char *buf, size_t size);

/* Names of slots: "slots 101, 102", those of many cut. Caller frees. */
char *doctor_slot_names(const struct doctor *doctor, const size_t *slots, size_t n);

/* The slots of a tree, and what the module says of them. */
void doctor_read_slots(struct doctor *doctor);

/* Does a program run as such a hook whose name ends so? */
bool doctor_has_hook(const struct doctor *doctor, const char *place, const char *end);

/* The checks, one file each. */
void doctor_check_kernel(struct doctor *doctor);
void doctor_check_hotplug(struct doctor *doctor);
void doctor_check_ports(struct doctor *doctor);
void doctor_check_windows(struct doctor *doctor);
void doctor_check_buses(struct doctor *doctor);
void doctor_check_bars(struct doctor *doctor);
void doctor_check_peers(struct doctor *doctor);
void doctor_check_module(struct doctor *doctor);
void doctor_check_holders(struct doctor *doctor);
void doctor_check_installed(struct doctor *doctor);
void doctor_check_units(struct doctor *doctor);
void doctor_check_hooks(struct doctor *doctor);
void doctor_check_cdi(struct doctor *doctor);

/*
 * Copy of a host's tree for somebody else; what was written, or why not. @from: another copy,
 * NULL for this host.
 */
int doctor_record(const char *from, const char *dir, const char *config_dir, size_t *files,
		  struct fault *fault);

#endif /* GPUCTL_DOCTOR_H */
