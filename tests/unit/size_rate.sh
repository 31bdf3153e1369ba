#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# before: make -s build/size-rate
#
# Of files of hundreds of megabytes only headers are read, as a stream: the memory that it
# takes is bounded, and asserted; how long it takes is printed.

set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"
cd "$top" || exit 1

build/size-rate ctl/catalogue "$work" >"$work/rate"
report $? 0 "both files are read"
sed 's/^/# /' "$work/rate"

# figure FILE REGEX-WITH-GROUP: a number of the line about it
figure()
{
	sed -nE "s/^$1: .*$2.*/\\1/p" "$work/rate"
}

for file in 1000-shards.index.json 200-MB-header.gguf; do
	kib=$(figure "$file" '[^0-9]([0-9]+) KiB of memory')
	report "$((${kib:-0} > 0 && ${kib:-0} * 1024 < 20000000))" 1 "$file takes less than 20 MB"
	echo "# count size.${file##*.}.peak-kib ${kib:-0}"
	echo "# count size.${file##*.}.header-us $(figure "$file" 'in ([0-9.]+) ms' | awk '{ print int($1 * 1000) }')"
done
report "$(figure 1000-shards.index.json ' ([0-9]+) bytes of tensors')" 1342177280000 "bytes of the index"
report "$(figure 200-MB-header.gguf ' ([0-9]+) bytes of tensors')" 1024 "bytes of the GGUF file"
report "$(figure 1000-shards ' ([0-9]+) bytes of tensors')" 125829120000 "bytes of a thousand shards"
mb=$(sed -nE 's/^200-MB-header.gguf: ([0-9]+)\..*/\1/p' "$work/rate")
report "$((${mb:-0} >= 200))" 1 "its header has 200 MB"

echo "1..$count"
[ "$failed" -eq 0 ]
