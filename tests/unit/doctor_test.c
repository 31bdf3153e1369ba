// SPDX-License-Identifier: GPL-2.0-only
// sources: $(filter-out ctl/main.c,$(wildcard ctl/*.c ctl/*/*.c ctl/*/*/*.c))
// packages: libnl-3.0 libnl-genl-3.0 json-c libudev libsystemd
/*
 * gpuctl doctor on recorded hosts (tests/data/hosts): all that it says of each, and of
 * each check that it can be provoked, by changing one thing of a copy.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "doctor/doctor.h"
#include "doctor/grow.h"
#include "doctor/permissions.h"
#include "doctor/units.h"
#include "tap.h"

#define HOSTS "tests/data/hosts"

/* In memory: each change is made to a copy, of hundreds of files. */
static char dir[] = "/dev/shm/doctor_test.XXXXXX";
static char *text;
static char *error;
static char *names[4], *texts[4];

/* gpuctl doctor with more words; output is left in text, the error in error. */
static int doctor(const char *host, const char *more)
{
	char *sysfs = mem_printf("%s/%s", dir, host);
	char *words[] = { "gpuctl", "doctor", "--sysfs", sysfs, more ? "--gpu" : NULL,
			  (char *)more, NULL };
	struct ctl_ctx ctx = { .data_dir = "ctl/catalogue", .config_dir = "/etc/gpuctl" };
	size_t size;
	FILE *f;
	int ret;

	free(text);
	free(error);
	f = open_memstream(&text, &size);
	ctx.out = out_new(f);
	ret = ctl_dispatch(&ctx, ctl_commands, more ? 6 : 4, words);
	out_flush(ctx.out);
	out_free(ctx.out);
	fclose(f);
	error = ctx.error;
	free(ctx.more);
	free(ctx.given);
	free(sysfs);
	return ret;
}

static int shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int shell(const char *fmt, ...)
{
	char *command;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	command = mem_vprintf(fmt, ap);
	va_end(ap);
	ret = system(command);
	free(command);
	return WIFEXITED(ret) ? WEXITSTATUS(ret) : -1;
}

/* A line that begins with the level and the check, and says the phrase. */
static bool says(const char *level, const char *check, const char *phrase)
{
	const char *line = text;
	size_t len;

	for (; line && *line; line += len + (line[len] == '\n')) {
		char *copy;
		char is[8] = "", what[32] = "";
		bool good;

		len = strcspn(line, "\n");
		copy = mem_printf("%.*s", (int)len, line);
		good = sscanf(copy, "%7s %31s", is, what) == 2 && !strcmp(is, level) &&
		       !strcmp(what, check) && strstr(copy, phrase);
		free(copy);
		if (good)
			return true;
	}
	return false;
}

static void whole_hosts(void)
{
	static const struct {
		const char *name;
		int exit;
	} hosts[] = {
		{ "healthy", 0 }, { "small-windows", 1 }, { "qemu-switch", 1 },
		{ "osc-refused", 1 },
	};
	size_t i;

	for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		char *want = mem_printf("%s/%s.want", dir, hosts[i].name), *is;
		FILE *f;
		int ret;

		ok(!shell("mkdir %s/%s && tar -C %s/%s -xzf " HOSTS "/%s.tar.gz && cp " HOSTS
			  "/%s.txt %s", dir, hosts[i].name, dir, hosts[i].name, hosts[i].name,
			  hosts[i].name, want), "%s: a recorded host", hosts[i].name);
		ret = doctor(hosts[i].name, NULL);
		is_int(ret, hosts[i].exit, "the exit code");
		is = mem_printf("%s/%s.is", dir, hosts[i].name);
		f = fopen(is, "w");
		if (f) {
			fputs(text, f);
			fclose(f);
		}
		ok(!shell("diff -u %s %s | sed 's/^/# /'; cmp -s %s %s", want, is, want, is),
		   "%s: all that is said of it", hosts[i].name);
		free(want);
		free(is);
	}
}

/**
 * struct change - one thing that is wrong with a host
 * @host: which
 * @command: of the shell, in its directory
 * @level: what is said then
 * @check: by which check
 * @phrase: with these words
 */
struct change {
	const char *host, *command, *level, *check, *phrase;
};

#define PORT "sys/bus/pci/devices/10000:02:00.0"
#define GPU "sys/bus/pci/devices/10000:03:00.0"
#define OPTION(o) "echo \"$(cat proc/cmdline) " o "\" >proc/cmdline.new && mv proc/cmdline.new proc/cmdline"
#define BYTES(file, at, bytes) \
	"printf '" bytes "' | dd of=" file "/config bs=1 seek=$((" at ")) conv=notrunc 2>/dev/null"
