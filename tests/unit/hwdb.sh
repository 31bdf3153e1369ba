#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The generated hwdb: up to date, compiled by systemd's own compiler, and found
# by the modaliases that PCI devices have.

set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"

rc=0
"$top/tools/gen-hwdb" --check >"$work/diff" 2>&1 || rc=$?
report $rc 0 "the committed file is what the catalogue says"
sed 's/^/# /' "$work/diff"

mkdir -p "$work/etc/udev/hwdb.d"
cp "$top/udev/20-gpufabric.hwdb" "$work/etc/udev/hwdb.d/"
rc=0
systemd-hwdb --strict --root="$work" update 2>"$work/log" || rc=$?
report "$rc$(cat "$work/log")" 0 "systemd-hwdb compiles it without a word"

# property NAME MODALIAS
property()
{
	systemd-hwdb --root="$work" query "$2" | sed -n "s/^ID_GPUFABRIC_$1=//p"
}

real=pci:v000010DEd00002331sv000010DEsd00001626bc03sc02i00
report "$(property KIND $real)" h100-pcie-80 "an H100 PCIe"
report "$(property MODEL $real)" "H100 PCIe" "its short name"
report "$(property MEMORY_MIB $real)" 81559 "its usable memory"
report "$(property ASSUMED $real)" BAR1_MIB "its BAR is marked as assumed"
report "$(property SIMULATED $real)" "" "it is real"

sim=pci:v00006767d00000001sv000010DEsd00002331bc03sc02i00
report "$(property KIND $sim)" h100-pcie-80 "a simulated H100 by its subsystem ids"
report "$(property MODEL $sim)" "H100 PCIe (sim)" "its name says that it is simulated"
report "$(property SIMULATED $sim)" 1 "and so does a property"
report "$(property DRIVER $sim)" gpufabric-sim-gpu "no vendor driver is expected for it"
report "$(property KIND ${sim/bc03sc02/bc04sc03})" "" "its audio function is no GPU"

a2=pci:v000010DEd000025B6sv000010DEsd0000157Ebc03sc02i00
report "$(property KIND $a2)" a2 "an A2 by its subsystem"
report "$(property KIND ${a2/157E/14A9})" a16 "an A16 with the same device id"
report "$(property KIND ${a2/157E/1234})" "" "neither with another subsystem"
report "$(property VF pci:v00001002d000074B5sv00001002sd000074A1bc12sc00i00)" 1 \
	"a virtual function of an MI300X"
report "$(property KIND pci:v000010DEd0000FFFEsv000010DEsd00000001bc03sc02i00)" "" \
	"an unknown device"

# Every id of the catalogue, by a modalias as the kernel would write it.
modalias()
{
	local vendor device subvendor subdevice

	IFS=: read -r vendor device subvendor subdevice <<<"${1/\//:}"
	subvendor=${subvendor:-1234} subdevice=${subdevice:-5678}
	echo "pci:v0000${vendor^^}d0000${device^^}sv0000${subvendor^^}sd0000${subdevice^^}bc03sc02i00"
}

ids=0
lost=
while read -r kind id; do
	ids=$((ids + 1))
	[ "$(property KIND "$(modalias "$id")")" = "$kind" ] || lost+=" $id"
