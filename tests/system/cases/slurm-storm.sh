#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Many jobs of Slurm with 1 to 8 GPUs over a pool that is too small for them, while jobs are cancelled and daemons are
# killed, at random: slurm-storm.sh [JOBS [CANCELS [KILLS [SEED [PAIRS]]]]], by "make storm-slurm" or here 30, 6, 3.
#
#   root port -- upstream -- 100 ... 111 with an h100-80 each, off
#
# What GPUs add to a job's start is measured before that, with PAIRS of jobs with and without, one after the
# other; in the storm a job in five has none.
#
# before: tests/system/image slurm; make -s slurm
# system: -d slurm -t 2400 -m 2G
# long: -t 14400

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/system/lib.sh"
# shellcheck source=tests/system/slurm.sh
. "$TESTS/system/slurm.sh"

SLOW=$((SLOW * 5))
wanted=${1:-30} cancels=${2:-6} kills=${3:-3} seed=${4:-1} pairs=${5:-5}
gpus=12
started=$jobs/started
others=0 ended=0 ours=0
daemons=(slurmctld-test slurmd-test@n1 slurmd-test@n2 gpufabric-slurm-sync-test)

# Each start of a script is a line: job, time, wanted and given GPUs, and those that it could open.
cat >/tmp/storm.sh <<'END'
#!/bin/bash
now=$EPOCHREALTIME
opened=0
for slot in ${GPUFABRIC_SLOTS-}; do
	! (: <"/dev/gpufabric-sim/$slot") 2>/dev/null || opened=$((opened + 1))
done
read -ra slots <<<"${GPUFABRIC_SLOTS-}"
echo "$SLURM_JOB_ID $now $1 ${#slots[@]} $opened" >>/tmp/jobs/started
exec sleep "$2"
END
chmod 755 /tmp/storm.sh

# below N: a random number, from the seed alone.
below()
{
	drawn=$((RANDOM % $1))
}

start_sync()
{
	cat >/run/systemd/system/gpufabric-slurm-sync-test.service <<-END
		[Service]
		Type=notify
		RuntimeDirectory=gpufabric-slurm-sync
		ExecStart=gpufabric-slurm-sync --local h100:$gpus --interval 5s
	END
	systemctl daemon-reload
	systemctl start gpufabric-slurm-sync-test
}

# As the owner of the jobs; root's GPUs need no mode of their own.
storm_job()
{
	local ask=() length

	below 10
	length=0.$drawn
	[ "$1" = 0 ] || ask=(--gres="gpu:h100:$1" -L "gf_h100:$1")
	sbatch --parsable -D /tmp -o /dev/null "${ask[@]}" /tmp/storm.sh "$1" "$length" >>/tmp/submitted
}

is_dead()
{
	[ "$(systemctl is-active "$1")" != active ]
}