#define PERSISTENCE \
	"rm " GPU "/driver; ln -s ../../drivers/nvidia " GPU "/driver; mkdir -p proc/77; " \
	"echo nvidia-persistenced | cut -c1-15 >proc/77/comm"
#define LOCKDOWN "mkdir -p sys/kernel/security && echo 'none [integrity] confidentiality' >sys/kernel/security/lockdown && "
#define SECURE_BOOT \
	"mkdir -p sys/firmware/efi/efivars && printf '\\6\\0\\0\\0\\1' >" \
	"sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c; "
#define DIP "printf '[ 9.5] pcieport 10000:02:00.0: pciehp: Slot(100): Link Down\\n" \
	"[ 9.6] pcieport 10000:02:00.0: pciehp: Slot(100): Card present\\n' >>dmesg; "
/* Somebody takes it out, and puts it back later. */
#define UNPLUG "printf '[ 9.5] pcieport 10000:02:00.0: pciehp: Slot(100): Link Down\\n" \
	"[ 69.6] pcieport 10000:02:00.0: pciehp: Slot(100): Card present\\n' >>dmesg; "
#define UNITS "usr/lib/systemd/system"
#define SYSTEMD \
	"mkdir -p run/systemd/system " UNITS " && for u in attached@.service detached@.service fault@.service " \
	"changed.service watch.service; do touch " UNITS "/gpufabric-$u; done && touch " UNITS "/gpufabric.target && "
#define UNIT(id, load, active) "Id=" id "\\nLoadState=" load "\\nActiveState=" active "\\n\\n"
#define ACTIVE UNIT("gpufabric.target", "loaded", "active")
#define SPEC(kind, name) "{\"cdiVersion\":\"0.5.0\",\"kind\":\"" kind "\",\"devices\":[{\"name\":\"" name "\"}]}"

