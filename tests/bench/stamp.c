// SPDX-License-Identifier: GPL-2.0-only
/* Puts the monotonic clock before each line, as it comes. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(void)
{
	struct timespec now;
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		printf("%lld.%06ld %s", (long long)now.tv_sec, now.tv_nsec / 1000, line);
		fflush(stdout);
	}
	free(line);
	return 0;
}
