// SPDX-License-Identifier: GPL-2.0-only
/* Whether a card would get its addresses in each slot, and what helps where it would not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "doctor/grow.h"
#include "host/room.h"

/* Cards with a switch of their own have two GPUs at least. */
#define USUAL_DEVICES 2
#define TOO_FEW "%s: usual GPUs fit; a card with a switch and %.0f GPUs needs %u more bus numbers"

/**
 * struct verdicts - slots of one bus
 * @fits: those that take the card, empty or not
 * @free: those without a GPU that do not
 * @used: those with one that would not
 * @crowd: those that take it only as long as others do not
 * @ports: of those in @free and @crowd, on the bus
 */
struct verdicts {
	size_t *fits, n_fits;
	size_t *free, n_free;
	size_t *used, n_used;
	size_t *crowd, n_crowd;
	u32 *ports;
	size_t n_ports;
	struct gf_fit_result first;
};

static bool is_good(const struct gf_fit_result *result)
{
	return result->verdict == GF_FIT_FITS || result->verdict == GF_FIT_FITS_AFTER_REASSIGNMENT;
}

static const char *bridge_of(const struct doctor *doctor, const struct room *room)
{
	return room->above == PCI_NOBODY ? "the host bridge" :
					   doctor->pci.items[room->above].address;
}

/* A live neighbour keeps the windows where they are. */
static const char *pinned_by(const struct doctor *doctor, const struct room *room, const u32 *ports,
			     size_t n)
{
	size_t i, k;

	for (i = 0; i < room->bus.nr_taken; i++) {
		const struct gf_fit_range *range = &room->bus.taken[i];
		bool ours = range->port == GF_FIT_NOBODY || !range->live;

		for (k = 0; k < n; k++)
			ours |= range->port == ports[k];
		if (!ours)
			return doctor->pci.items[room->ports[range->port]].address;
	}
	return NULL;
}

static void find_short(struct doctor *doctor, const struct room *room, const char *names,
		       enum doctor_level level, const struct verdicts *v, const u32 *ports,
		       size_t n, const char *how)
{
	const char *pin = pinned_by(doctor, room, ports, n);
	char need[TEXT_QUANTITY], have[TEXT_QUANTITY];
	struct grow grow;
	char *reason;

	grow_windows(doctor, room, ports, n, doctor->gpu_bar, &grow);
	reason = mem_printf("%s: %s needs a window of %s, %s can give it %s%s%s%s", names,
			    doctor->gpu->brief, text_bytes(need, v->first.need),
			    bridge_of(doctor, room), text_bytes(have, v->first.free), how,
			    pin ? "; windows are pinned by active devices below " : "",
			    pin ? pin : "");
	if (grow.parameter)
		doctor_find_parameter(doctor, level, "windows", mem_strdup(grow.parameter), "%s",
				      reason);
	else if (grow.unknown)
		doctor_find(doctor, level, "windows",
			    "%s\n%s; reboot, and run gpuctl doctor as root while the log still begins with the boot",
			    reason,
			    doctor->has_log ?
				    "the kernel's log no longer says whether firmware or the kernel has set the windows" :
				    "the kernel's log cannot be read");
	else
		doctor_find(doctor, level, "windows",
			    "%s\n"
			    "no kernel parameter helps, because %s: let firmware reserve it (above 4G decoding, size of MMIO high or hot-plug windows), or put a card into each slot before the host boots",
			    reason, grow.why);
	free(reason);
	grow_free(&grow);
}

static void judge_slot(const struct doctor *doctor, struct room *room, size_t slot,
		       const struct gf_fit_need *need, struct verdicts *v)
{
	u32 port = room_port(room, doctor->slots[slot].port);
	struct gf_fit_result result;

	room_judge_alone(room, port, need, &result);
	if (is_good(&result)) {
		v->fits[v->n_fits++] = slot;
		return;
	}
	if (!v->n_free && !v->n_used)
		v->first = result;
	if (doctor->slots[slot].gpu == PCI_NOBODY) {
		v->free[v->n_free++] = slot;
		v->ports[v->n_ports++] = port;
	} else {
		v->used[v->n_used++] = slot;
	}
}

/* Cards in all slots that are free, one after the other as attaches would come. */
static void judge_crowd(const struct doctor *doctor, struct room *room,
			const struct gf_fit_need *need, struct verdicts *v)
{
	struct gf_fit_result result;
	struct gf_fit_trial trial;
	size_t i;

	room_trial(room, &trial);
	for (i = 0; i < v->n_fits; i++) {
		size_t slot = v->fits[i];
		u32 port = room_port(room, doctor->slots[slot].port);

		if (doctor->slots[slot].gpu != PCI_NOBODY)
			continue;
		gf_fit_judge(&trial, port, need, GF_FIT_SIZE_NOW, &result);
		if (is_good(&result))
			continue;
		if (!v->n_crowd)
			v->first = result;
		v->crowd[v->n_crowd++] = slot;
		v->ports[v->n_ports++] = port;
	}
}