static const struct change changes[] = {
	{ "healthy", "echo 5.10.0-30-amd64 >proc/sys/kernel/osrelease", "FAIL", "kernel",
	  "needs 6.1 or newer" },
	{ "healthy", OPTION("pcie_ports=compat"), "FAIL", "kernel-options",
	  "remove pcie_ports=compat from" },
	{ "healthy", OPTION("pci=realloc,noacpi"), "FAIL", "kernel-options", "remove pci=noacpi from" },
	{ "healthy", OPTION("acpi=off"), "FAIL", "kernel-options", "acpi=off" },
	{ "healthy", OPTION("pci=nobar"), "FAIL", "kernel-options", "pci=nobar" },
	{ "healthy", OPTION("pci=nocrs"), "warn", "kernel-options", "pci=nocrs" },
	{ "healthy", OPTION("pci=realloc=off"), "note", "kernel-options", "realloc=off" },
	{ "healthy", OPTION("pciehp.pciehp_poll_mode=1"), "warn", "kernel-options", "poll_mode" },
	{ "healthy", OPTION("module_blacklist=foo,gpufabric"), "FAIL", "kernel-options",
	  "never loaded" },
	{ "healthy", "rm -r sys/bus/pci_express sys/bus/pci/slots; " OPTION("pcie_ports=compat"),
	  "FAIL", "hotplug", "by pcie_ports=compat" },
	{ "healthy", "rm -r sys/bus/pci_express sys/bus/pci/slots", "FAIL", "hotplug",
	  "for no known reason" },
	{ "healthy", "rm -r sys/bus/pci_express sys/bus/pci/slots dmesg", "FAIL", "hotplug",
	  "no longer says why" },
	{ "healthy", "rm -r sys/bus/pci_express", "FAIL", "hotplug",
	  "which another slot driver drives and gpufabric only lists: pciehp does not drive them, for no known reason" },
	{ "healthy", "rm -r sys/bus/pci_express; for p in 10000:02:00.0 10000:02:01.0 10000:06:00.0 10000:06:01.0; do "
	  BYTES("sys/bus/pci/devices/$p", "0x54", "\\0\\0\\0\\0") "; done", "warn", "hotplug",
	  "which another slot driver drives and gpufabric only lists: no hot-plug controller that pciehp" },
	{ "healthy", "rm -r sys/bus/pci_express; for s in sys/bus/pci/slots/*; do ln -s ../../../../module/acpiphp $s/module; done",
	  "FAIL", "hotplug", "which acpiphp drives and gpufabric only lists" },
	{ "healthy", "rm -r sys/bus/pci_express; for s in sys/bus/pci/slots/*; do ln -s ../../../../module/gpufabric_sim $s/module; done",
	  "ok", "hotplug", "the simulator drives 4 of 4 slots" },
	{ "healthy", "rm -r sys/bus/pci_express sys/bus/pci/slots; for p in 10000:02:00.0; do "
	  BYTES("sys/bus/pci/devices/$p", "0x54", "\\0\\0\\0\\0") "; done", "note", "hotplug",
	  "no hot-plug controller; they are slots only if bare_ports= of the module names them" },
	{ "osc-refused", "rm -r sys/bus/pci/slots", "FAIL", "hotplug",
	  "slots 0, 0-2, 0-3: firmware keeps control of native hot-plug (acpi PNP0A08:00: _OSC: OS now" },
	{ "healthy", "rm sys/bus/pci/devices/10000:*", "FAIL", "hotplug", "no downstream port" },
	{ "healthy", BYTES("sys/bus/pci/devices/10000:02:00.0", "256", "\\35\\0\\1\\0\\0\\0\\1\\0\\5\\0"),
	  "warn", "containment",
	  "slot 100: port 10000:02:00.0 contains an error of its card (Downstream Port Containment)" },
	{ "healthy", BYTES("sys/bus/pci/devices/10000:02:00.0", "256", "\\35\\0\\1\\0\\0\\0\\1\\0\\5\\0"),
	  "warn", "containment", "setpci -s 10000:02:00.0 ECAP_DPC+8.w=1, then do what gpuctl list says" },
	{ "healthy", DIP DIP DIP "true", "warn", "power-dips",
	  "slot 100 (port 10000:02:00.0): pciehp removed its card by mistake 3 times" },
	{ "healthy", DIP DIP "true", "warn", "power-dips",
	  "echo 10000:02:00.0:pcie204 > /sys/bus/pci_express/drivers/pciehp/unbind" },
	{ "healthy", DIP DIP "rm sys/bus/pci_express/drivers/pciehp/10000:02:00.0:pcie204", "note",
	  "power-dips", "it no longer drives the port" },
	{ "healthy", BYTES("sys/bus/pci/devices/10000:00:00.0", "0x42", "\\102\\001") "; "
	  BYTES("sys/bus/pci/devices/10000:00:00.0", "0x54", "\\140\\0\\0\\0") "; rm sys/bus/pci/devices/10000:01:00.0", "note", "root-ports",
	  "root ports 10000:00:00.0 have hot-plug slots, as OCuLink has, and gpufabric ignores root ports by default" },
	{ "healthy", "mkdir -p sys/bus/thunderbolt/devices/0-1; cd sys/bus/thunderbolt/devices/0-1; "
	  "echo 0 >authorized; echo Core X >device_name", "warn", "thunderbolt",
	  "Core X (Thunderbolt 0-1) is not authorized" },
	{ "small-windows", OPTION("pci=realloc,hpmmioprefsize=512G"), "FAIL", "windows",
	  "pci=hpmmioprefsize=512G is set already and was not enough" },
	{ "healthy", "for f in sys/bus/pci/devices/*/config; do truncate -s 64 $f; done", "FAIL",
	  "hotplug", "run gpuctl doctor as root" },
	{ "small-windows", "rm dmesg", "FAIL", "windows", "the kernel's log cannot be read" },
	{ "small-windows", "sed -i 1,5d dmesg", "FAIL", "windows", "the kernel's log no longer says" },
	{ "small-windows", "sed -i 's/pci 10000:02:0[0-9].0: bridge window.*assigned//' dmesg", "FAIL",
	  "windows", "hpmmioprefsize=512G,resource_alignment=20@10000:02:00.0;20@10000:02:01.0" },
	{ "small-windows", "sed -i 's/\\(10000.*root bus resource .mem 0x100000000000\\)-0x[0-9a-f]*/\\1-0x1017ffffffff/' dmesg",
	  "FAIL", "windows", "no kernel parameter helps, because the host bridge has 96 GiB" },
	{ "small-windows", BYTES("sys/bus/pci/devices/10000:02:01.0", "0x54", "\\0\\0\\0\\0"), "FAIL",
	  "windows", "10000:02:01.0 has no hot-plug controller" },
	{ "healthy", "for f in sys/bus/pci/devices/1000?:*/subordinate_bus_number; do echo 200 >$f; done", "ok",
	  "buses", "each slot has" },
	{ "healthy", BYTES("sys/bus/pci/devices/10000:02:01.0", "0x54", "\\0\\0\\0\\0"), "note",
	  "buses", "no kernel parameter helps: put such a card into the slot before the host boots" },
	{ "qemu-switch", "echo Y >sys/module/gpufabric/parameters/root_ports; rm dmesg proc/iomem", "warn",
	  "windows", "the addresses of the host bridge are not known: run gpuctl doctor as root" },
	{ "healthy", "sed -i '2s/.*/0x0000000000000000 0x0000001fffffffff 0x0000000020142204/' " GPU "/resource",
	  "FAIL", "bars", "BAR 1 of 10000:03:00.0 (128 GiB) has no address" },
	/* One BAR, 256 MiB of up to 128 GiB, behind the serial number. */
	{ "healthy", BYTES(GPU, "0x100", "\\003\\000\\001\\030") "; "
	  BYTES(GPU, "0x180", "\\025\\000\\001\\000\\000\\020\\040\\000\\041\\010\\000\\000"), "warn",
	  "resizable-bar", "BAR 1 of 10000:03:00.0 is 256 MiB and could be 128 GiB" },
	{ "healthy", BYTES(PORT, "0x106", "\\035\\000"), "warn", "acs",
	  "pci=disable_acs_redir=10000:02:00.0" },
	{ "healthy", "mkdir -p sys/kernel/iommu_groups/7 && echo DMA-FQ >sys/kernel/iommu_groups/7/type && "
	  "ln -s ../../../kernel/iommu_groups/7 " GPU "/iommu_group", "warn", "iommu", "iommu=pt" },
	{ "healthy", "mkdir -p sys/kernel/iommu_groups/7 && echo identity >sys/kernel/iommu_groups/7/type",
	  "ok", "iommu", "1 IOMMU groups" },
	{ "healthy", "rm -r sys/module/gpufabric", "warn", "module", "not loaded" },
	{ "healthy", "rm -r sys/module/gpufabric lib", "FAIL", "module", "not installed" },
	{ "healthy", "echo 0.0.1 >sys/module/gpufabric/version", "warn", "module", "0.0.1 is loaded" },
	{ "healthy", "for u in sys/class/gpufabric/*/uevent; do echo GPUFABRIC_COMPOSITION=night >>$u; done",
	  "note", "module", "compositions night; operations on slots none" },
	{ "healthy", "sed -i s/HEALTH=ok/HEALTH=stuck/ sys/class/gpufabric/*/uevent", "note", "module",
	  "operations on slots 100, 101, 200, 201" },
	{ "healthy", LOCKDOWN "rm -r sys/module/gpufabric", "FAIL", "signature", "kernel lockdown refuses" },
	{ "healthy", LOCKDOWN "echo O >sys/module/gpufabric/taint", "ok", "signature", "is signed" },
	{ "healthy", LOCKDOWN "rm -r sys/module/gpufabric lib", "note", "signature", "has to be signed" },
	{ "healthy", LOCKDOWN "echo OE >sys/module/gpufabric/taint", "warn", "signature",
	  "kernel lockdown is on, and the module that is loaded has no signature" },
	{ "healthy", SECURE_BOOT "rm -rf sys/module/gpufabric sys/kernel/security/lockdown", "FAIL", "signature",
	  "secure boot refuses" },
	{ "healthy", SECURE_BOOT "mkdir -p sys/kernel/security; echo '[none] integrity confidentiality' "
	  ">sys/kernel/security/lockdown; rm -r sys/module/gpufabric", "ok", "signature",
	  "secure boot is on and lockdown is off" },
	{ "healthy", "rm -r sys/module/gpufabric; mkdir -p sys/module/module/parameters && "
	  "echo Y >sys/module/module/parameters/sig_enforce", "FAIL", "signature", "sig_enforce" },
	{ "healthy", "mkdir -p var/lib/dkms/gpufabric/0.0.1/x", "warn", "dkms", "DKMS has gpufabric 0.0.1" },
	{ "healthy", "mkdir -p var/lib/dkms/gpufabric/" GPUCTL_VERSION "/5.0", "warn", "dkms", "is not built for" },
	{ "healthy", "mkdir -p var/lib/dkms/gpufabric/" GPUCTL_VERSION "/$(cat proc/sys/kernel/osrelease)",
	  "ok", "dkms", "is built for" },
	{ "healthy", "echo 1 >" GPU "/users", "warn", "holders", "counts 1 of its own" },
	{ "healthy", "echo 2 >" GPU "/sriov_numvfs", "warn", "holders", "2 virtual functions" },
	{ "healthy", PERSISTENCE "; rm permissions", "warn", "holders", "nvidia-persistenced (pid 77) keeps 1 GPUs in use" },
	{ "healthy", PERSISTENCE "; printf 'hook 100644 0 /etc/gpuctl/hooks.d/pre-detach.d/50-nvidia\\n' >permissions",
	  "warn", "holders", "nvidia-persistenced (pid 77) keeps 1 GPUs in use" },
	{ "healthy", "find . -name 60-gpufabric.rules -delete", "warn", "udev", "are not installed" },
	{ "healthy", "mkdir -p etc/udev/rules.d; ln -sf /dev/null etc/udev/rules.d/60-gpufabric.rules",
	  "warn", "udev", "masked by /etc/udev" },
	{ "healthy", "find . -name 20-gpufabric.hwdb -delete", "warn", "hwdb", "is not installed" },
	{ "healthy", "mkdir -p etc/udev/hwdb.d; : >etc/udev/hwdb.d/20-gpufabric.hwdb", "warn", "hwdb",
	  "masked by /etc/udev" },
	{ "healthy", "for f in $(find . -name hwdb.bin); do : >$f; done", "warn", "hwdb", "compiled" },
	{ "healthy", SYSTEMD "rm " UNITS "/gpufabric-fault@.service", "warn", "units",
	  "not installed: gpufabric-fault@.service:" },
	{ "healthy", SYSTEMD "printf '" ACTIVE UNIT("gpufabric-b.service", "loaded", "failed") "' >units",
	  "warn", "units", "gpufabric-b.service: failed: journalctl" },
	{ "healthy", SYSTEMD "printf '" ACTIVE UNIT("gpufabric-b.service", "masked", "inactive") "' >units",
	  "warn", "units", "systemctl unmask gpufabric-b.service" },
	{ "healthy", SYSTEMD "printf '" UNIT("gpufabric.target", "loaded", "inactive") "' >units", "warn",
	  "units", "gpufabric.target is not active" },
	{ "healthy", SYSTEMD "printf '" ACTIVE "' >units", "note", "units",
	  "not enabled: gpufabric-watch.service" },
	{ "healthy", SYSTEMD "printf '" ACTIVE "' >units; mkdir -p etc/systemd/system/gpufabric.target.wants; "
	  "ln -s x etc/systemd/system/gpufabric.target.wants/gpufabric-watch.service", "ok", "units",
	  "units are in place, 1 loaded" },
	{ "healthy", "printf 'hook 100755 0 /etc/gpuctl/hooks.d/assign.d/x\\npart 100755 1000 /srv/x\\n' >permissions",
	  "FAIL", "hooks", "chown root /srv/x" },
	{ "healthy", "printf 'hook 100755 0 /etc/gpuctl/hooks.d/assign.d/x\\npart 40777 0 /srv\\n' >permissions",
	  "FAIL", "hooks", "chmod go-w /srv" },
	{ "healthy", "printf 'hook 100755 0 /etc/gpuctl/hooks.d/assign.d/x\\npart 41777 0 /tmp\\n' >>permissions",
	  "ok", "hooks", "2 hooks" },
	{ "healthy", "printf 'hook 100644 0 /etc/gpuctl/hooks.d/assign.d/x\\n' >permissions", "note", "hooks",
	  "not executable" },
	{ "healthy", "printf 'hook 100755 0 /etc/gpuctl/hooks.d/assign.d/x.sh\\n' >permissions", "note",
	  "hooks", "its name has" },
	{ "healthy", "printf 'hook 40755 0 /etc/gpuctl/hooks.d/assign.d/x\\n' >permissions", "note", "hooks",
	  "it is not a file" },
	{ "healthy", "printf 'hook 0 0 /etc/gpuctl/hooks.d/assign.d/x\\n' >permissions", "warn", "hooks",
	  "assign.d/x is a broken link: that hook does not run: restore its target" },
	{ "healthy", "printf 'place 0 0 /etc/gpuctl/hooks.d/assign.d\\n' >permissions", "warn", "hooks",
	  "hooks.d/assign.d is a broken link: no hook in it runs" },
	{ "healthy", "printf 'place 0 0 /etc/gpuctl/hooks.d\\n' >permissions", "warn", "hooks",
	  "/etc/gpuctl/hooks.d is a broken link" },
	{ "healthy", "printf 'place 40755 0 /etc/gpuctl/hooks.d/detach.d\\n' >permissions", "warn", "hooks",
	  "hooks.d/detach.d: there is no kind of hook with that name" },
	{ "healthy", "printf 'place 40755 0 /etc/gpuctl/hooks.d/assign\\n' >permissions", "warn", "hooks",
	  "hooks.d/assign: there is no kind of hook with that name" },
	{ "healthy", "printf 'place 100755 0 /etc/gpuctl/hooks.d/README\\n' >permissions", "note", "hooks",
	  "README is not a directory" },
	{ "healthy", "printf 'place 40755 0 /etc/gpuctl/hooks.d/assign.d\\nhook 100755 0 /etc/gpuctl/hooks.d/assign.d/x\\n"
	  "place 40755 0 /srv/hooks.d/asign.d\\nhook 100755 0 /srv/hooks.d/asign.d/y\\n' >>permissions", "ok", "hooks",
	  "2 hooks" },
	{ "healthy", "mkdir -p etc/cdi; echo nonsense >etc/cdi/x.json", "warn", "cdi", "/etc/cdi/x.json is not a specification" },
	{ "healthy", "mkdir -p etc/cdi; echo '" SPEC("a.b/c", "1") "' | tee etc/cdi/x.json >etc/cdi/y.json",
	  "warn", "cdi", "a.b/c=1 is in /etc/cdi/x.json and in /etc/cdi/y.json" },
	{ "healthy", "mkdir -p etc/cdi; echo '{\"cdiVersion\":\"0.5.0\",\"kind\":\"a.b/c\",\"devices\":"
	  "[{\"name\":\"1\"},{\"name\":\"2\"},{\"name\":\"1\"}]}' >etc/cdi/x.json", "warn", "cdi",
	  "a.b/c=1 is in /etc/cdi/x.json twice: container runtimes refuse the file: run the program that wrote the file again" },
	{ "healthy", "mkdir -p etc/cdi; echo '" SPEC("gpufabric.io/gpu", "old") "' >etc/cdi/x.json",
	  "warn", "cdi", "has old, which is neither a ready GPU" },
};

