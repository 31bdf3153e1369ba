/* SPDX-License-Identifier: GPL-2.0-only */
/* How long jobs may go on after their time limit: OverTimeLimit= of partitions and of the cluster. */
#ifndef GPUFABRIC_SLURM_OVER_TIME_H
#define GPUFABRIC_SLURM_OVER_TIME_H

#include <stdint.h>

#include <slurm/slurm.h>

/* Until they end by themselves. */
#define OVER_TIME_OPEN UINT32_MAX

/**
 * struct over_times - of all partitions
 * @partitions: as the controller has them
 * @cluster: minutes where a partition says nothing, as Slurm has them
 */
struct over_times {
	partition_info_msg_t *partitions;
	uint16_t cluster;
};

/* Ask the controller: 0, or -1 with errno. */
int over_times_load(struct over_times *times);
void over_times_free(struct over_times *times);

/* In minutes, or OVER_TIME_OPEN. */
uint32_t over_time_of(const struct over_times *times, const char *partition);

#endif /* GPUFABRIC_SLURM_OVER_TIME_H */
