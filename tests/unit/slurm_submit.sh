#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# job_submit.lua alone, in the versions of Lua that Slurm is built with; unit/slurm_jobs.py has it in slurmctld.

set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"

for lua in lua5.1 lua5.3 lua5.4; do
	folder=$work/$lua
	mkdir -p "$folder"
	# It reads the slurm.conf beside it.
	ln -s "$top/slurm/job_submit.lua" "$folder/job_submit.lua"
	GPUCTL=$folder/gpuctl GPUCTL_CONFIG_DIR=$folder "$lua" "$top/tests/slurm/submit.lua" "$folder/job_submit.lua" "$folder" \
		>"$folder.tap" 2>&1 || true
	grep -E '^(not ok|#)' "$folder.tap" || true
	report "$(grep -c '^ok' "$folder.tap") $(grep -c '^not ok' "$folder.tap") $(tail -n 1 "$folder.tap")" \
		"$(grep -cE '^(not )?ok' "$folder.tap") 0 1..$(grep -cE '^(not )?ok' "$folder.tap")" "$lua: cases, all as they should be"
	counted=$(grep -cE '^ok' "$folder.tap")
done
echo "# count slurm.submit $counted"

echo "1..$count"
exit $((failed > 0))