/* All that is said of a host as it was recorded. */
static const char *said(const char *host)
{
	size_t i;

	for (i = 0; i < 4 && names[i] && strcmp(names[i], host); i++)
		;
	if (i < 4 && !names[i]) {
		doctor(host, NULL);
		names[i] = mem_strdup(host);
		texts[i] = mem_strdup(text);
	}
	return texts[i];
}

/* A copy of what was looked at last: it says the same. */
static bool copy_says_the_same(const char *host)
{
	char *from = mem_printf("%s/%s", dir, host), *copy = mem_printf("%s/copy", dir);
	char *before = mem_strdup(text);
	struct fault fault = { "" };
	size_t files;
	bool same;

	shell("rm -rf %s", copy);
	same = !doctor_record(from, copy, "/etc/gpuctl", &files, &fault);
	doctor("copy", NULL);
	same = same && !strcmp(text, before);
	if (!same)
		printf("# %s: %s\n# not\n# %s\n", fault.text, text, before);
	free(before);
	free(from);
	free(copy);
	return same;
}

/* Files where other distributions, and admins, have them. */
static void other_places(void)
{
	static const char *const moved[] = {
		"mkdir -p lib; mv etc/udev lib",
		"mkdir -p run; mv etc/udev run; mkdir -p lib/udev; mv run/udev/hwdb.bin lib/udev",
		SYSTEMD "mkdir -p lib/systemd; mv " UNITS " lib/systemd",
		SYSTEMD "mv " UNITS "/gpufabric* run/systemd/system",
		SYSTEMD "touch " UNITS "/gpufabric-save.service; mkdir " UNITS "/gpufabric-changed.service.wants; "
			"ln -s ../gpufabric-save.service " UNITS "/gpufabric-changed.service.wants",
	};
	size_t i;

	for (i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
		is_int(shell("cd %s && rm -rf changed && cp -a healthy changed && cd changed && { %s; }",
			     dir, moved[i]), 0, moved[i]);
		doctor("changed", NULL);
		ok(copy_says_the_same("changed"), "a copy says the same");
	}
	shell("cd %s/changed && mkdir -p sys/module/gpufabric/parameters && "
	      "echo 10000:02:00.0 >sys/module/gpufabric/parameters/cards", dir);
	ok(copy_says_the_same("changed") &&
	   !shell("cmp %s/changed/sys/module/gpufabric/parameters/cards "
		  "%s/copy/sys/module/gpufabric/parameters/cards", dir, dir),
	   "which cards the admin has chosen is copied");
}

