#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Several fabric managers are asked at the same time: here each answers when the other was
# asked, too. The programs of the drivers are replaced.
#
# before: make -s gpuctl

set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GPUCTL_CONFIG_DIR=$work/config
count=0
failed=0

is()
{
	count=$((count + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $count - $3"
		return
	fi
	failed=1
	printf 'not ok %d - %s\n#   expected: %s\n#   but is:   %s\n' "$count" "$3" "$2" "$1"
}

# It says that it was asked, and waits for the other.
driver()
{
	cat >"$work/build/fabric-$1" <<-END
		#!/bin/bash
		cat >/dev/null
		echo >"$work/$2" &
		read -r _ <"$work/$1"
		echo '$3'
	END
	chmod 755 "$work/build/fabric-$1"
}

manager()
{
	printf 'driver = %s\nurl = https://%s.example\nhost = here\ncredentials = %s\nports = %s\ntimeout = 5s\n' \
		"$2" "$1" "$work/login" "$3" >"$GPUCTL_CONFIG_DIR/fabric.d/$1.conf"
}

gpu()
{
	echo "{\"exit\":0,\"inventory\":{\"gpus\":[{\"id\":\"$1\",\"state\":\"free\",\"model\":\"h100-80\"}],\"ports\":[]}}"
}

mkdir -p "$work/build" "$work/ctl" "$GPUCTL_CONFIG_DIR/fabric.d"
cp "${GPUFABRIC_BUILD:-$top/build}/gpuctl" "$work/build/"
ln -s "$top/ctl/catalogue" "$work/ctl/catalogue"
printf 'user = here\npassword = x\n' >"$work/login"
chmod 600 "$work/login"
mkfifo "$work/redfish" "$work/liqid"
driver redfish liqid "$(gpu gpu1)"
driver liqid redfish "$(gpu gpu2)"
manager one redfish 100=sw0/100
manager two liqid 101
rc=0
rows=$("$work/build/gpuctl" -j fabric list 2>"$work/error") || rc=$?
is "$rc $(cat "$work/error")" "0 " "two managers that wait for each other answer"
is "$(jq -rc '[.pool[] | .gpu, .manager]' <<<"$rows")" '["gpu1","one","gpu2","two"]' "each with its GPU, in the order of their names"

# One that fails leaves the other's answer.
driver liqid redfish '{"exit":1,"error":"fabric manager two: cannot reach it"}'
rc=0
rows=$("$work/build/gpuctl" -j fabric list 2>"$work/error") || rc=$?
is "$rc" 1 "one that fails is the exit code"
is "$(head -n 1 "$work/error")" "gpuctl: warning: fabric manager two: cannot reach it" "and is warned of"
is "$(jq -rc '[.pool[].gpu], [.managers[] | .error // "-"]' <<<"$rows")" $'["gpu1"]\n["-","fabric manager two: cannot reach it"]' \
	"the other's GPUs are listed"
echo "1..$count"
exit "$failed"
