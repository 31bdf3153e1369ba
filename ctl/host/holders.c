// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: holders
 *
 * The open files and the mappings of every process are compared with the
 * device numbers of a GPU's nodes. The number is what counts, not the name:
 * a container may see the node under another one. A file of sysfs that maps
 * a BAR has no device number and is recognised by its path. A file that is only named (O_PATH)
 * is not open. A guest is named, where its process tells the name.
 *
 * The answer is a snapshot. A detach scans twice, before and after the slot is
 * drained, and the module never assumes that a driver lets go.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text.h"
#include "host/devnodes.h"
#include "host/holders.h"
#include "host/kernel_holders.h"
#include "host/process.h"
#include "host/vfs.h"
#include "host/vm.h"

#define COMMAND_MAX 40

const struct holders_roots holders_system = { "/proc", "/sys" };

/**
 * struct scan - one search
 * @roots: where to look
 * @slots: slots whose GPUs are looked for
 * @n_slots: how many
 * @nodes: their device nodes
 * @holders: the result
 * @pid: process that is looked at
 * @proc: its directory, or that of one of its threads
 */
struct scan {
	const struct holders_roots *roots;
	const struct gf_slot *const *slots;
	size_t n_slots;
	struct devnodes nodes;
	struct holders *holders;
	pid_t pid;
	int proc;
};

/* The whole of a small file of the process, NULs turned to blanks. */
static size_t read_small(int dir, const char *name, char *buf, size_t size)
{
	size_t n = process_read(dir, name, buf, size), i;

	for (i = 0; i < n; i++)
		if (!buf[i])
			buf[i] = ' ';
	while (n && (buf[n - 1] == ' ' || buf[n - 1] == '\n'))
		buf[--n] = '\0';
	return n;
}