kill_one()
{
	local unit

	below ${#daemons[@]}
	unit=${daemons[drawn]}
	note "kills $unit"
	systemctl kill --kill-who=main -s KILL "$unit"
	wait_for 20 is_dead "$unit"
	systemctl reset-failed "$unit" 2>/dev/null
	systemctl start "$unit"
	wait_for 60 scontrol ping >/dev/null
}

cancel_one()
{
	local ids

	# Drawn before it is known how many there are: the numbers after it stay the same.
	below 32768
	mapfile -t ids < <(squeue -h -o %A)
	[ "${#ids[@]}" -gt 0 ] || return
	scancel "${ids[drawn % ${#ids[@]}]}"
	cancelled=$((cancelled + 1))
}

# Of a node that Slurm itself takes out after a slurmctld was killed between a job's start and its next
# state file ("Duplicate jobid"), or whose slurmd was away: it is put back. What we have drained stays.
mend_nodes()
{
	local node why

	while read -r node why; do
		[[ $why == gpufabric:* ]] && continue
		note "Slurm has taken $node out: $why"
		others=$((others + 1))
		scontrol update nodename="$node" state=resume
	done < <(sinfo -h -N -t drain,drained,draining,down -o '%N %E' | sort -u)
}

# Daemons that have ended although nobody killed them are started again, as an admin would, and what they said last is told.
mend_daemons()
{
	local unit log

	for unit in "${daemons[@]}"; do
		log=/var/log/slurm/${unit/-test@/.}
		! systemctl is-failed --quiet "$unit" || {
			note "$unit has ended: $(systemctl show -P Result -P ExecMainStatus "$unit" | xargs)"
			tail -n 20 "${log%-test}.log" 2>/dev/null | sed 's/^/#   /'
			ended=$((ended + 1))
			[[ $unit != gpufabric-* ]] || ours=$((ours + 1))
			systemctl reset-failed "$unit"
			systemctl start "$unit"
		}
	done
}

# Jobs that were queued again would wait two minutes each. In the second of its end slurmd would refuse a job, and
# slurmctld end it ("Job credential revoked").
hurry()
{
	local id

	for id in $(squeue -h -t PD -o '%A %r %S' |
		    awk -v soon="$(date -d '3 seconds' +%FT%T)" '$2 == "BeginTime" && $3 > soon { print $1 }'); do
		scontrol update jobid="$id" starttime=now+2 2>/dev/null
	done
}

queue_is_empty()
{
	mend_daemons
	mend_nodes
	hurry
	[ -z "$(squeue -h -o %A)" ]
}

# Wait for the end of all jobs, as long as something happens. A batch script that a slurmd lost when it was killed is missed by
# Slurm after BatchStartTimeout. What a slurmctld that was killed takes for running it is told of when nodes register: every 20
# pings, or when the configuration is read again, which is done where nothing happens for a minute.
drain()
{
	local state="" now last=$SECONDS again=$SECONDS

	until queue_is_empty; do
		now="$(squeue -h -o %A | wc -l) $(wc -l </tmp/events)"
		[ "$now" = "$state" ] || {
			state=$now
			last=$SECONDS again=$SECONDS
		}
		[ $((SECONDS - last)) -le 600 ] || return
		[ $((SECONDS - again)) -lt 60 ] || {
			scontrol reconfigure
			again=$SECONDS
		}
		nap 400
	done
}

# The median and the 99th percentile of what is read, in milliseconds.
percentiles()
{
	sort -n | awk '{ all[NR] = $1 } END {
		if (!NR) { print "0 0"; exit }
		print all[int((NR + 1) / 2)], all[int(NR * 99 / 100 + 0.999)] }'
}

# From the controller's "Allocate" or "Started" of a job to the first line of its script: "WANTED MS" for each start.
delays()
{
	awk '
		function seconds(stamp, t) {
			split(substr(stamp, 2), t, /[-T:\]]/)
			return t[4] * 3600 + t[5] * 60 + t[6]
		}
		FNR == NR {
			if (match($0, /(Allocate|Started) JobId=[0-9]+/)) {
				id = substr($0, RSTART, RLENGTH)
				sub(/.*=/, "", id)
				given[id] = given[id] " " seconds($1)
			}
			next
		}
		{
			at = ($2 + offset) % 86400
			n = split(given[$1], times, " ")
			best = -1
			for (i = 1; i <= n; i++)
				if (times[i] <= at + 0.001)
					best = times[i]
			if (best >= 0)
				printf "%d %d\n", $3, (at - best) * 1000
		}' /var/log/slurm/slurmctld.log offset="$(date +%z | awk '{ print substr($0, 1, 3) * 3600 }')" "$started"
}

# measure NAME: of /tmp/delays.NAME
measure()
{
	local plain plain_p99 with with_p99

	read -r plain plain_p99 < <(awk '!$1 { print $2 }' "/tmp/delays.$1" | percentiles)
	read -r with with_p99 < <(awk '$1 { print $2 }' "/tmp/delays.$1" | percentiles)
	count "storm-slurm.$1.plain.p50-ms" "$plain"
	count "storm-slurm.$1.plain.p99-ms" "$plain_p99"
	count "storm-slurm.$1.gpus.p50-ms" "$with"
	count "storm-slurm.$1.gpus.p99-ms" "$with_p99"
	awk -v name="$1" -v a="$with" -v b="$plain" -v c="$with_p99" -v d="$plain_p99" 'BEGIN {
		if (b && d)
			printf "# %s: GPUs add to the start of a job: p50 %d ms (%.2f times), p99 %d ms (%.2f times)\n",
				name, a - b, a / b, c - d, c / d
	}'
}

