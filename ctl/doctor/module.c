// SPDX-License-Identifier: GPL-2.0-only
/* The module: built for this kernel, allowed by it, loaded, of this version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "doctor/places.h"

#define DKMS "var/lib/dkms/gpufabric"
#define SIGNATURE "~Module signature appended~\n"

/* Below lib/modules/RELEASE; a module that is compressed has its signature inside. */
static const char *const places[] = {
	"updates/dkms/gpufabric.ko",	 "updates/dkms/gpufabric.ko.xz",
	"updates/dkms/gpufabric.ko.zst", "extra/gpufabric.ko",
	"extra/gpufabric.ko.xz",	 "extra/gpufabric.ko.zst",
	"updates/gpufabric.ko",		 "updates/gpufabric.ko.xz",
};

static char *module_file(const struct doctor *doctor)
{
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (tree_has(&doctor->tree, "lib/modules/%s/%s", doctor->release, places[i]))
			return mem_printf("lib/modules/%s/%s", doctor->release, places[i]);
	return NULL;
}

/* 1 signed, 0 not, -1 not known. */
static int is_signed(const struct doctor *doctor, const char *file)
{
	size_t len, mark = strlen(SIGNATURE);
	char *text;
	int is;

	if (!strstr(file, ".ko") || strstr(file, ".ko."))
		return -1;
	text = tree_end(&doctor->tree, mark, &len, "%s", file);
	is = text ? len >= mark && !memcmp(text + len - mark, SIGNATURE, mark) : -1;
	free(text);
	return is;
}

static bool secure_boot_is_on(const struct doctor *doctor)
{
	size_t len;
	char *boot = tree_read(&doctor->tree, &len, PLACE_SECURE_BOOT);
	bool on = boot && len > 4 && boot[4] == 1;

	free(boot);
	return on;
}

/*
 * What makes the kernel refuse modules without a signature, NULL when nothing does. Secure boot
 * alone does not: it is lockdown that a kernel may turn on for it, and where that can be read it
 * says whether.
 */
static const char *what_enforces(const struct doctor *doctor)
{
	char *lockdown = tree_line(&doctor->tree, PLACE_LOCKDOWN);
	char *enforce = tree_line(&doctor->tree, PLACE_SIG_ENFORCE);
	const char *what = NULL;

	if (enforce && *enforce == 'Y')
		what = "module.sig_enforce";
	else if (lockdown &&
		 (strstr(lockdown, "[integrity]") || strstr(lockdown, "[confidentiality]")))
		what = "kernel lockdown";
	else if (!lockdown && secure_boot_is_on(doctor))
		what = "secure boot";
	free(lockdown);
	free(enforce);
	return what;
}

static void check_signature(struct doctor *doctor, const char *file)
{
	char *taint = tree_line(&doctor->tree, PLACE_MODULE "/taint");
	const char *what = what_enforces(doctor);
	int good = file ? is_signed(doctor, file) : -1;
	bool loaded = taint;

	/* The kernel has looked at a module that is loaded. */
	if (taint)
		good = !strchr(taint, 'E');
	free(taint);
	if (!what)
		doctor_find(doctor, DOCTOR_OK, "signature", "%s%s",
			    secure_boot_is_on(doctor) ? "secure boot is on and lockdown is off" :
							"secure boot and lockdown are off",
			    good == 0 ? ", the module needs no signature" : "");
	else if (good == 0 && loaded)
		doctor_find(doctor, DOCTOR_WARN, "signature",
			    "%s is on, and the module that is loaded has no signature: it may be refused the next time\n"
			    "mokutil --import /var/lib/dkms/mok.pub, reboot and enroll it, then dkms build --force gpufabric",
			    what);
	else if (good == 0)
		doctor_find(doctor, DOCTOR_FAIL, "signature",
			    "%s refuses the module, which has no signature\n"
			    "mokutil --import /var/lib/dkms/mok.pub, reboot and enroll it, then dkms build --force gpufabric",
			    what);
	else if (good < 0)
		doctor_find(doctor, DOCTOR_NOTE, "signature",
			    "%s is on: the module has to be signed by a key that is enrolled\n"
			    "modinfo -F signer gpufabric; mokutil --list-enrolled",
			    what);
	else
		doctor_find(doctor, DOCTOR_OK, "signature", "%s is on, the module is signed", what);
}