done < <(awk '
	/^\[/ { kind = substr($1, 2, length($1) - 2) }
	$1 ~ /^pci(_vf)?$/ && $2 == "=" { for (i = 3; i <= NF; i++) print kind, $i }
' "$top"/ctl/catalogue/gpus.d/*.conf)
report "$lost" "" "each of the catalogue's $ids ids is found"
report $((ids > 50)) 1 "and there are many"
echo "# count hwdb.ids $ids"

# Every product as it was written down once: what udev is told of it, as the card itself
# and, where its ids alone tell, as one that is simulated.
# facts MODALIAS: kind, and the figures that are wanted below
facts()
{
	systemd-hwdb --root="$work" query "$1" | awk -F = '
		$1 ~ /^ID_GPUFABRIC_(KIND|MEMORY_MIB|BAR1_MIB|TDP_W|SIMULATED)$/ { value[substr($1, 14)] = $2 }
		END { print value["KIND"], value["MEMORY_MIB"], value["BAR1_MIB"], value["TDP_W"], value["SIMULATED"] }'
}

# same WANT FACTS SIMULATED: where nothing is known, anything may have been assumed.
same()
{
	local kind mib bar tdp simulated

	read -r kind mib bar tdp simulated < <(sed 's/  / - /g; s/  / - /g' <<<"$2")
	[ "$kind" = "${1%%,*}" ] && [ "${simulated:--}" = "$3" ] || return 1
	IFS=, read -r _ _ want_mib _ _ _ want_tdp _ _ want_bar _ <<<"$1"
	[ -z "$want_mib" ] || [ "$mib" = "$want_mib" ] || return 1
	[ -z "$want_bar" ] || [ "$bar" = "$want_bar" ] || return 1
	[ -z "$want_tdp" ] || [ "$tdp" = "$want_tdp" ]
}

rows=0
declare -A owner
while read -r line; do
	[[ $line != "#"* ]] || continue
	kind=${line%%,*}
	wrong=
	for id in ${line##*,}; do
		rows=$((rows + 1))
		# Two products that have an id in common have to say more than the id.
		for other in "$id" "${id%/*}"; do
			[ "${owner[$other]-$kind}" = "$kind" ] || wrong+=" $id is that of ${owner[$other]}, too;"
		done
		owner[$id]=$kind
		same "$line" "$(facts "$(modalias "$id")")" - || wrong+=" $id: $(facts "$(modalias "$id")");"
		if [[ $id == */* ]]; then
			[ "$(facts "$(modalias "${id%/*}")")" = "    " ] || wrong+=" ${id%/*} alone is somebody;"
			continue
		fi
		for class in 03 12; do
			alias=$(modalias "6767:0001/$id")
			same "$line" "$(facts "${alias/bc03/bc$class}")" 1 || wrong+=" $id simulated, class $class;"
		done
	done
	report "$wrong" "" "$kind: by each of its ids"
done <"$top/tests/data/gpus-expected.csv"
report $((rows > 60)) 1 "all $rows ids of a product have been looked up"

# The other way round: a line that nothing looks up would stay unnoticed.
patterns=0
lost=
while read -r pattern kind; do
	patterns=$((patterns + 1))
	case $pattern in
	*d\**) alias=${pattern/d\*/d00000001}; alias=${alias%\*}sc02i00 ;;
	*sv*) alias=${pattern%\*}bc03sc02i00 ;;
	*) alias=${pattern%\*}sv00001234sd00005678bc03sc02i00 ;;
	esac
	[ "$(property KIND "$alias")" = "$kind" ] || lost+=" $pattern"
done < <(awk '
	/^pci:/ { waiting[++n] = $1 }
	/^ ID_GPUFABRIC_KIND=/ { for (; n; n--) print waiting[n], substr($1, 19) }
' "$top/udev/20-gpufabric.hwdb")
report "$lost" "" "each of the file's $patterns patterns finds what stands below it"
report "$patterns" "$(grep -c ^pci: "$top/udev/20-gpufabric.hwdb")" "and that is all of them"
echo "# count hwdb.patterns $patterns"

# What an admin writes into a later file wins.
cat >"$work/etc/udev/hwdb.d/90-own.hwdb" <<END
pci:v000010DEd00002331*
 ID_GPUFABRIC_TDP_W=310
END
systemd-hwdb --strict --root="$work" update
report "$(property TDP_W $real)" 310 "an admin's own file wins"
report "$(property MEMORY_MIB $real)" 81559 "and changes nothing else"

echo "1..$count"
exit $((failed > 0))
