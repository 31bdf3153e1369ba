#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What tests/summary makes of the counts and the groups: build/check.json.

set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"

# given NAME=CONTENT...: so many results, and what comes of them in check.json.
given()
{
	local file

	rm -rf "$work/r" "$work/check.json"
	mkdir "$work/r"
	for file; do
		printf '%b' "${file#*=}" >"$work/r/${file%%=*}.tap"
	done
	rc=0
	"$top/tests/summary" -j "$work/check.json" "$work/r" >"$work/out" 2>&1 || rc=$?
}

# json FILTER WANT "description"
json()
{
	report "$(jq -c "$1" "$work/check.json" 2>&1)" "$2" "$3"
}

given 'a=ok 1 - x\n# count fuzz.messages 300\nok 2 - y # SKIP why\n1..2\n' \
	'b=ok 1 - x\n# count fuzz.messages 12\nnot ok 2 - y\n# count leaks.cycles 0\n1..2\n' \
	'groups=ok 1 - vm came to its end\n# group vm 34 51.5\n# member vm a\n# member vm b\n# group unit 0\n1..1\n'
report "$rc" 1 "a failure is still the exit status"
json '[.passed, .failed, .skipped]' '[3,1,1]' "the totals"
json '.counts["fuzz.messages"]' '{"total":312,"files":{"a":300,"b":12}}' "a count of two files"
json '.counts["leaks.cycles"]' '{"total":0,"files":{"b":0}}' "a count of nothing is a count"
json '.counts | length' 2 "and no others"
json '.groups' '[{"name":"vm","seconds":34,"processor_seconds":51.5,"files":["a","b"]},{"name":"unit","seconds":0,"processor_seconds":0,"files":[]}]' \
	"groups, their seconds and files"
json '.files[] | select(.name == "a")' '{"name":"a","passed":1,"failed":0,"skipped":1}' "a file"
json '.files[] | select(.name == "b")' '{"name":"b","passed":1,"failed":1,"skipped":0}' "another file"
json '.version' "\"$(cat "$top/VERSION")\"" "the version"

given 'a=# count x 1\n# count x 2\nok 1 - x\n1..1\n'
json '.counts.x.total' 3 "a count that comes twice is added up"
report "$rc" 0 "and is no failure"

for bad in '# count x' '# count x 1.5' '# count x -1' '# count X 1' '# count x 1 2' '# count 9 1'; do
	given "a=ok 1 - x\n$bad\n1..1\n"
	report "$rc $(tail -n 1 "$work/out")" "1 1 passed, 1 failed" "no count: \"$bad\""
done

given 'a=ok 1 - x\n#   count x 1\n# counts x 1\n# we count 3\n1..1\n'
report "$rc $(jq -c .counts "$work/check.json")" "0 {}" "lines that only resemble a count"

given 'a=ok 1 - x\n# count vm.repeated 1\n1..1\n'
report "$rc $(head -n 1 "$work/out")" "0 TWICE a: failed when it ran first, see tests/vm/all" \
	"a case that passed at the second turn is named"

given 'a=' 'b=ok 1 - x\nok 2 - x\n'
json '[.files[] | {name, failed}]' '[{"name":"b","failed":1},{"name":"a","failed":1}]' \
	"a file that is empty or has no plan has failed"

echo "1..$count"
[ "$failed" -eq 0 ]