/* DKMS keeps VERSION/KERNEL/ARCH below its tree for what it has built. */
static void check_dkms(struct doctor *doctor, bool loaded)
{
	size_t n, i;
	char **versions = tree_names(&doctor->tree, &n, DKMS);
	bool known = false, built = false;

	for (i = 0; i < n; i++) {
		if (!strncmp(versions[i], "kernel-", 7))
			continue;
		if (tree_has(&doctor->tree, DKMS "/%s/%s", versions[i], doctor->release))
			built = true;
		if (!strcmp(versions[i], GPUCTL_VERSION))
			known = true;
	}
	if (n && !known)
		doctor_find(doctor, DOCTOR_WARN, "dkms",
			    "DKMS has gpufabric %s, and gpuctl is %s\n"
			    "dkms install gpufabric/%s -k %s",
			    versions[0], GPUCTL_VERSION, GPUCTL_VERSION, doctor->release);
	else if (n && !built)
		doctor_find(doctor, loaded ? DOCTOR_WARN : DOCTOR_FAIL, "dkms",
			    "gpufabric is not built for %s\n"
			    "apt install linux-headers-%s; dkms install gpufabric/%s -k %s",
			    doctor->release, doctor->release, GPUCTL_VERSION, doctor->release);
	else if (n)
		doctor_find(doctor, DOCTOR_OK, "dkms", "gpufabric %s is built for %s",
			    GPUCTL_VERSION, doctor->release);
	tree_free_names(versions, n);
}

static bool module_is_busy(const char *state)
{
	static const char *const busy[] = { "attaching", "detaching", "draining", "stuck" };
	size_t i;

	for (i = 0; state && i < sizeof(busy) / sizeof(busy[0]); i++)
		if (!strcmp(state, busy[i]))
			return true;
	return false;
}

static bool is_first(const struct doctor *doctor, size_t slot)
{
	size_t i;

	for (i = 0; i < slot; i++)
		if (doctor->slots[i].composition &&
		    !strcmp(doctor->slots[i].composition, doctor->slots[slot].composition))
			return false;
	return true;
}

/* Compositions and operations each hold the module. */
static void check_use(struct doctor *doctor)
{
	struct text compositions = { 0 }, slots = { 0 };
	size_t i;

	for (i = 0; i < doctor->n_slots; i++) {
		const struct doctor_slot *slot = &doctor->slots[i];

		if (slot->composition && is_first(doctor, i))
			text_join(&compositions, ", ", slot->composition);
		if (module_is_busy(slot->state))
			text_join(&slots, ", ", slot->name);
	}
	if (compositions.text || slots.text)
		doctor_find(doctor, DOCTOR_NOTE, "module",
			    "cannot be unloaded now: compositions %s; operations on slots %s\n"
			    "to unload it: gpuctl save, release them or wait",
			    compositions.text ? compositions.text : "none",
			    slots.text ? slots.text : "none");
	free(compositions.text);
	free(slots.text);
}

void doctor_check_module(struct doctor *doctor)
{
	bool loaded = tree_has(&doctor->tree, PLACE_MODULE);
	char *version = tree_line(&doctor->tree, PLACE_MODULE "/version");
	char *file = module_file(doctor);

	if (!loaded && !file)
		doctor_find(doctor, DOCTOR_FAIL, "module",
			    "gpufabric is not installed for %s\n"
			    "dkms install gpufabric/%s -k %s",
			    doctor->release, GPUCTL_VERSION, doctor->release);
	else if (!loaded)
		doctor_find(doctor, DOCTOR_WARN, "module",
			    "gpufabric is not loaded\n"
			    "modprobe gpufabric; echo gpufabric > /etc/modules-load.d/gpufabric.conf");
	else if (version && strcmp(version, GPUCTL_VERSION))
		doctor_find(doctor, DOCTOR_WARN, "module",
			    "gpufabric %s is loaded, and gpuctl is %s\n"
			    "gpuctl save; rmmod gpufabric; modprobe gpufabric; gpuctl restore",
			    version, GPUCTL_VERSION);
	else
		doctor_find(doctor, DOCTOR_OK, "module", "gpufabric %s is loaded",
			    version ? version : "");
	check_use(doctor);
	check_dkms(doctor, loaded);
	check_signature(doctor, file);
	free(version);
	free(file);
}