/* Command line without the directories of its first word; other users' bytes stay harmless. */
static char *process_command(int proc)
{
	char buf[512];
	char *start = buf, *slash, *c;

	if (!read_small(proc, "cmdline", buf, sizeof(buf)))
		read_small(proc, "comm", buf, sizeof(buf));
	for (slash = buf; *slash && *slash != ' '; slash++)
		if (*slash == '/')
			start = slash + 1;
	for (c = start; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	if (strlen(start) > COMMAND_MAX)
		strcpy(start + COMMAND_MAX - 3, "...");
	return mem_strdup(start);
}

/* A virtual machine, else the last part of the control group: a unit, a scope, a container. */
static char *process_where(int proc)
{
	char buf[4096], command[4096];
	char *line, *rest = buf, *path = NULL, *last, *c, *vm;
	size_t hex, n;

	read_small(proc, "cgroup", buf, sizeof(buf));
	n = process_read(proc, "cmdline", command, sizeof(command));
	vm = vm_name(command, n, buf);
	if (vm) {
		last = mem_printf("VM %s", vm);
		free(vm);
		return last;
	}
	while ((line = strsep(&rest, "\n")))
		if (!path || !strncmp(line, "0::", 3))
			path = strrchr(line, ':');
	if (!path || !*path)
		return mem_strdup("-");
	last = strrchr(path, '/');
	if (!last || !last[1])
		return mem_strdup("-");
	last++;
	/* A container's id is long and its beginning tells enough. */
	for (c = last; *c; c++) {
		hex = strspn(c, "0123456789abcdef");
		if (hex >= 64) {
			c[12] = '\0';
			break;
		}
	}
	return mem_strdup(last);
}

static struct holder *holder_of(struct scan *s, size_t slot)
{
	struct holder *holder;
	struct stat st;
	size_t i;

	for (i = s->holders->n; i-- > 0;)
		if (s->holders->items[i].pid == s->pid &&
		    s->holders->items[i].slot == s->slots[slot]->name)
			return &s->holders->items[i];
	s->holders->items = mem_grow(s->holders->items, s->holders->n + 1, sizeof(*holder));
	holder = &s->holders->items[s->holders->n++];
	memset(holder, 0, sizeof(*holder));
	holder->slot = s->slots[slot]->name;
	holder->pid = s->pid;
	if (!fstat(s->proc, &st))
		holder->uid = st.st_uid;
	holder->command = process_command(s->proc);
	holder->where = process_where(s->proc);
	return holder;
}

/* Add a path to a holder, once. */
static void hold(struct scan *s, size_t slot, const char *path, uint64_t mapped)
{
	struct holder *holder = holder_of(s, slot);
	const char *found = holder->paths ? strstr(holder->paths, path) : NULL;
	size_t len = strlen(path);
	char *paths;

	holder->mapped += mapped;
	while (found && found[len] && found[len] != ',')
		found = strstr(found + 1, path);
	if (found)
		return;
	paths = holder->paths ? mem_printf("%s, %s", holder->paths, path) : mem_strdup(path);
	free(holder->paths);
	holder->paths = paths;
}

/* Has the process memory on this GPU? The kfd tells by process. */
static bool uses_kfd_gpu(const struct scan *s, unsigned int gpu_id)
{
	char *path =
		mem_printf("%s/class/kfd/kfd/proc/%d/vram_%u", s->roots->sys, (int)s->pid, gpu_id);
	char text[32];

	read_small(AT_FDCWD, path, text, sizeof(text));
	free(path);
	return strtoull(text, NULL, 10) > 0;
}

/*
 * Of an open file: O_PATH only names it, as udev does to set its owner, and opens no device. Of a
 * file that can be read or written the driver is not asked: it answers fdinfo, and may hang.
 */
static bool holders_is_name(const struct scan *s, const char *fd)
{
	char *link = mem_printf("fd/%s", fd), *info = mem_printf("fdinfo/%s", fd), buf[256] = "";
	const char *flags;
	struct stat st;

	if (!fstatat(s->proc, link, &st, AT_SYMLINK_NOFOLLOW) && !(st.st_mode & 0600))
		process_read(s->proc, info, buf, sizeof(buf));
	free(link);
	free(info);
	flags = strstr(buf, "flags:");
	return flags && strtoul(flags + strlen("flags:"), NULL, 8) & O_PATH;
}

/* @fd: the number of the open file, NULL for a mapping */
static void holders_check_number(struct scan *s, bool block, dev_t rdev, const char *fd,
				 uint64_t mapped)
{
	size_t i;

	for (i = 0; i < s->nodes.n; i++) {
		const struct devnode *node = &s->nodes.items[i];

		if (node->rdev != rdev || node->block != block)
			continue;
		if (node->shared && !uses_kfd_gpu(s, node->gpu_id))
			continue;
		if (fd && holders_is_name(s, fd))
			return;
		hold(s, node->slot, node->name, mapped);
	}
}

/*
 * resource1, or resource1_wc: a BAR. The file resource and resource1_resize are texts, which lspci
 * and gpuctl read, and who has one of them open holds nothing.
 */
static bool is_bar(const char *name)
{
	static const char resource[] = "resource";
	const char *number = name + strlen(resource), *end;

	if (strncmp(name, resource, strlen(resource)))
		return false;
	end = number + strspn(number, "0123456789");
	/* "resource1 (deleted)" is mapped of a card that was pulled. */
	return end != number && (!*end || *end == ' ' || !strncmp(end, "_wc", 3));
}

/* ".../0000:41:00.0/resource1" of one of the functions? */
static void check_resource(struct scan *s, const char *path, const char *fd, uint64_t mapped)
{
	const char *file = strrchr(path, '/');
	size_t i, j;

	if (!file || !is_bar(file + 1))
		return;
	for (i = 0; i < s->n_slots; i++) {
		for (j = 0; j < s->slots[i]->n_functions; j++) {
			const char *address = s->slots[i]->functions[j].address;
			size_t len = address ? strlen(address) : 0;

			if (!len || (size_t)(file - path) < len + 1 ||
			    file[-(ptrdiff_t)len - 1] != '/' || strncmp(file - len, address, len))
				continue;
			if (fd && holders_is_name(s, fd))
				return;
			hold(s, i, file - len, mapped);
		}
	}
}

static void scan_files(struct scan *s)
{
	int dir = openat(s->proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *entry;
	DIR *d = dir >= 0 ? fdopendir(dir) : NULL;

	if (!d) {
		if (dir >= 0)
			close(dir);
		s->holders->unreadable++;
		return;
	}
	while ((entry = readdir(d))) {
		char target[PATH_MAX];
		struct statx st;
		ssize_t n;

		if (entry->d_name[0] == '.')
			continue;
		/* Never wait for a server: only the device number matters. */
		if (!statx(dirfd(d), entry->d_name, AT_STATX_DONT_SYNC, STATX_TYPE, &st) &&
		    (S_ISCHR(st.stx_mode) || S_ISBLK(st.stx_mode))) {
			holders_check_number(s, S_ISBLK(st.stx_mode),
					     makedev(st.stx_rdev_major, st.stx_rdev_minor),
					     entry->d_name, 0);
			continue;
		}
		n = readlinkat(dirfd(d), entry->d_name, target, sizeof(target) - 1);
		if (n > 0) {
			target[n] = '\0';
			check_resource(s, target, entry->d_name, 0);
		}
	}
	closedir(d);
}

/* The node behind a mapping, by its range; by its path where that is not permitted. */
static void check_mapping(struct scan *s, const char *range, const char *path, uint64_t size)
{
	char *file = mem_printf("map_files/%s", range);
	struct statx st;
	int err;

	err = statx(s->proc, file, AT_STATX_DONT_SYNC, STATX_TYPE, &st);
	free(file);
	if (err) {
		file = mem_printf("root%s", path);
		err = statx(s->proc, file, AT_STATX_DONT_SYNC, STATX_TYPE, &st);
		free(file);
	}
	if (!err && S_ISCHR(st.stx_mode))
		holders_check_number(s, false, makedev(st.stx_rdev_major, st.stx_rdev_minor), NULL,
				     size);
	else
		check_resource(s, path, NULL, size);
}

static void scan_mappings(struct scan *s)
{
	int fd = openat(s->proc, "maps", O_RDONLY | O_CLOEXEC);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	char *line = NULL;
	size_t size = 0;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (getline(&line, &size, f) > 0) {
		unsigned long long from, to;
		char range[64];
		int at = 0;

		if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %n", &from, &to, &at) != 2 || !at ||
		    line[at] != '/')
			continue;
		line[strcspn(line, "\n")] = '\0';
		/* Libraries and plain files are the bulk, and never a device. */
		if (strncmp(line + at, "/dev/", 5) && strncmp(line + at, "/sys/", 5))
			continue;
		snprintf(range, sizeof(range), "%llx-%llx", from, to);
		check_mapping(s, range, line + at, to - from);
	}
	free(line);
	fclose(f);
}

static void scan_process(struct scan *s, int dir, const char *name)
{
	s->proc = process_open(dir, name);
	if (s->proc < 0)
		return;
	scan_files(s);
	scan_mappings(s);
	close(s->proc);
}

/* Who has a virtual function holds the GPU that it is a part of. */
static void add_nodes(struct scan *s, const struct gf_function *function, size_t slot)
{
	struct gf_function *vfs;
	size_t n, i;

	devnodes_add(&s->nodes, s->roots->proc, function, slot);
	if (!function->address)
		return;
	vfs = vfs_of(s->roots->sys, function->address, &n);
	for (i = 0; i < n; i++)
		devnodes_add(&s->nodes, s->roots->proc, &vfs[i], slot);
	vfs_free(vfs, n);
}

void holders_scan(const struct holders_roots *roots, const struct gf_slot *const *slots, size_t n,
		  struct holders *holders)
{
	struct scan s = { .roots = roots, .slots = slots, .n_slots = n, .holders = holders };
	struct dirent *entry;
	size_t i, j;
	DIR *d;

	memset(holders, 0, sizeof(*holders));
	for (i = 0; i < n; i++)
		for (j = 0; j < slots[i]->n_functions; j++)
			/* What hangs below a bridge are functions of the card that come as well. */
			if (!gf_is_bridge(&slots[i]->functions[j]))
				add_nodes(&s, &slots[i]->functions[j], i);
	d = opendir(roots->proc);
	while (d && (entry = readdir(d))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (*end || pid <= 0 || pid == (long)getpid())
			continue;
		s.pid = (pid_t)pid;
		scan_process(&s, dirfd(d), entry->d_name);
	}
	if (d)
		closedir(d);
	devnodes_free(&s.nodes);
	kernel_holders(roots, slots, n, holders);
}

bool holders_has(const struct holders *holders, const char *slot)
{
	size_t i;

	for (i = 0; i < holders->n && strcmp(holders->items[i].slot, slot);)
		i++;
	return i < holders->n;
}

void holders_free(struct holders *holders)
{
	size_t i;

	for (i = 0; i < holders->n; i++) {
		free(holders->items[i].command);
		free(holders->items[i].where);
		free(holders->items[i].paths);
	}
	free(holders->items);
	memset(holders, 0, sizeof(*holders));
}

void holders_render(struct out *out, const struct holders *holders)
{
	static const struct out_column columns[] = {
		{ "slot", "SLOT" },   { "pid", "PID", OUT_RIGHT }, { "uid", NULL },
		{ "user", "USER" },   { "command", "COMMAND" },	   { "where", "WHERE" },
		{ "paths", "HOLDS" }, { "mapped", NULL },	   { NULL, NULL },
	};
	struct out_table *t = out_table(out, "holders", columns, OUT_TABLE);
	size_t i;

	for (i = 0; i < holders->n; i++) {
		const struct holder *holder = &holders->items[i];
		const struct passwd *user = holder->pid ? getpwuid(holder->uid) : NULL;
		char size[TEXT_QUANTITY];

		out_row(t);
		out_str(t, "slot", holder->slot);
		if (holder->pid) {
			out_int(t, "pid", holder->pid);
			out_uint(t, "uid", holder->uid);
			if (user)
				out_str(t, "user", user->pw_name);
			else
				out_text(t, "user", "%u", holder->uid);
		}
		out_str(t, "command", holder->command);
		out_str(t, "where", holder->where);
		out_str(t, "paths", holder->paths);
		out_bytes(t, "mapped", holder->mapped);
		if (holder->mapped)
			out_text(t, "paths", "%s, %s mapped", holder->paths,
				 text_bytes(size, holder->mapped));
	}
}

static bool is_among(const struct gf_slot *slot, const struct gf_slot *const *slots, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (slots[i]->id == slot->id)
			return true;
	return false;
}

static bool shares_driver(const struct gf_slot *slot, const struct gf_slot *const *slots, size_t n)
{
	const struct gf_function *own = NULL, *other;
	size_t i;

	while ((own = gf_gpu_next(slot, own)))
		for (i = 0; own->driver && i < n; i++)
			for (other = NULL; (other = gf_gpu_next(slots[i], other));)
				if (other->driver && !strcmp(own->driver, other->driver))
					return true;
	return false;
}

char *holders_at_risk(const struct gf_fabric *fabric, const struct gf_slot *const *slots, size_t n)
{
	struct text text = { 0 };
	size_t i;

	for (i = 0; i < fabric->n_slots; i++) {
		const struct gf_slot *slot = &fabric->slots[i];

		if (!is_among(slot, slots, n) && shares_driver(slot, slots, n))
			text_join(&text, ", ", slot->name);
	}
	return text.text;
}
