// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: names of virtual machines
 *
 * Who looks for the holder of a GPU knows the guest by its name, not the process by its
 * number. QEMU's command line has it whole. Where that cannot be read, or somebody else
 * than QEMU is at work, the scope that systemd-machined made has it, escaped and cut.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/vm.h"

#define SCOPE "machine-qemu"
#define GUEST "guest="

/* The argument behind -name, NULL without one. */
static const char *name_argument(const char *cmdline, size_t size)
{
	const char *end = cmdline + size, *word = cmdline, *next;
	bool named = false;

	for (; word < end; word = next + 1) {
		next = memchr(word, '\0', (size_t)(end - word));
		/* The last one may be cut: half a name is none. */
		if (!next)
			return NULL;
		if (named)
			return word;
		named = !strcmp(word, "-name") || !strcmp(word, "--name");
	}
	return NULL;
}

static bool is_qemu(const char *cmdline, size_t size)
{
	const char *end = memchr(cmdline, '\0', size), *c, *program = cmdline;

	for (c = cmdline; end && c < end; c++)
		if (*c == '/')
			program = c + 1;
	return end && (!strncmp(program, "qemu", 4) || !strcmp(program, "kvm"));
}

/* The end of one of QEMU's properties: a comma that is not doubled. */
static const char *property_end(const char *c)
{
	for (; *c; c++) {
		if (*c != ',')
			continue;
		if (c[1] != ',')
			return c;
		c++;
	}
	return c;
}

/* "guest=NAME,debug-threads=on" or "NAME,..."; commas of the name are doubled. */
static char *guest_of(const char *argument)
{
	const char *at = argument, *end, *c;
	char *name, *to;

	for (;; at = end + 1) {
		end = property_end(at);
		if (!strncmp(at, GUEST, strlen(GUEST))) {
			at += strlen(GUEST);
			break;
		}
		/* The first may do without its key. */
		if (at == argument && !memchr(at, '=', (size_t)(end - at)))
			break;
		if (!*end)
			return NULL;
	}
	name = mem_zalloc((size_t)(end - at) + 1, 1);
	for (c = at, to = name; c < end; c++) {
		*to++ = *c;
		c += *c == ',';
	}
	return name;
}

static int vm_hex_of(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* "machine-qemu\x2d1\x2dNAME.scope" among the parts of a path. */
static char *scope_of(const char *cgroup)
{
	const char *at = strstr(cgroup, "/" SCOPE), *end, *c;
	char *name, *to, *dash;

	if (!at)
		return NULL;
	at += strlen("/" SCOPE);
	end = at + strcspn(at, "/\n");
	if (end - at < 6 || strncmp(end - 6, ".scope", 6))
		return NULL;
	end -= 6;
	name = mem_zalloc((size_t)(end - at) + 1, 1);
	for (c = at, to = name; c < end; c++) {
		if (end - c >= 4 && c[0] == '\\' && c[1] == 'x' && isxdigit((unsigned char)c[2]) &&
		    isxdigit((unsigned char)c[3])) {
			*to++ = (char)(vm_hex_of(c[2]) << 4 | vm_hex_of(c[3]));
			c += 3;
		} else {
			*to++ = *c;
		}
	}
	/* "-1-NAME": libvirt numbers its guests. */
	dash = name[0] == '-' ? strchr(name + 1, '-') : NULL;
	if (!dash || !dash[1]) {
		free(name);
		return NULL;
	}
	memmove(name, dash + 1, strlen(dash + 1) + 1);
	return name;
}

char *vm_name(const char *cmdline, size_t size, const char *cgroup)
{
	const char *argument = is_qemu(cmdline, size) ? name_argument(cmdline, size) : NULL;
	char *name = argument ? guest_of(argument) : NULL;

	if (!name || !*name) {
		free(name);
		name = scope_of(cgroup);
	}
	if (name)
		text_tame(name, false);
	return name;
}
