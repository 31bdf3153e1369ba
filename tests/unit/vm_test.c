// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/host/vm.c ctl/base/text.c
/*
 * Names of virtual machines: command lines of QEMU as libvirt, Proxmox and people write
 * them, and scopes of systemd-machined.
 */
#include <stdlib.h>

#include "base/text.h"
#include "host/vm.h"
#include "tap.h"

#define NONE "0::/user.slice/user-0.slice/session-1.scope\n"
#define SCOPE(name) "0::/machine.slice/machine-qemu" name ".scope/libvirt/emulator\n"

/* @words with blanks between them stand for arguments. */
static void names(const char *words, const char *cgroup, const char *want, const char *what)
{
	char *line = mem_strdup(words), *c, *name;
	size_t size = strlen(line) + 1;

	for (c = line; *c; c++)
		if (*c == ' ')
			*c = '\0';
	name = vm_name(line, size, cgroup);
	is_str(name, want, what);
	free(name);
	free(line);
}

static void test_command(void)
{
	char cut[] = "qemu-system-x86_64\0-name\0guest=train-a,deb";
	char *name;

	names("/usr/bin/qemu-system-x86_64 -name guest=train-a,debug-threads=on -S", NONE, "train-a",
	      "as libvirt starts it");
	names("qemu-system-x86_64 -m 4G -name vm1", NONE, "vm1", "the name alone");
	names("/usr/bin/kvm -id 100 -name train-b,debug-threads=on", NONE, "train-b",
	      "the name first, as Proxmox has it");
	names("qemu-kvm --name process=x,guest=c", NONE, "c", "the name last");
	names("qemu-kvm -name guest=a,,b,process=x", NONE, "a,b", "a comma in a name is doubled");
	names("qemu-kvm -name process=x", NONE, NULL, "other properties are no name");
	names("qemu-kvm -m 4G", NONE, NULL, "no name at all");
	names("qemu-kvm -name", NONE, NULL, "nothing behind -name");
	names("find / -name vm1", NONE, NULL, "other programs have a -name, too");
	names("", NONE, NULL, "no command line");
	/* As much as was read of a long one. */
	name = vm_name(cut, sizeof(cut) - 1, NONE);
	is_str(name, NULL, "half a name is none");
	free(name);
}

static void test_scope(void)
{
	names("other", SCOPE("\\x2d1\\x2dtrain\\x2da"), "train-a", "the scope of a guest");
	names("other", "12:devices:/machine.slice/machine-qemu\\x2d12\\x2db.scope\n", "b",
	      "in the first hierarchy, of number 12");
	names("/usr/bin/qemu-system-x86_64 -name guest=whole-name", SCOPE("\\x2d1\\x2dwhole\\x2dna"), "whole-name",
	      "where both tell, the command line has it whole");
	names("other", "0::/machine.slice/machine-lxc\\x2d1\\x2dc.scope\n", NULL, "a container is none");
	names("other", SCOPE(""), NULL, "a scope without a name");
	names("other", SCOPE("\\x2d1"), NULL, "or with a number alone");
	names("other", SCOPE("\\x2d1\\x2da\\x1bb"), "a?b", "nothing plays with the terminal");
	names("other", "", NULL, "no control group");
}

int main(void)
{
	test_command();
	test_scope();
	return tap_done();
}
