#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the packages' scripts leave of what our programs have written: nothing but what they say. The
# scripts run in a root of their own, which has a shell and what removes files. As root; elsewhere this
# is skipped. dpkg itself is for tests/system/cases/packages.sh.

set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root"
	exit 0
fi
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"
root=$work/root

# laid FILE...: as our programs write them.
laid()
{
	local file

	rm -rf "${root:?}"/{etc,run,var}
	for file; do
		mkdir -p "$root/$(dirname "$file")"
		echo x >"$root/$file"
	done
}

# run SCRIPT WORD: as dpkg does.
run()
{
	cp "$top/debian/$1" "$root/script"
	chroot "$root" /bin/sh /script "$2" >"$work/out" 2>&1
}

left()
{
	(cd "$root" && find etc run var ! -path etc ! -path run ! -path var ! -path var/lib -printf '%p ' 2>/dev/null)
}

mkdir -p "$root/bin" "$root/dev"
for program in sh rm rmdir; do
	cp -L "$(command -v $program)" "$root/bin/$program"
	mapfile -t libraries < <(ldd "$root/bin/$program" | grep -o '/[^ ]*')
	cp -L --parents "${libraries[@]}" "$root"
done

gpuctl=(run/gpuctl.lock run/gpuctl-plan.lock run/gpuctl-plan.json run/gpuctl-slots/3-2 run/gpuctl-unused/3-2
	run/gpuctl-boundaries/train run/gpuctl-persistence-0000:41:00.0 run/gpuctl-dcgm/lock run/gpuctl-switchtec/3-2
	run/gpufabric-watch/told run/cdi/gpufabric.json run/cdi/.gpufabric.json.lock
	var/lib/prometheus/node-exporter/gpufabric.prom var/lib/prometheus/node-exporter/.gpufabric.prom.lock
	var/lib/gpuctl/compositions.json var/lib/gpuctl/demand/serve.csv etc/gpuctl/engines.d/learned.conf)

laid "${gpuctl[@]}"
mkdir -p "$root"/etc/gpuctl/hooks.d/{post-attach,pre-detach,post-detach}.d
ln -s /usr/share/gpuctl/hooks/publish "$root/etc/gpuctl/hooks.d/post-attach.d/90-publish"
run gpuctl.prerm remove
run gpuctl.postrm remove
report "$(left | tr ' ' '\n' | grep -c '^run/gpuctl\(-plan\|-slots\|.lock\)\|told\|cdi\|prom$')" 0 "gpuctl is removed: what nobody keeps up to date is gone"
report "$(find "$root/var/lib/gpuctl" "$root/etc/gpuctl/engines.d" -type f | wc -l)" 3 "what it has saved and learned is kept"
run gpuctl.postrm purge
report "$(left)" "var/lib/prometheus var/lib/prometheus/node-exporter " "it is purged: nothing is left"

laid "${gpuctl[@]}" etc/gpuctl/engines.d/mine.conf etc/gpuctl/hooks.d/pre-detach.d/10-mine run/gpuctl-leases/rack
run gpuctl.prerm remove
run gpuctl.postrm purge
report "$(cd "$root" && find etc run -type f | LC_ALL=C sort | xargs)" \
	"etc/gpuctl/engines.d/mine.conf etc/gpuctl/hooks.d/pre-detach.d/10-mine run/gpuctl-leases/rack" \
	"files of the admin stay, and a lease, which is the manager's"

laid var/lib/gpufabric-fm/leases etc/gpufabric-fm/.passwords.lock etc/gpufabric-fm/.revoked.lock
run gpufabric-fm.postrm purge
report "$(left)" "" "gpufabric-fm is purged: nothing is left"
laid var/lib/gpufabric-fm/leases etc/gpufabric-fm/passwords
run gpufabric-fm.postrm remove
report "$(left)" "etc/gpufabric-fm etc/gpufabric-fm/passwords var/lib/gpufabric-fm var/lib/gpufabric-fm/leases " \
	"removed alone, its state stays"
run gpufabric-fm.postrm purge
report "$(left)" "etc/gpufabric-fm etc/gpufabric-fm/passwords " "purged, only its passwords do"

laid run/gpufabric-slurm/4711
run gpufabric-slurm.postrm remove
report "$(left)" "run/gpufabric-slurm run/gpufabric-slurm/4711 " "gpufabric-slurm is removed: files of jobs stay"
run gpufabric-slurm.postrm purge
report "$(left)" "" "it is purged: nothing is left"

echo "1..$count"
[ "$failed" -eq 0 ]
