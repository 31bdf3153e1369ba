// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/replace.c ctl/base/text.c
/*
 * Files that are replaced as a whole: mode, links, nothing left behind when it
 * fails, directories in which anybody could exchange them, and several who write
 * the same file at a time.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/text.h"
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

#define WRITERS 4
#define WRITES 40
#define LENGTH (96 << 10)

/* A text of one letter; whoever reads it knows that it is all of one. */
static char *text_of(char letter)
{
	char *text = mem_zalloc(LENGTH + 1, 1);

	memset(text, letter, LENGTH);
	return text;
}

/* Ends with the number of writes that failed. */
static void write_often(const char *file, char letter)
{
	char *text = text_of(letter);
	int i, failed = 0;

	for (i = 0; i < WRITES; i++) {
		int lock = replace_lock(file);

		failed += lock < 0 || replace_file(file, text, 0644);
		if (lock >= 0)
			close(lock);
	}
	free(text);
	_exit(failed);
}

/* What is there, has it the length and one letter throughout? */
static bool is_whole(const char *file)
{
	static char is[LENGTH + 2];
	FILE *f = fopen(file, "r");
	size_t n = f ? fread(is, 1, sizeof(is), f) : 0, i;

	if (f)
		fclose(f);
	for (i = 1; i < n && is[i] == is[0]; i++)
		;
	return n == LENGTH && i == n;
}

static void test_many(const char *file)
{
	char *text = text_of('x');
	int i, status, failed = 0, left = WRITERS, reads = 0, torn = 0;

	is_int(replace_file(file, text, 0644), 0, "a file that several write");
	free(text);
	for (i = 0; i < WRITERS; i++)
		if (!fork())
			write_often(file, (char)('a' + i));
	while (left) {
		torn += !is_whole(file);
		reads++;
		if (waitpid(-1, &status, WNOHANG) > 0) {
			left--;
			failed += !WIFEXITED(status) || WEXITSTATUS(status);
		}
	}
	is_int(failed, 0, "all of their writes succeed");
	is_int(torn, 0, "and a reader never finds half a file");
	is_int(entries(), 2, "nothing but the file and its lock is left");
	tap_counted("replace.reads", reads);
}

/* Does somebody wait for that lock? */
static bool is_waited_for(pid_t pid)
{
	char line[256], *want = mem_printf(" %d ", (int)pid);
	FILE *f = fopen("/proc/locks", "r");
	bool is = false;

	while (f && !is && fgets(line, sizeof(line), f))
		is = strstr(line, "-> FLOCK") && strstr(line, want);
	if (f)
		fclose(f);
	free(want);
	return is;
}

/* Who comes later waits, and what it writes then is what stays. */
static void test_order(const char *file)
{
	int lock = replace_lock(file), status;
	pid_t pid;

	ok(lock >= 0, "a lock");
	pid = fork();
	if (!pid) {
		close(lock);
		lock = replace_lock(file);
		_exit(lock < 0 || replace_file(file, "later\n", 0644));
	}
	while (!is_waited_for(pid) && !waitpid(pid, &status, WNOHANG))
		usleep(1000);
	ok(is_waited_for(pid), "another writer waits");
	is_int(replace_file(file, "first\n", 0644), 0, "who has it writes");
	close(lock);
	ok(waitpid(pid, &status, 0) == pid && !status, "then the other does");
	is_str(content(file), "later\n", "whose text stays");

	/* The kernel lets go for who is killed. */
	pid = fork();
	if (!pid) {
		replace_lock(file);
		kill(getpid(), SIGKILL);
	}
	ok(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "one is killed with the lock");
	lock = replace_lock(file);
	ok(lock >= 0, "the next one gets it");
	close(lock);
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

	test_many(file);
	test_order(file);
	free(sub);
	sub = in(".file.lock");
	ok(!unlink(sub) && !unlink(file), "all of it is removed");
	rmdir(dir);
	free(file);
	free(other);
	free(sub);
	return tap_done();
}