static void one_change_each(void)
{
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const struct change *c = &changes[i];
		const char *before;
		int ret;

		ret = shell("cd %s && rm -rf changed && cp -a %s changed && cd changed && { %s; }",
			    dir, c->host, c->command);
		is_int(ret, 0, c->command);
		/* What the host says as it is was looked at already. */
		before = said(c->host);
		free(text);
		text = mem_strdup(before);
		ok(!says(c->level, c->check, c->phrase), "%s %s: not said before: %s", c->level,
		   c->check, c->phrase);
		ret = doctor("changed", NULL);
		if (!ok(says(c->level, c->check, c->phrase), "%s %s: %s", c->level, c->check,
			c->phrase))
			printf("# %s\n", text);
		if (!strcmp(c->level, "FAIL"))
			is_int(ret, 1, "and that is a failure");
		ok(copy_says_the_same("changed"), "a copy says the same");
	}
	tap_counted("doctor.changes", i);
}

/* The hook that comes with gpuctl, under whatever name it was linked. */
static void test_persistence(void)
{
	is_int(shell("cd %s && rm -rf changed && cp -a healthy changed && cd changed && { " PERSISTENCE "; } && "
		     "echo 'hook 100755 0 /etc/gpuctl/hooks.d/pre-detach.d/50-nvidia' >permissions", dir), 0,
	       "a host with persistence mode and the hook for it");
	doctor("changed", NULL);
	ok(says("ok", "holders", "no driver keeps"), "has nothing to be warned of");
}

