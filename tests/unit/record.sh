#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What tests/record keeps of long runs, and puts into build/check.json.

set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"
export GPUFABRIC_BUILD=$work/build
mkdir -p "$GPUFABRIC_BUILD"

json()
{
	report "$(jq -c "$1" "$GPUFABRIC_BUILD/check.json" 2>&1)" "$2" "$3"
}

"$top/tests/record"
report "$(ls "$GPUFABRIC_BUILD")" "" "nothing kept, nothing written"
printf '# count fuzz.messages 7\r\nok 1 - x\n# counts no 3\n# count fuzz.messages 2\n# note fuzz.seed 21\n' >"$work/log"
"$top/tests/record" fuzz "$work/log"
json '.long.fuzz | [.counts, .notes]' '[{"fuzz.messages":9},{"fuzz.seed":"21"}]' "counts of a run, before any check"
echo '{"passed":3,"counts":{}}' >"$GPUFABRIC_BUILD/check.json"
"$top/tests/record"
json '[.passed, .long.fuzz.counts["fuzz.messages"]]' '[3,9]' "beside those of a check that came later"
printf '# count storms.cycles 5\n' >"$work/log"
"$top/tests/record" storms "$work/log"
json '.long | keys' '["fuzz","storms"]' "of several runs"
printf '# count fuzz.messages 1\n' >"$work/log"
"$top/tests/record" fuzz "$work/log"
json '.long.fuzz.counts' '{"fuzz.messages":1}' "a run that is made again replaces itself"

echo "1..$count"
[ "$failed" -eq 0 ]
