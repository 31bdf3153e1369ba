# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced after bed.sh: the manager of the rack, on this machine's loopback.
#
#   fm_start HOST:SLOTS... -- GPU...     its files, and the program; hosts are rack_start's
#   fm_stop SIGNAL, fm_run               it ends; it runs again, with what it finds
#   fm_introduce HOST                    that host gets its file for the manager
#   fm_name_gpus HOST                    that host calls the GPUs demo-80
#   in_zone HOST                         GPUs that the manager has in a host's zone
#
# $fm_fence is a program that confirms that a host is off. GPUs are displays of QEMU with a memory as small as an empty slot's window.

: "${top:?}" "${build:?}" "${rack:?}"
fm_port=8443
fm_folder=$rack/fm
# shellcheck disable=SC2034 # cases read it
fm_url=https://127.0.0.1:$fm_port

# What sim.sh replaces: lines below [manager], the key of a host's socket, the names of its ports, a GPU's keys.
fm_lines='unbind_timeout = 30s'
fm_socket=qmp
fm_ports=dn
fm_gpu()
{
	printf 'device = secondary-vga,vgamem_mb=1\npci = 1234:1111\nclass = 038000\n'
}

fm_config()
{
	local word i hosts=y

	printf '[manager]\nlisten = 127.0.0.1:%d\nnames = manager 127.0.0.1\n%s\n' "$fm_port" "$fm_lines"
	for word in "$@"; do
		case $hosts$word in
		y--)
			hosts= ;;
		y*)
			printf '\n[host.%s]\n%s = %s\nports =' "${word%:*}" "$fm_socket" "$rack/${word%:*}.$fm_socket"
			for ((i = 0; i < ${word#*:}; i++)); do
				printf ' %s%d' "$fm_ports" "$i"
			done
			printf '\n%s' "${fm_fence:+fence = $fm_fence$'\n'}" ;;
		*)
			printf '\n[gpu.%s]\n' "$word"
			fm_gpu "$word" ;;
		esac
	done
}

# The program says when it is ready as it does to systemd.
fm_run()
{
	"$build/gpufabric-fm" -c "$fm_folder" -r "$fm_folder/run" -s "$fm_folder/state" run >>"$rack/fm.log" 2>&1 &
	fm_pid=$!
	rack_others+=("$fm_pid")
	wait_for 20 fm_answers
}

fm_answers()
{
	exec 8<>/dev/tcp/127.0.0.1/$fm_port && exec 8>&-
}

fm_stop()
{
	kill -"$1" "$fm_pid"
	wait "$fm_pid" 2>/dev/null || :
}

fm_start()
{
	mkdir -p "$fm_folder/run"
	fm_config "$@" >"$fm_folder/fm.conf"
	"$build/gpufabric-fm" -c "$fm_folder" -r "$fm_folder/run" init || return
	cp "$fm_folder/hosts/a.conf" "$rack/a.conf"
	chmod 600 "$rack/a.conf"
	fm_run
}

# Its slots are 101, 102, ... where the manager counts from 1.
fm_introduce()
{
	sed -E '/^ports = /s/ ([0-9]+)=/ \1@/g; /^ports = /s/([0-9]+)@/10\1=/g' "$fm_folder/hosts/$1.conf" |
		give "$1" /etc/gpuctl/fabric.d/rack.conf
}

# give HOST FILE: standard input becomes a file there.
give()
{
	local text

	text=$(base64 -w 0)
	on "$1" "mkdir -p $(dirname "$2") && umask 077 && base64 -d <<<'$text' >$2"
}

# Its gpuctl knows the GPUs of this file by a name.
fm_name_gpus()
{
	give "$1" /etc/gpuctl/gpus.d/demo.conf <<-'END'
	[demo-80]
	name = Demo 80GB
	vendor = qemu
	form = pcie-card
	pci = 1234:1111
	memory_mib = 81559
	source = the demo: a display of QEMU that stands for a GPU
	END
}

in_zone()
{
	on "$1" gpuctl -j fabric | jq -r --arg host "$1" '[.. | objects | select(.gpu? and .host? == $host) | .gpu] | sort | join(" ")'
}