static void test_gpu(void)
{
	is_int(doctor("small-windows", "t4"), 0, "a small card needs nothing");
	ok(says("ok", "windows", "room for T4 in 4 of 4 slots"), "as is said");
	is_int(doctor("small-windows", "h100-pcie-80"), 1, "a larger one does");
	ok(says("FAIL", "windows", "pci=hpmmioprefsize=256G"), "less than the largest");
	is_int(doctor("qemu-switch", "t4"), 1, "windows of firmware are too small for any");
	ok(says("FAIL", "windows", "pci=hpmmioprefsize=512M,resource_alignment=20@0000:00:0"),
	   "for small ones it helps to forget them");
	is_int(doctor("healthy", "nonsense"), 2, "a card that nobody knows");
	is_int(doctor("nowhere", NULL), 1, "a copy that is not there");
	is_str(strstr(error, ": ") ? strstr(error, ": ") + 2 : NULL, "No such file or directory",
	       "is said to be so");
	shell("mkdir %s/empty", dir);
	is_int(doctor("empty", NULL), 1, "a directory that is no copy");
	ok(strstr(error, "has no tree of a host"), "says what is missing");
}

/* What is in a copy was written by others: links lead nowhere but into it. */
static void test_escape(void)
{
	shell("cd %s && rm -rf changed && cp -a healthy changed && mkdir -p changed/etc && "
	      "ln -sf ../../../../../../../../etc/hostname changed/proc/sys/kernel/osrelease", dir);
	is_int(doctor("changed", NULL), 1, "a link that leads out of a copy");
	ok(error && strstr(error, "has no tree of a host"), "leads nowhere");
	shell("cd %s && rm -rf changed && cp -a healthy changed && rm changed/dmesg && "
	      "mkfifo changed/dmesg", dir);
	is_int(doctor("changed", NULL), 0, "a FIFO in it holds nobody up");
}

