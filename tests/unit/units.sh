#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Our units, by systemd's own reader: no word of complaint, sandboxed as far as what they
# do allows, and with manual pages that exist. And "make install" for a system that has
# things elsewhere.

set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"
cd "$top"

# Calls hooks, which do what a vendor's stack wants: see their first lines.
loose=" gpufabric-lease@a.service gpufabric-plan.service gpufabric-reap.service gpufabric-restore.service gpufabric-shutdown.service "
# Looks at all of the host: see its first lines.
looking=" gpufabric-demand.service "
# Runs a program of the admin's, whose needs nobody here knows.
worker=" gpufabric-worker@a.service "
worker_limit=8.9
limit=2.5
looking_limit=3.4
loose_limit=8.9

units=("$top"/udev/*.service "$top"/udev/*.timer "$top"/udev/*.path "$top"/udev/*.target "$top"/slurm/*.service)
root=$work/root
system=$root/usr/lib/systemd/system
mkdir -p "$system" "$root/usr/bin"
cp -rL /lib/systemd/system/. "$system/" 2>/dev/null || true
cp /bin/true "$root/usr/bin/true"
cp /bin/true "$root/usr/bin/gpuctl"
cp /bin/true "$root/usr/bin/gpufabric-slurm-sync"
cp /bin/true "$root/usr/bin/kill"
cp /bin/true "$root/usr/bin/sh"
ln -s usr/bin "$root/bin"
cp "${units[@]}" "$system/"

for unit in "${units[@]}"; do
	name=$(basename "$unit")
	pages=$(sed -n 's/^Documentation=//p' "$unit")
	missing=
	for page in $pages; do
		file=${page#man:}
		file=${file%)}
		[ -e "ctl/man/${file/\(/.}" ] || [ -e "slurm/man/${file/\(/.}" ] || missing+=" $page"
	done
	report "${pages:+has some}$missing" "has some" "$name: documented by pages that there are"
	# An instance of what is for many.
	name=${name/@./@a.}
	rc=0
	systemd-analyze --root="$root" --man=no --recursive-errors=no verify "$name" >"$work/log" 2>&1 || rc=$?
	report "$rc$(cat "$work/log")" 0 "$name: systemd has no complaint"
	[[ $name == *.service ]] || continue
	rc=0
	systemd-analyze --root="$root" --offline=yes --no-pager --threshold=100 security "$name" >"$work/log" 2>&1 || rc=$?
	score=$(sed -nE 's/.* exposure level for [^ ]+: ([0-9.]+) .*/\1/p' "$work/log")
	echo "# $name: exposure ${score:-unknown}"
	if [[ $loose == *" $name "* ]]; then
		report "$(grep -c 'hooks of /etc/gpuctl/hooks.d' "$unit")" 1 "$name: says why it may more"
		report "$(awk -v s="${score:-10}" -v l=$loose_limit 'BEGIN { print (s <= l) }')" 1 \
			"$name: exposed by at most $loose_limit"
	elif [[ $worker == *" $name "* ]]; then
		report "$(awk -v s="${score:-10}" -v l=$worker_limit 'BEGIN { print (s <= l) }')" 1 \
			"$name: exposed by at most $worker_limit"
	elif [[ $looking == *" $name "* ]]; then
		report "$(awk -v s="${score:-10}" -v l=$looking_limit 'BEGIN { print (s <= l) }')" 1 \
			"$name: exposed by at most $looking_limit"
	else
		report "$(awk -v s="${score:-10}" -v l=$limit 'BEGIN { print (s <= l) }')" 1 \
			"$name: exposed by at most $limit"
	fi
done

# What starts what exists.
for name in $(sed -nE 's/^(WantedBy|PartOf|Wants|Before|After|Requisite|BindsTo|OnSuccess|OnFailure|Unit)=//p' "${units[@]}" |
	tr ' ' '\n' | grep '^gpufabric' | sort -u); do
	report "$(ls "udev/$name" 2>&1)" "udev/$name" "$name exists"
done
for name in $(grep -ohE 'gpufabric-[a-z]+@?(\.service)?"' ctl/publish/follow.h | tr -d '"' | sort -u); do
	report "$(ls "udev/${name%.service}.service" 2>&1)" "udev/${name%.service}.service" \
		"$name, which gpuctl watch starts, exists"
done

# What a measurement starts publishes it, where somebody has enabled that.
for key in OnSuccess OnFailure; do
	while IFS= read -r name; do
		report "$(grep -l "^WantedBy=.*\b$name" udev/*)" udev/gpufabric-metrics.service \
			"$key of a measurement: metrics follow $name"
		report "$(sed -nE 's/^(Wants|Requires|Also)=//p' "udev/$name")" "" "which by itself starts nothing"
	done < <(sed -n "s/^$key=//p" udev/gpufabric-demand.service)
done
report "$(grep -c '^On\(Success\|Failure\)=gpufabric-' udev/gpufabric-demand.service)" 2 "a measurement is followed in both cases"

# So does what starts at each step of the planner, which goes by the file that it writes.
path=$(sed -n 's/^Wants=\(.*\.path\)$/\1/p' udev/gpufabric-plan.service)
report "$(sed -n 's/^PathChanged=//p' "udev/$path")" "$(sed -n 's/.*PLAN_REPORT_FILE "\(.*\)"/\1/p' ctl/plan/report.h)" \
	"a step of the planner is seen by its report"
report "$(sed -n 's/^Unit=//p' "udev/$path") $(sed -n 's/^PartOf=//p' "udev/$path")" \
	"$(sed -n 's/^OnSuccess=//p' udev/gpufabric-demand.service) gpufabric-plan.service" "and followed as a measurement is, as long as it runs"

# What gpuctl leaves in /run goes with the package; a lease outlives it.
while IFS= read -r path; do
	report "$(grep -cF "$path" debian/gpuctl.prerm)" 1 "$path: debian/gpuctl.prerm knows of it"
done < <(grep -rhoE '/run/gpuctl[a-z.-]*' ctl --exclude-dir=man | sort -u)

# Before the program goes: the first half of the script, with other folders.
mkdir -p "$work/etc/systemd/system/multi-user.target.wants" "$work/etc/systemd/system/gpufabric.target.wants" \
	"$work/run/systemd/system" "$work/bin"
for name in 'gpufabric-lease@a.service' 'gpufabric-lease@b\x2dc.service' other.service; do
	ln -s "/lib/systemd/system/${name/@*./@.}" "$work/etc/systemd/system/multi-user.target.wants/$name"
done
for name in deb-systemd-invoke systemctl; do
	printf '#!/bin/sh\necho "%s $*" >>"%s/asked"\n' $name "$work" >"$work/bin/$name"
	chmod 755 "$work/bin/$name"
done
sed "/^#DEBHELPER#/,\$d; s#/etc/systemd#$work&#g; s#/run/systemd#$work&#g" debian/gpuctl.prerm >"$work/prerm"
PATH=$work/bin:$PATH sh "$work/prerm" upgrade 1.0
report "$(cat "$work/asked" 2>/dev/null)" "" "an upgrade stops nothing"
PATH=$work/bin:$PATH sh "$work/prerm" remove
report "$(grep -c '^deb-systemd-invoke stop .*gpufabric-lease@\*\.service.*gpufabric-worker@\*\.service' "$work/asked")" 1 \
	"leases and workers end before the program goes"
report "$(grep '^systemctl' "$work/asked" | LC_ALL=C sort | xargs -d '\n')" \
	'systemctl disable gpufabric-lease@a.service systemctl disable gpufabric-lease@b\x2dc.service' "and leases are not started again"

# Fedora's layout, by variables alone: no file of ours is anywhere else.
fedora=$work/fedora
mkdir -p "$fedora"
make -s install-files install-boot install-dev dkms-sources DESTDIR="$fedora" prefix=/usr \
	sysconfdir=/etc libdir=/usr/lib64 udevdir=/usr/lib/udev unitdir=/usr/lib/systemd/system \
	zshdir=/usr/share/zsh/site-functions >"$work/log" 2>&1 ||
	cat "$work/log"
report "$(cd "$fedora" && find . -type f | sed -E 's#^\./##; s#^(usr/(bin|include|libexec|share/(gpuctl|gpufabric|man|bash-completion|zsh)|lib/(udev|systemd/system|modules-load\.d)|src/gpufabric(-sim)?-[0-9.]+))/.*#\1#; s#-[0-9.]+$##' | sort -u | xargs)" \
	"usr/bin usr/include usr/lib/modules-load.d usr/lib/systemd/system usr/lib/udev usr/libexec usr/share/bash-completion usr/share/gpuctl usr/share/gpufabric usr/share/man usr/share/zsh usr/src/gpufabric usr/src/gpufabric-sim" \
	"all is below /usr, as Fedora has it"
report "$(grep -rhoE "[^ ']*/gpuctl/hooks/" "$fedora/usr/share/gpuctl/hooks" | sort -u)" /usr/share/gpuctl/hooks/ \
	"hooks name the place where they are"
make -s uninstall DESTDIR="$fedora" prefix=/usr udevdir=/usr/lib/udev zshdir=/usr/share/zsh/site-functions unitdir=/usr/lib/systemd/system
report "$(cd "$fedora" && find . -type f ! -path './usr/src/*' -printf '%P ')" "" "uninstall leaves nothing of it"

# Without a word it is for /usr/local, where packages have nothing.
own=$work/own
make -s install-files install-boot DESTDIR="$own" >"$work/log" 2>&1 || cat "$work/log"
report "$(cd "$own" && find . -type f | sed -E 's#^\./##; s#^(usr/local|etc/(udev|systemd|modules-load\.d))/.*#\1#' | sort -u | xargs)" \
	"etc/modules-load.d etc/systemd etc/udev usr/local" "and else below /usr/local and /etc"

echo "1..$count"
exit $((failed > 0))