licences_used()
{
	scontrol -o show licenses | sed -n 's/.* Used=\([0-9]*\).*/\1/p'
}

# Compositions of jobs that were added, or removed.
events()
{
	grep -c "\"event\":\"composition-$1\"" /tmp/events
}

same_number()
{
	[ "$(events added)" = "$(events removed)" ]
}

files_here()
{
	grep -Ls ^ended /run/gpufabric-slurm/* | wc -l
}

no_file_here()
{
	[ "$(files_here)" = 0 ]
}

slurm_up $gpus n1:8 n2:8
sed -i 's/^BatchStartTimeout=.*/BatchStartTimeout=120/' $conf/slurm.conf
check "Slurm waits less for a script" scontrol reconfigure
start_sync
touch "$started" /tmp/submitted
note "$pairs jobs with GPUs, and as many without"
RANDOM=$seed
# What is read from the disk for the first one is not counted.
storm_job 1
wait_for 60 queue_is_empty
rm "$started"
touch "$started"
for ((n = 0; n < pairs; n++)); do
	below 8
	for size in $((drawn + 1)) 0; do
		storm_job "$size"
		wait_for 60 queue_is_empty
	done
done
delays >/tmp/delays.alone
measure alone
rm "$started"
touch "$started"
gpuctl -j watch --kind composition-added --kind composition-removed >/tmp/events &
watcher=$!
note "storm of $wanted jobs, $cancels cancelled, $kills kills, seed $seed"
cancelled=0 killed=0
for ((n = 0; n < wanted; n++)); do
	below 8
	storm_job $((drawn + 1))
	[ $((n % 5)) -ne 0 ] || storm_job 0
	[ $((n * cancels / wanted)) -le "$cancelled" ] || cancel_one
	[ $((n * kills / wanted)) -le "$killed" ] || {
		kill_one
		killed=$((killed + 1))
	}
	[ $((n % 20)) -ne 19 ] || {
		mend_daemons
		mend_nodes
		hurry
	}
done
while [ "$cancelled" -lt "$cancels" ] && [ -n "$(squeue -h -o %A)" ]; do
	cancel_one
done
while [ "$killed" -lt "$kills" ]; do
	kill_one
	killed=$((killed + 1))
done
drain
is "$(squeue -h -o "%A %T %r %N")" "" "the queue empties"
check "the pool is whole" wait_for 120 all_back
check "as many releases as composes" wait_for 30 same_number
kill $watcher
is "$(sinfo -h -R -o '%E %N' | grep ^gpufabric: | sort -u)" "" "no node is drained by a Prolog or an Epilog"
is "$ours" 0 "no daemon of ours has ended"
is "$(licences_used)" 0 "no licence is used"
is "$(scontrol -o show reservation | grep -c gf_away)" 0 "nor reserved"
is "$(awk '$3 != $4 || $4 != $5' "$started")" "" "no job started without its GPUs"
check "no job is left on the nodes" wait_for 90 no_file_here
count storm-slurm.jobs "$((wanted + (wanted + 4) / 5))"
count storm-slurm.starts "$(wc -l <"$started")"
count storm-slurm.composes "$(events added)"
count storm-slurm.releases "$(events removed)"
count storm-slurm.cancelled "$cancelled"
count storm-slurm.kills "$killed"
count storm-slurm.nodes.taken-out-by-slurm "$others"
count storm-slurm.daemons.ended "$ended"
delays >/tmp/delays.storm
measure storm
note "storm-slurm.seed $seed"
cp "$started" /tmp/events /tmp/delays.* /out/
finish