static void test_parsers(void)
{
	const char *at = "Id=a\nLoadState=loaded\n\n\nActiveState=x\n\nId=b\nnonsense\nActiveState=failed";
	const char *lines = "nonsense\nhook 100755 0 /a b\npart 40755 12 /\n";
	struct permission p;
	struct klog log;
	struct unit unit;
	char size[24];

	ok(units_next(&at, &unit) && !strcmp(unit.id, "a") && !strcmp(unit.load, "loaded"),
	   "a unit");
	ok(units_next(&at, &unit) && !strcmp(unit.id, "b") && !strcmp(unit.active, "failed"),
	   "the next");
	ok(!units_next(&at, &unit), "no more");
	ok(permissions_next(&lines, &p) && p.kind == PERMISSION_HOOK && p.mode == 0100755 && !strcmp(p.path, "/a b"),
	   "a hook");
	ok(permissions_next(&lines, &p) && p.kind == PERMISSION_PART && p.uid == 12, "a part of its path");
	ok(!permissions_next(&lines, &p), "no more");
	klog_parse(&log, "[    0.000000] Linux version 6.1\n"
			 "<6>[    1.5] pci_bus 0000:80: root bus resource [mem 0x380000000000-0x387fffffffff window]\n"
			 "[    1.6] pci 0000:81:00.0: BAR 15: assigned [mem 0x38-0x39 64bit pref]\n"
			 "[    1.6] pcieport 0000:82:00.0: bridge window [mem 0x38-0x39 64bit pref]: assigned\n"
			 "[    1.6] pci 0000:83:00.0: bridge window [mem 0x38-0x39]: assigned\n"
			 "[    1.6] pci 0000:84:00.0: bridge window [mem 0x38-0x39 64bit pref]: assigned\n"
			 "[    1.7] acpi PNP0A08:00: _OSC: OS now controls [PCIeHotplug PME]\n");
	ok(log.complete && log.granted && !log.refused, "a log from the beginning, hot-plug granted");
	ok(log.n_windows == 1 && log.windows[0].bus == 0x80 &&
	   log.windows[0].range.end == 0x387fffffffff, "a host bridge's window");
	ok(klog_sized(&log, "0000:81:00.0") && klog_sized(&log, "0000:84:00.0"),
	   "windows that the kernel placed, as older and newer kernels say it");
	ok(!klog_sized(&log, "0000:82:00.0") && !klog_sized(&log, "0000:83:00.0"),
	   "not those of later, nor others");
	klog_free(&log);
	klog_parse(&log, "[    0.000000] kernel: Linux version 6.1\n"
			 "[    9.500000] kernel: pcieport 0000:01:00.0: pciehp: Slot(3): Link Down\n"
			 "[   12.500000] kernel: pcieport 0000:01:00.0: pciehp: Slot(3): Card present\n");
	ok(log.complete && log.n_dips == 1 && log.dips[0].count == 1, "as the journal has it");
	klog_free(&log);
	is_str(grow_size(size, 512ull << 30), "512G", "sizes as the kernel reads them");
	is_str(grow_size(size, (128ull << 30) + (32ull << 20)), "131104M", "odd ones");
	is_str(grow_size(size, 2ull << 40), "2T", "large ones");
}

