#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tenants: a limit that is never passed, a guarantee that is left to whom it
# belongs, and requests that come together.
#
#   root port -- upstream -- sim0-0 ... sim0-7 with an h100-80 each, off
#
# in turn: one command after the other
# brief: rounds of two that come together
# vm: -t 240

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"

tenants=/etc/gpuctl/tenants.d

held()
{
	gpuctl -j tenants | jq -r --arg t "$1" '.tenants[] | select(.tenant == $t) | .held'
}

# refused TEXT COMMAND...: does not fit, for this reason.
refused()
{
	local text=$1 error
	shift

	error=$("$@" 2>&1 >/dev/null)
	is $? 3 "$(printf '%s ' "${@:2}")does not fit"
	is "$error" "gpuctl: $text" "as it says"
}

check "the modules load" modprobe gpufabric_sim mode=own switches=1 slots=8 latency_ms=5 'gpus=*:h100-80:off' ||
	bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check "the GPUs are known" gpuctl scan

note "without any tenant"
like "$(gpuctl tenants)" "no tenants in /etc/gpuctl/tenants.d: no limit applies" "there is nothing to list"
check "any name will do" gpuctl compose one --gpus 1 --tenant whoever
check "and ends" gpuctl release one

note "limit and guarantee"
mkdir -p $tenants
cat >$tenants/10-groups.conf <<-'END'
	[defaults]
	limit = 6

	[vision]
	guarantee = 4

	[speech]
	guarantee = 2
	limit = 4

	[guests]
END
check "a tenant takes some" gpuctl compose v1 --gpus 3 --tenant vision
refused "tenant vision holds 3 of at most 6 GPUs: 4 more would be above its limit" \
	gpuctl compose v2 --gpus 4 --tenant vision
refused "3 more GPUs would leave 2 free, and 3 are guaranteed to vision (1), speech (2)" \
	gpuctl compose g1 --gpus 3 --tenant guests
refused "3 more GPUs would leave 2 free, and 3 are guaranteed to vision (1), speech (2)" \
	gpuctl compose g1 --gpus 3
refused "3 more GPUs would leave 2 free, and 3 are guaranteed to vision (1), speech (2)" \
	gpuctl -n compose g1 --gpus 3
refused "3 more GPUs would leave 2 free, and 3 are guaranteed to vision (1), speech (2)" \
	gpuctl run --gpus 3 --tenant guests -- true
check "two are left to guests" gpuctl compose g1 --gpus 2 --tenant guests
refused "1 more GPU would leave 2 free, and 3 are guaranteed to vision (1), speech (2)" \
	gpuctl resize g1 --gpus +1
check "a resize that gives back as many as it takes changes no sum" \
	gpuctl resize g1 --gpus +1 --remove "$(slots_of g1 | head -n 1)"
is "$(slots_of g1 | wc -l)" 2 "and leaves two"
check "what is guaranteed can be had" gpuctl resize v1 --gpus +1
check "by each" gpuctl compose s1 --gpus 2 --tenant speech
is "$(held vision) $(held speech) $(held guests)" "4 2 2" "all is held"
like "$(gpuctl tenants)" 'guests +2 +0 +6 +2' "the list says who borrows"
check_rc 2 "a tenant that there is not" gpuctl compose x --gpus 1 --tenant nobody
like "$(gpuctl compose x --gpus 1 --tenant nobody 2>&1)" 'no tenant nobody; the tenants are: vision, speech, guests' "is told which there are"
for name in v1 g1 s1; do
	check "$name is released" gpuctl release $name
done
is "$(held vision) $(held speech) $(held guests)" "0 0 0" "then nobody holds any"

note "requests that come together"
cat >$tenants/10-groups.conf <<-'END'
	[many]
	limit = 3
END
clients=()
for i in 1 2 3 4 5 6 7 8; do
	gpuctl compose "m$i" --gpus 1 --tenant many >"/tmp/m$i" 2>&1 &
	clients+=($!)
done
got=0 refused=0
for client in "${clients[@]}"; do
	wait "$client"
	case $? in
	0) got=$((got + 1)) ;;
	3) refused=$((refused + 1)) ;;
	esac
