#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The hook dcgm: what it stops and starts, with a systemctl that keeps its units as files.
# Hooks of several slots run side by side, and those of two requests mixed.

set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"

mkdir "$work/bin" "$work/active" "$work/run"
for place in pre-detach post-detach; do
	mkdir -p "$work/hooks.d/$place.d"
	ln -s "$top/ctl/hooks/dcgm" "$work/hooks.d/$place.d/40-dcgm"
done
# $work is expanded when it runs.
cat >"$work/bin/systemctl" <<'END'
#!/bin/bash
[ "$1" != -q ] || shift
verb=$1
shift
for unit; do
	case $verb in
	is-active) exec test -e "$work/active/$unit" ;;
	stop) [ ! -e "$work/stuck" ] && rm -f "$work/active/$unit" || exit 1 ;;
	start) : >"$work/active/$unit" ;;
	esac
	echo "$verb $unit" >>"$work/log"
done
END
chmod +x "$work/bin/systemctl"
export work

units() { find "$work/active" -type f -printf '%f\n' | sort | xargs; }
# set_hook PLACE SLOT [VENDOR]: what gpuctl runs, as a child of its own.
set_hook()
{
	cmd=(env -i work="$work" PATH="$work/bin:$PATH" GPUCTL_RUN_DIR="$work/run" GPUFABRIC_SLOT="$2"
		GPUFABRIC_VENDOR="${3-10de}" "$work/hooks.d/${1/abort/pre}.d/40-dcgm" "$1")
}
hook()
{
	set_hook "$@"
	"${cmd[@]}"
}
fails() { if "$@" 2>"$work/error"; then echo no; else echo yes; fi; }

hook pre-detach 3-1
hook post-detach 3-1
report "$(units)$(cat "$work/log" 2>/dev/null)" "" "nothing is done where no unit runs"

touch "$work/active/nvidia-dcgm.service" "$work/active/other.service"
hook pre-detach 3-1 1002
report "$(units)" "nvidia-dcgm.service other.service" "nothing is stopped for a GPU of another vendor"
hook pre-detach 3-1
report "$(units)" other.service "DCGM is stopped before a GPU goes"
hook post-detach 3-1
report "$(units)" "nvidia-dcgm.service other.service" "and started when it has gone"

touch "$work/active/dcgm-exporter.service"
hook pre-detach 3-1
hook abort-detach 3-1
report "$(units)" "dcgm-exporter.service nvidia-dcgm.service other.service" \
	"all that ran is started when the GPU stays"
rm "$work/active/dcgm-exporter.service"
hook pre-detach 3-1
hook pre-detach 3-2
hook post-detach 3-1
report "$(units)" other.service "it waits for the last one of several"
hook post-detach 3-9
report "$(units)" other.service "and for nobody who did not ask"
hook abort-detach 3-2
report "$(units)" "nvidia-dcgm.service other.service" "then it starts what ran before the first"

for slot in 4-{0..15}; do
	set_hook pre-detach "$slot"
	"${cmd[@]}" &
done
wait
report "$(units)" other.service "sixteen at the same time stop it"
for slot in 4-{0..15}; do
	set_hook post-detach "$slot"
	"${cmd[@]}" &
done
wait
report "$(grep -c "^start nvidia-dcgm" "$work/log")" 4 "and start it once"
report "$(units)" "nvidia-dcgm.service other.service" "when all have gone"

# A gpuctl that was killed: its process is gone.
hook pre-detach 5-0
sleep 0 &
wait $!
echo "$!" >"$work/run/gpuctl-dcgm/slot.5-0"
hook pre-detach 5-1
hook post-detach 5-1
report "$(units)" "nvidia-dcgm.service other.service" "a request that was killed does not keep it stopped"

touch "$work/stuck"
report "$(fails hook pre-detach 3-1)" yes "a unit that does not stop refuses the detach"
rm "$work/stuck"
hook abort-detach 3-1
rm "$work/hooks.d/post-detach.d/40-dcgm"
report "$(fails hook pre-detach 3-1) $(grep -c post-detach.d "$work/error")" "yes 1" \
	"so does one place out of two, where it would never start again"
report "$(units)" "nvidia-dcgm.service other.service" "which stops nothing"

echo "1..$count"
exit $((failed > 0))