/* Directories as an admin leaves them, read and judged. */
static void test_places(void)
{
	char *config = mem_printf("%s/config", dir), *is, *at, *next;
	static const char want[] =
		"place 40755 0 hooks.d\n"
		"place 0 0 hooks.d/away.d\n"
		"place 40755 0 hooks.d/pre-detach.d\n"
		"hook 0 0 hooks.d/pre-detach.d/10-gone\n"
		"hook 100755 0 hooks.d/pre-detach.d/20-there\n";
	struct text t = { 0 };

	is = permissions_read(config);
	is_str(is, "", "a host without hooks");
	free(is);
	shell("umask 022 && mkdir -p %s/hooks.d/pre-detach.d && cd %s/hooks.d && ln -s /nowhere away.d && "
	      "ln -s /nowhere pre-detach.d/10-gone && : >pre-detach.d/20-there && "
	      "chmod 755 pre-detach.d/20-there", config, config);
	is = permissions_read(config);
	for (at = is; *at; at = next) {
		char kind[8], path[256];
		unsigned int mode, uid;

		next = strchr(at, '\n') + 1;
		if (sscanf(at, "%7s %o %u %255s", kind, &mode, &uid, path) == 4 &&
		    strcmp(kind, "part"))
			text_add(&t, "%s %o %u %s\n", kind, mode, uid == geteuid() ? 0 : uid,
				 path + strlen(config) + 1);
	}
	is_str(t.text, want, "one with some, of which two lead nowhere");
	ok(strstr(is, "hooks.d/pre-detach.d/20-there\npart 100755 "), "with what a hook's path leads through");
	free(t.text);
	free(is);
	free(config);
}

/* What is as it should be is not said. */
static void quiet_ports(void)
{
	static const struct change quiet[] = {
		{ "healthy", DIP "true", "warn", "power-dips", "" },
		{ "healthy", UNPLUG UNPLUG UNPLUG "true", "warn", "power-dips", "" },
		{ "healthy", DIP DIP "sed -i 's/^.*pciehp: Slot/pcieport 10000:02:00.0: pciehp: Slot/' dmesg",
		  "warn", "power-dips", "" },
		{ "healthy", DIP "printf '[ 9.7] pcieport 10000:02:00.0: pciehp: Slot(100): Link Up\\n' >>dmesg",
		  "warn", "power-dips", "" },
		{ "qemu-switch", "echo Y >sys/module/gpufabric/parameters/root_ports", "note",
		  "root-ports", "" },
		{ "healthy", "mkdir -p sys/bus/thunderbolt/devices/0-1; echo 1 >sys/bus/thunderbolt/devices/0-1/authorized",
		  "warn", "thunderbolt", "" },
	};
	size_t i;

	for (i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
		is_int(shell("cd %s && rm -rf changed && cp -a %s changed && cd changed && { %s; }",
			     dir, quiet[i].host, quiet[i].command), 0, quiet[i].command);
		doctor("changed", NULL);
		ok(!says(quiet[i].level, quiet[i].check, ""), "nothing of %s", quiet[i].check);
	}
}

int main(void)
{
	if (!mkdtemp(dir)) {
		ok(false, "a temporary directory");
		return tap_done();
	}
	test_parsers();
	test_places();
	whole_hosts();
	one_change_each();
	other_places();
	quiet_ports();
	test_persistence();
	test_gpu();
	test_escape();
	shell("rm -rf %s", dir);
	for (size_t i = 0; i < 4; i++) {
		free(names[i]);
		free(texts[i]);
	}
	free(text);
	free(error);
	return tap_done();
}
