// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/lib/replace.c ctl/lib/text.c
/*
 * Files that are replaced as a whole: mode, links, nothing left behind when it
 * fails, and directories in which anybody could exchange them.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/replace.h"
#include "lib/text.h"
#include "tap.h"

static char dir[] = "/tmp/replace_test.XXXXXX";

static char *in(const char *name)
{
	return mem_printf("%s/%s", dir, name);
}

static const char *content(const char *path)
{
	static char buf[64];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(buf, 1, sizeof(buf) - 1, f) : 0;

	if (f)
		fclose(f);
	buf[n] = '\0';
	return buf;
}

static int entries(void)
{
	struct dirent *entry;
	DIR *d = opendir(dir);
	int n = 0;

	while (d && (entry = readdir(d)))
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	if (d)
		closedir(d);
	return n;
}

static void test_replace(const char *file, const char *other)
{
	struct stat st;

	umask(0077);
	is_int(replace_file(file, "one\n", 0644), 0, "a new file");
	is_str(content(file), "one\n", "has the text");
	ok(!stat(file, &st) && (st.st_mode & 07777) == 0644, "and the mode, whatever the umask");
	is_int(replace_file(file, "", 0644), 0, "it can become empty");
	is_str(content(file), "", "and is");
	is_int(entries(), 1, "nothing else was left");

	ok(!symlink(file, other), "a link in its place");
	is_int(replace_file(other, "two\n", 0600), 0, "is replaced");
	is_str(content(file), "", "and not followed");
	ok(!lstat(other, &st) && S_ISREG(st.st_mode), "it is a file now");
}

static void test_refused(const char *file)
{
	char *missing = in("missing/file"), *slash = in("");

	is_int(replace_file(missing, "x", 0644), -ENOENT, "no directory");
	is_int(replace_file(slash, "x", 0644), -EISDIR, "no name");
	is_int(entries(), 2, "nothing was left");
	if (!geteuid()) {
		ok(!chmod(dir, 0777), "a directory for everybody");
		is_int(replace_file(file, "x", 0644), -EXDEV, "is none for root's files");
		is_int(replace_remove(file), -EXDEV, "nor are they removed there");
		ok(!chmod(dir, 01777), "one with the sticky bit");
		is_int(replace_file(file, "x", 0644), 0, "is");
		ok(!chmod(dir, 0700), "as before");
	}
	free(missing);
	free(slash);
}

int main(void)
{
	char *file, *other, *sub;

	if (!mkdtemp(dir))
		return 1;
	file = in("file");
	other = in("other");
	sub = in("sub");
	test_replace(file, other);
	test_refused(file);

	ok(!mkdir(sub, 0755), "a directory where the file should be");
	ok(replace_file(sub, "x", 0644) < 0, "is an error");
	is_int(entries(), 3, "that leaves nothing");
	ok(!rmdir(sub), "not even in the directory");

	is_int(replace_remove(file), 0, "a file is removed");
	is_int(replace_remove(file), 0, "once more is no error");
	is_int(replace_remove(other), 0, "nor is the other");
	is_int(entries(), 0, "all are gone");
	rmdir(dir);
	free(file);
	free(other);
	free(sub);
	return tap_done();
}
