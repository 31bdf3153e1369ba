// SPDX-License-Identifier: GPL-2.0-only
/* How long jobs may go on after their time limit. */
#include <errno.h>
#include <string.h>

#include "slurm/over_time.h"

int over_times_load(struct over_times *times)
{
	slurm_conf_t *conf = NULL;
	int err;

	memset(times, 0, sizeof(*times));
	if (slurm_load_ctl_conf(0, &conf))
		return -1;
	times->cluster = conf->over_time_limit;
	slurm_free_ctl_conf(conf);
	if (!slurm_load_partitions(0, &times->partitions, SHOW_ALL))
		return 0;
	err = errno;
	over_times_free(times);
	errno = err;
	return -1;
}

void over_times_free(struct over_times *times)
{
	if (times->partitions)
		slurm_free_partition_info_msg(times->partitions);
	memset(times, 0, sizeof(*times));
}

uint32_t over_time_of(const struct over_times *times, const char *partition)
{
	uint16_t minutes = NO_VAL16;
	uint32_t i;

	for (i = 0; partition && i < times->partitions->record_count; i++) {
		const partition_info_t *one = &times->partitions->partition_array[i];

		if (one->name && !strcmp(one->name, partition))
			minutes = one->over_time_limit;
	}
	if (minutes == NO_VAL16)
		minutes = times->cluster;
	return minutes == INFINITE16 ? OVER_TIME_OPEN : minutes;
}