static void windows_report(struct doctor *doctor, const struct room *room, struct verdicts *v)
{
	u32 *used = mem_zalloc(v->n_used + 1, sizeof(*used));
	char *names;
	size_t i;

	if (v->n_free) {
		names = doctor_slot_names(doctor, v->free, v->n_free);
		find_short(doctor, room, names, DOCTOR_FAIL, v, v->ports, v->n_ports, "");
		free(names);
	}
	if (v->n_crowd) {
		names = doctor_slot_names(doctor, v->crowd, v->n_crowd);
		find_short(doctor, room, names, DOCTOR_WARN, v, v->ports, v->n_ports,
			   " once the other slots have theirs");
		free(names);
	}
	if (v->n_used) {
		for (i = 0; i < v->n_used; i++)
			used[i] = room_port(room, doctor->slots[v->used[i]].port);
		names = doctor_slot_names(doctor, v->used, v->n_used);
		find_short(doctor, room, names, DOCTOR_WARN, v, used, v->n_used,
			   " in place of the GPU that is there");
		free(names);
	}
	if (v->n_fits > v->n_crowd)
		doctor_find(doctor, DOCTOR_OK, "windows", "%s: room for %s in %zu of %zu slots",
			    bridge_of(doctor, room), doctor->gpu->brief, v->n_fits - v->n_crowd,
			    v->n_fits + v->n_free + v->n_used);
	free(used);
}

/* The slots of the bus that the first of them is on. */
static void check_bus(struct doctor *doctor, size_t first, bool *seen)
{
	size_t n = doctor->n_slots + 1, i;
	struct verdicts v = {
		.fits = mem_zalloc(n, sizeof(size_t)),
		.free = mem_zalloc(n, sizeof(size_t)),
		.used = mem_zalloc(n, sizeof(size_t)),
		.crowd = mem_zalloc(n, sizeof(size_t)),
		.ports = mem_zalloc(n, sizeof(u32)),
	};
	const struct host host = doctor_host(doctor);
	struct gf_fit_need need;
	struct room room;
	u32 port;

	room_read(&host, doctor->slots[first].port, &room);
	room_need(doctor->gpu_bar, &need);
	if (!room.bus.nr_windows && room.bus.root) {
		doctor_find(doctor, DOCTOR_WARN, "windows",
			    "the addresses of the host bridge are not known\n"
			    "run gpuctl doctor as root");
	}
	for (i = first; i < doctor->n_slots; i++) {
		port = room_port(&room, doctor->slots[i].port);
		if (port == GF_FIT_NOBODY)
			continue;
		seen[i] = true;
		if (!room.bus.nr_windows && room.bus.root)
			continue;
		judge_slot(doctor, &room, i, &need, &v);
	}
	judge_crowd(doctor, &room, &need, &v);
	windows_report(doctor, &room, &v);
	room_free(&room);
	free(v.fits);
	free(v.free);
	free(v.used);
	free(v.crowd);
	free(v.ports);
}

void doctor_check_windows(struct doctor *doctor)
{
	bool *seen = mem_zalloc(doctor->n_slots + 1, sizeof(*seen));
	size_t i;

	for (i = 0; doctor->gpu && i < doctor->n_slots; i++)
		if (!seen[i])
			check_bus(doctor, i, seen);
	free(seen);
}

/* --- bus numbers ------------------------------------------------------------ */

static unsigned int domain_of(const struct pci_device *dev)
{
	return (unsigned int)strtoul(dev->address, NULL, 16);
}

/* Whether a domain has bus numbers enough for that many behind each port with a controller. */
static bool numbers_suffice(const struct doctor *doctor, unsigned int domain, unsigned int each)
{
	unsigned int sum = 0;
	size_t i;

	for (i = 0; i < doctor->pci.n; i++) {
		const struct pci_device *dev = &doctor->pci.items[i];

		if (!dev->bridge || domain_of(dev) != domain)
			continue;
		sum += dev->hotplug ? each : 1;
	}
	return sum < 256;
}

void doctor_check_buses(struct doctor *doctor)
{
	const struct cat_gpu *card = doctor->most_devices;
	size_t *few = mem_zalloc(doctor->n_slots + 1, sizeof(*few)), n = 0, i;
	double devices = USUAL_DEVICES;
	bool helps = true;
	unsigned int need;
	char *names, *reason;

	if (card)
		cat_gpu_fact(card, GPU_DEVICES, &devices);
	/* One behind the switch's upstream port, and one for each device. */
	need = 1 + (unsigned int)devices;
	for (i = 0; i < doctor->n_slots; i++) {
		const struct pci_device *port = &doctor->pci.items[doctor->slots[i].port];

		if (port->bus_last - port->bus_first >= need)
			continue;
		few[n++] = i;
		helps &= port->hotplug && numbers_suffice(doctor, domain_of(port), need + 1);
	}
	if (n) {
		names = doctor_slot_names(doctor, few, n);
		reason = mem_printf(TOO_FEW, names, devices, need);
		if (helps)
			doctor_find_parameter(doctor, DOCTOR_NOTE, "buses",
					      mem_printf("pci=assign-busses,hpbussize=%u",
							 need + 1),
					      "%s", reason);
		else
			doctor_find(doctor, DOCTOR_NOTE, "buses",
				    "%s\n"
				    "no kernel parameter helps: put such a card into the slot before the host boots",
				    reason);
		free(reason);
		free(names);
	} else if (doctor->n_slots) {
		doctor_find(doctor, DOCTOR_OK, "buses",
			    "each slot has %u bus numbers or more besides its own", need);
	}
	free(few);
}
