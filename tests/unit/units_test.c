// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/base/units.c ctl/base/fault.c
/*
 * Sizes and counts as people write them: what is understood, to the byte, and
 * what is refused with a reason. And who says that there is no memory left: all programs share
 * base/.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "base/units.h"
#include "tap.h"

typedef int (*parse_fn)(const char *s, uint64_t *out, struct fault *f);

static void takes(parse_fn parse, const char *s, uint64_t want)
{
	struct fault f = { "" };
	uint64_t got = 0;
	int err = parse(s, &got, &f);

	ok(!err && got == want, "\"%s\" is %llu (got %llu %s)", s, (unsigned long long)want,
	   (unsigned long long)got, f.text);
}

static void refuses(parse_fn parse, const char *s, int code, const char *part)
{
	struct fault f = { "" };
	uint64_t got = 77;
	int err = parse(s, &got, &f);

	ok(err == -code && got == 77 && strstr(f.text, part), "\"%s\" is refused: %s", s, f.text);
}

static void sizes(void)
{
	takes(units_parse_bytes, "160G", 160ull << 30);
	takes(units_parse_bytes, "160GiB", 160ull << 30);
	takes(units_parse_bytes, "160GB", 160000000000ull);
	takes(units_parse_bytes, "160gb", 160000000000ull);
	takes(units_parse_bytes, "1.5TiB", 3ull << 39);
	takes(units_parse_bytes, "0.1G", 107374182);
	takes(units_parse_bytes, "1B", 1);
	takes(units_parse_bytes, "64k", 65536);
	takes(units_parse_bytes, "8191P", 8191ull << 50);

	refuses(units_parse_bytes, "70", EINVAL, "needs a unit");
	refuses(units_parse_bytes, "-1G", EINVAL, "not a size");
	refuses(units_parse_bytes, "+1G", EINVAL, "not a size");
	refuses(units_parse_bytes, "", EINVAL, "not a size");
	refuses(units_parse_bytes, "G", EINVAL, "not a size");
	refuses(units_parse_bytes, ".5G", EINVAL, "not a size");
	refuses(units_parse_bytes, "5.G", EINVAL, "not a size");
	refuses(units_parse_bytes, "1e999B", EINVAL, "no such unit");
	refuses(units_parse_bytes, "1e3G", EINVAL, "no such unit");
	refuses(units_parse_bytes, "0x10G", EINVAL, "no such unit");
	refuses(units_parse_bytes, "inf", EINVAL, "not a size");
	refuses(units_parse_bytes, "160G ", EINVAL, "no such unit");
	refuses(units_parse_bytes, " 160G", EINVAL, "not a size");
	refuses(units_parse_bytes, "160Gx", EINVAL, "no such unit");
	refuses(units_parse_bytes, "160 G", EINVAL, "no such unit");
	refuses(units_parse_bytes, "160Gb", EINVAL, "bits");
	refuses(units_parse_bytes, "160Gib", EINVAL, "bits");
	refuses(units_parse_bytes, "0G", EINVAL, "more than zero");
	refuses(units_parse_bytes, "0.5B", EINVAL, "not a whole number");
	refuses(units_parse_bytes, "8192P", ERANGE, "too large");
	refuses(units_parse_bytes, "99999999999999999999G", EINVAL, "not a size");
	refuses(units_parse_bytes, "18446744073709551615P", ERANGE, "too large");
	refuses(units_parse_bytes, "1.0000000001G", EINVAL, "not a size");
	refuses(units_parse_bytes, "1,5G", EINVAL, "no such unit");
}

static void counts(void)
{
	takes(units_parse_params, "70B", 70000000000ull);
	takes(units_parse_params, "70b", 70000000000ull);
	takes(units_parse_params, "1.5B", 1500000000);
	takes(units_parse_params, "350M", 350000000);
	takes(units_parse_params, "1T", 1000000000000ull);
	takes(units_parse_params, "8030261248", 8030261248ull);
	takes(units_parse_count, "4096", 4096);
	takes(units_parse_count, "15T", 15000000000000ull);
	takes(units_parse_context, "8K", 8192);
	takes(units_parse_context, "131072", 131072);
	takes(units_parse_context, "1M", 1048576);

	refuses(units_parse_params, "70", EINVAL, "did you mean 70B");
	refuses(units_parse_params, "1e999B", EINVAL, "not a number");
	refuses(units_parse_params, "-70B", EINVAL, "not a number");
	refuses(units_parse_params, "70GB", EINVAL, "not a number");
	refuses(units_parse_params, "0B", EINVAL, "more than zero");
	refuses(units_parse_params, "99999999999T", ERANGE, "too large");
	refuses(units_parse_context, "8.5", EINVAL, "not a whole number");
	refuses(units_parse_context, "8B", EINVAL, "not a number");
	refuses(units_parse_count, "", EINVAL, "not a number");
}

static void prints(void)
{
	char buf[UNITS_TEXT_MAX];

	is_str(units_gib(buf, 160ull << 30), "160.0 GiB", "GiB");
	is_str(units_gb(buf, 175000000000ull), "175.0 GB", "GB");
	is_str(units_count(buf, 70553706496ull), "70.55 B", "parameters");
	is_str(units_count(buf, 124439808), "124.4 M", "small model");
	is_str(units_grouped(buf, 70553706496ull), "70,553,706,496", "groups");
	is_str(units_grouped(buf, 999), "999", "one group");
	is_str(units_grouped(buf, UINT64_MAX), "18,446,744,073,709,551,615", "largest number");
}

/* As an allocator does that has no more. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void memory(void)
{
	char said[4096] = "";
	int fds[2], status = 0;
	size_t len = 0;
	ssize_t n;
	pid_t child;

	if (pipe(fds))
		return;
	fflush(stdout);
	child = fork();
	if (!child) {
		dup2(fds[1], STDERR_FILENO);
		mem_grow(NULL, SIZE_MAX / 2, 4);
		_exit(0);
	}
	close(fds[1]);
	while (len < sizeof(said) - 1 && (n = read(fds[0], said + len, sizeof(said) - 1 - len)) > 0)
		len += (size_t)n;
	close(fds[0]);
	waitpid(child, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE,
	   "without memory a program ends");
	ok(strstr(said, "units_test: out of memory"), "and says so by its own name");
}

int main(void)
{
	memory();
	sizes();
	counts();
	prints();
	return tap_done();
}
