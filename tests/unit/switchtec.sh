#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The hook switchtec: what it says to its vendor's tool, with a tool that takes the options of
# the real one and keeps the ports that are bound as files.

set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"

mkdir "$work/bin" "$work/bound" "$work/run"
# $work is expanded when it runs.
cat >"$work/bin/switchtec" <<'END'
#!/bin/bash
echo "$*" >>"$work/log"
[ "$1 $3" = "fabric /dev/switchtec0" ] || exit 1
verb=$2
shift 3
for option; do
	case $verb,$option in
	*,--host_sw_idx=0 | *,--log_port_id=1) ;;
	*,--phys_port_id=*) port=${option#*=} ;;
	gfms-bind,--pdfid=*) ;;
	*)
		echo "unrecognized option '$option'" >&2
		exit 1
		;;
	esac
done
case $verb in
gfms-bind)
	[ "$port" != 99 ] || exit 18
	: >"$work/bound/$port"
	[ ! -e "$work/kill" ] || kill -9 "$PPID"
	;;
gfms-unbind) rm "$work/bound/$port" || exit 18 ;;
esac
END
chmod +x "$work/bin/switchtec"
cat >"$work/switchtec.conf" <<'END'
# slot  device           host switch  physical port  logical port  PDFID
101     /dev/switchtec0  0            24             1             0x0f01
102     /dev/switchtec0  0            99             1             0x0f02
103     /dev/switchtec0  0            26             1             0x0f03,0x0f04
104     /dev/switchtec0  0
END
export work

# hook ACTION SLOT...: prints its exit status and the ports that are bound afterwards.
hook()
{
	local rc=0

	: >"$work/log"
	env -i work="$work" PATH="$work/bin:$PATH" GPUCTL_RUN_DIR="$work/run" \
		GPUCTL_CONFIG_DIR="$work" "$top/ctl/hooks/switchtec" "$@" 2>"$work/error" || rc=$?
	echo "$rc $(find "$work/bound" -type f -printf '%f\n' | sort | xargs)"
}

report "$(hook assign 101 103)" "0 24 26" "all cards of a request are bound"
report "$(cat "$work/log")" \
	"fabric gfms-bind /dev/switchtec0 --host_sw_idx=0 --phys_port_id=24 --log_port_id=1 --pdfid=0x0f01
fabric gfms-bind /dev/switchtec0 --host_sw_idx=0 --phys_port_id=26 --log_port_id=1 --pdfid=0x0f03,0x0f04" \
	"with the options of the tool"
report "$(hook unassign 101 103)" "0 " "and unbound"
report "$(cat "$work/log")" \
	"fabric gfms-unbind /dev/switchtec0 --host_sw_idx=0 --phys_port_id=24 --log_port_id=1
fabric gfms-unbind /dev/switchtec0 --host_sw_idx=0 --phys_port_id=26 --log_port_id=1" \
	"with those of the other"
report "$(hook unassign 101 103) $(wc -l <"$work/log")" "1  2" "what is not bound cannot be, and all are tried"

report "$(hook assign 101 102 103)" "1 24" "one that is refused ends it"
report "$(wc -l <"$work/log")" 2 "the one after it is not asked for"
report "$(hook unassign 101 102 103)" "0 " "what had been bound is given back, and only that"
report "$(wc -l <"$work/log")" 1 "the others are not asked for"
report "$(hook assign 103)" "0 26" "a slot that was left out gets its card the next time"
report "$(hook unassign 103)" "0 " "and gives it back"

touch "$work/kill"
report "$(hook assign 101)" "137 24" "killed when the port was bound"
rm "$work/kill"
report "$(hook unassign 101)" "0 " "it is given back nevertheless"

report "$(hook assign 104) $(cat "$work/error")" \
	"1  $work/switchtec.conf: slot 104: needs 6 words and has 3" "a line that is wrong is named"
report "$(hook unassign 104)" "0 " "and nothing is to be given back"
report "$(hook assign 7-1) $(hook unassign 7-1) $(wc -l <"$work/log")" "0  0  0" \
	"a slot of another fabric is passed over"

echo "1..$count"
exit $((failed > 0))
