#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A gpuctl of another version than the module: one whose interface is older or newer,
# and one of the same interface that knows more (tests/vm/skew/).
#
# in turn: one command after the other
# before: make -s build/skew/older build/skew/newer build/skew/next
# vm: -f build/skew/older -f build/skew/newer -f build/skew/next

. "$TESTS/vm/lib.sh"

error_of() { { "$@" >/dev/null; } 2>&1; }
remedy='install both in the same version, then rmmod gpufabric; modprobe gpufabric$'

modprobe gpufabric_sim mode=own switches=1 slots=2 'gpus=*:l40s:off'
check "the module loads" modprobe gpufabric
module=$(cat /sys/module/gpufabric/version)

for age in older newer; do
	gpuctl=$TESTS/$age
	read -r mine interface <<<"$([ $age = older ] && echo 0.0.9 0 || echo 2.0.0 2)"
	check_rc 6 "a gpuctl that is $age: exit code 6" "$gpuctl" list
	like "$(error_of "$gpuctl" attach sim0-0)" \
		"^gpuctl: gpuctl $mine speaks interface $interface, module gpufabric $module interface 1: $remedy" \
		"both versions, and what to do"
	is "$("$gpuctl" -j version | jq -r '[.gpuctl, .module] | join(" ")')" "$mine $module" "version has both"
	like "$("$gpuctl" version)" "module +$module, which this gpuctl cannot use" "in words"
done
is "$(gpuctl -j show sim0-0 | jq -r .slot.state)" off "nothing was changed"

next=$TESTS/next
check "a gpuctl of the same interface that knows more works" "$next" attach sim0-0
check_rc 6 "a command that the module lacks" "$next" clear sim0-0
like "$(error_of "$next" clear sim0-0)" \
	"^gpuctl: .*: module gpufabric $module does not know this command, gpuctl is 0.9.0: $remedy" "is said"
check_rc 6 "an attribute that it lacks" "$next" attach sim0-1 --reason later
like "$(error_of "$next" attach sim0-1 --reason later)" \
	"^gpuctl: attach: module gpufabric $module does not know this request's attribute, gpuctl is 0.9.0: $remedy" "is said"
check_rc 6 "a flag that it lacks" "$next" attach sim0-1 --no-fit-check
like "$(error_of "$next" attach sim0-1 --no-fit-check)" \
	"^gpuctl: attach: module gpufabric $module does not know this request's attach-flags, gpuctl is 0.9.0: $remedy" "is said"
is "$(gpuctl -j show sim0-1 | jq -r .slot.state)" off "nothing was changed"
check "unload" wait_for 10 rmmod gpufabric
finish
