// SPDX-License-Identifier: GPL-2.0-only
/* How long planning takes: plan-time FILE... prints a JSON object a line; CPU time of one core. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/text.h"
#include "plan/file.h"

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static char *slurp(const char *name, size_t *len)
{
	FILE *f = fopen(name, "re");
	char *text;

	if (!f || fseek(f, 0, SEEK_END))
		exit(2);
	*len = (size_t)ftell(f);
	rewind(f);
	text = mem_zalloc(*len + 1, 1);
	if (fread(text, 1, *len, f) != *len)
		exit(2);
	fclose(f);
	return text;
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		struct plan_instance in;
		struct plan_solution s;
		struct fault fault = { "" };
		double start, took;
		size_t len;
		char *text = slurp(argv[i], &len);

		if (plan_read(&in, argv[i], text, len, &fault)) {
			fprintf(stderr, "%s\n", fault.text);
			return 2;
		}
		start = cpu_ms();
		if (plan_solve(&in, NULL, &s, &fault)) {
			fprintf(stderr, "%s\n", fault.text);
			return 2;
		}
		took = cpu_ms() - start;
		printf("{\"ms\":%.2f,\"cost\":%.6f,\"bound\":%.6f,\"base\":%.6f,\"gap\":%.6f,\"exact\":%s,\"sweeps\":%u}\n",
		       took, s.cost.total, s.bound, s.base, plan_gap(&s), s.exact ? "true" : "false",
		       s.sweeps);
		fflush(stdout);
		plan_solution_free(&s);
		plan_instance_free(&in);
		free(text);
	}
	return 0;
}
