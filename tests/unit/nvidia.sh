#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The hook nvidia: whether persistence mode is as it was when a GPU stays, with an nvidia-smi that
# keeps the mode and the UUID of the card at an address as files.

set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"

mkdir "$work/bin" "$work/run"
# $work is expanded when it runs.
cat >"$work/bin/nvidia-smi" <<'END'
#!/bin/bash
echo "$*" >>"$work/log"
[ ! -e "$work/dead" ] || exit 1
case $* in
*--query-gpu=persistence_mode*) cat "$work/mode" ;;
*--query-gpu=uuid,persistence_mode*) echo "$(cat "$work/uuid"), $(cat "$work/mode")" ;;
*"-pm 0") echo Disabled >"$work/mode" ;;
*"-pm 1") echo Enabled >"$work/mode" ;;
drain*) [ ! -e "$work/refuses" ] ;;
esac
END
chmod +x "$work/bin/nvidia-smi"
export work

hook()
{
	env -i work="$work" PATH="$work/bin:$PATH" GPUCTL_RUN_DIR="$work/run" GPUFABRIC_VENDOR="${2-10de}" \
		GPUFABRIC_ADDRESS=0000:41:00.0 "$top/ctl/hooks/nvidia" "$1" 2>"$work/error"
}

# card UUID MODE: what is at the address now.
card()
{
	echo "$1" >"$work/uuid"
	echo "$2" >"$work/mode"
	: >"$work/log"
}

fails() { if "$@"; then echo no; else echo yes; fi; }

card GPU-a Enabled
hook pre-detach 1002
report "$(cat "$work/log")" "" "nothing is done to a GPU of another vendor"
hook pre-detach
report "$(cat "$work/mode"), $(tail -n 1 "$work/log")" "Disabled, drain -p 0000:41:00.0 -m 1" "the driver lets a GPU go"
hook abort-detach
report "$(cat "$work/mode"), $(grep drain "$work/log" | tail -n 1)" "Enabled, drain -p 0000:41:00.0 -m 0" \
	"and holds it again when it stays"

hook pre-detach
card GPU-b Disabled
hook pre-detach
hook abort-detach
report "$(cat "$work/mode")" Disabled "another card at the address of one that has gone is as it was"
card GPU-a Enabled
hook pre-detach
touch "$work/dead"
report "$(fails hook pre-detach)" yes "a driver that does not answer refuses the detach"
rm "$work/dead"
card GPU-b Disabled
hook abort-detach
report "$(cat "$work/mode")" Disabled "nothing is remembered of such a GPU"

card GPU-a Enabled
touch "$work/refuses"
report "$(fails hook pre-detach)" yes "a driver that does not stop new work refuses the detach"
report "$(fails hook abort-detach) $(cat "$work/mode")" "yes Enabled" "the mode is restored though it does not allow work either"
rm "$work/refuses"

# A gpuctl that was killed between the two.
card GPU-a Enabled
hook pre-detach
hook pre-detach
hook abort-detach
report "$(cat "$work/mode")" Enabled "what a request that was killed has turned off is on again after the next"
report "$(ls "$work/run")" "" "nothing is left behind"

echo "1..$count"
exit $((failed > 0))
