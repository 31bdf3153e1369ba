#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# EpilogSlurmctld: slurmctld runs this when a job has ended, also on a node that died and that runs no Epilog. A job with
# GPUs of the pool has gpufabric-slurm-sync look at once, before their licences are given to the next job.

case ,${SLURM_JOB_LICENSES-} in
*,gf_*) ;;
*) exit 0 ;;
esac
# Where the daemon does not run, nobody needs to know for each job.
@sbin@/gpufabric-slurm-sync --wake 2>/dev/null || :