done
is "$got $refused" "3 5" "eight at a time get what the limit allows"
is "$(held many)" 3 "and that is what is held"
count tenants.together 8
for i in 1 2 3 4 5 6 7 8; do
	gpuctl release "m$i" >/dev/null 2>&1
done

# Two at a time, each of which would fit alone, and no slot that both could want: what
# the module refuses is chosen anew, and then counted anew.
low=(--exclude sim0-4 --exclude sim0-5 --exclude sim0-6 --exclude sim0-7)
high=(--exclude sim0-0 --exclude sim0-1 --exclude sim0-2 --exclude sim0-3)
twins()
{
	local first second

	gpuctl compose left --gpus 2 --tenant many "${low[@]}" >/dev/null 2>&1 &
	first=$!
	gpuctl compose right --gpus 2 --tenant many "${high[@]}" >/dev/null 2>&1 &
	second=$!
	wait $first
	first=$?
	wait $second
	echo "$first $?" | tr ' ' '\n' | sort | xargs
	gpuctl release left >/dev/null 2>&1 || gpuctl release right >/dev/null 2>&1
}

mkdir -p /etc/gpuctl/hooks.d/pre-attach.d
printf '#!/bin/sh\nexit 0\n' >/etc/gpuctl/hooks.d/pre-attach.d/10-quick
chmod 755 /etc/gpuctl/hooks.d/pre-attach.d/10-quick
rounds=$(brief 3 8)
for ((i = 0; i < rounds; i++)); do
	twins
done >/tmp/twins
is "$(sort -u /tmp/twins)" "0 3" "of two that come together one gets its GPUs, in each of $rounds rounds"
count tenants.twins "$(wc -l </tmp/twins)"

note "hooks that take their time"
mkfifo /tmp/go
exec 8<>/tmp/go
cat >/etc/gpuctl/hooks.d/pre-attach.d/10-quick <<-'END'
	#!/bin/sh
	[ "$1" = pre-attach ] || { touch /tmp/undone; exit 0; }
	[ "$GPUFABRIC_REASON" = slow ] || exit 0
	touch /tmp/waiting
	read -r _ </tmp/go
END
gpuctl compose slow --gpus 2 --tenant many --reason slow "${low[@]}" >/tmp/slow 2>&1 &
slow=$!
check "a request waits for its hook" wait_for 20 [ -e /tmp/waiting ]
check "another one does not wait for it" gpuctl compose fast --gpus 2 --tenant many "${high[@]}"
is "$(held many)" 2 "and holds its GPUs"
printf '\n\n' >&8
wait $slow
is $? 3 "who comes later to the claim does not fit any more"
like "$(cat /tmp/slow)" "tenant many holds 2 of at most 3 GPUs: 2 more would be above its limit" "and is told why"
check "its hook has taken back what it did" [ -e /tmp/undone ]
is "$(held many)" 2 "the limit was not passed"
is "$(gpuctl -j list | jq -c '[.slots[] | select(.state == "ready").slot]')" "$(gpuctl -j list | jq -c '.compositions[0].slots')" \
	"and nothing was powered for it"
check "the other one is released" gpuctl release fast
rm -r /etc/gpuctl/hooks.d
exec 8>&-
like "$(stat -c '%a %U' /run/gpuctl.lock)" '600 root' "others cannot make them wait"

note "files in error"
echo 'limit = 1' >$tenants/20-bad.conf
check_rc 1 "no request is decided by half of the rules" gpuctl compose x --gpus 1
like "$(gpuctl compose x --gpus 1 2>&1)" '20-bad.conf:1: ' "and the line is named"
printf '[a]\nguarantee = 2\nlimit = 1\n' >$tenants/20-bad.conf
like "$(gpuctl tenants 2>&1)" 'tenant a: its guarantee of 2 is above its limit of 1' "nor by what cannot be"
rm -r $tenants
check "without the files all is as before" gpuctl compose x --gpus 5
gpuctl release x >/dev/null

check "the module unloads" wait_for 10 rmmod gpufabric
check "the simulator, too" rmmod gpufabric_sim
finish
