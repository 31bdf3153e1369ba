#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The completion of bash and of zsh, each in a shell that somebody types into. With
# the real gpuctl, which has commands and catalogues without any module, and
# with one that has names of a fabric, among them those with colons.
#
# before: make -s gpuctl

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 1
# shellcheck source=tests/vm/lib.sh
. tests/vm/lib.sh
# shellcheck source=tests/vm/terminal.sh
. tests/vm/terminal.sh

build=${GPUFABRIC_BUILD:-$top/build}
work=$(mktemp -d)
trap 'terminal_end; rm -rf "$work"' EXIT
mkdir "$work/real" "$work/fabric"
ln -s "$build/gpuctl" "$work/real/gpuctl"
cat >"$work/fabric/gpuctl" <<'END'
#!/bin/bash
# What gpuctl says where there are such slots.
shift 2
last=${!#}
case " $* " in
*--gpu*) printf '@nospace\nh100-pcie-80\tH100\n' ;;
*--svg*) echo @files ;;
*) printf '%s\n' "10000:03:00.0	ready, H100" "10000:04:00.0	off" "train70b	active" | grep "^$last" ;;
esac
END
chmod +x "$work/fabric/gpuctl"
: >"$work/picture.svg"

# in_shell SHELL REAL|FABRIC: one with the completion and nothing else.
in_shell()
{
	local start

	terminal_end
	export GPUCTL_DATA_DIR=$top/ctl/catalogue GPUCTL_CONFIG_DIR=/nowhere PATH=$work/$2:$path
	case $1 in
	bash)
		echo ". $top/ctl/completion/gpuctl; PS1='now: '; cd $work" >"$work/bashrc"
		start="bash --noprofile --rcfile $work/bashrc -i" ;;
	zsh)
		mkdir -p "$work/functions" "$work/zdot"
		cp "$top/ctl/completion/_gpuctl" "$work/functions/"
		cat >"$work/zdot/.zshrc" <<-END
			fpath=($work/functions \$fpath)
			autoload -Uz compinit
			compinit -u -d $work/zcompdump
			PS1='now: '
			cd $work
		END
		start="env ZDOTDIR=$work/zdot zsh -d -i" ;;
	esac
	terminal "$start"
	shows '^now:'
}

# What is typed goes, with what came of it. By keys that a shell reads one after the
# other: an interrupt is a signal, and bash may heed it at the next line's tab.
take_back()
{
	keys C-u C-l
	gone "$1"
}

# completes TYPED REGEX "description": what stands on the line after a tab.
completes()
{
	text "$1"
	keys Tab
	check "$3" shows "$2"
	take_back "$2"
}

# bash lists what there is at the second tab.
lists()
{
	text "$1"
	keys Tab
	[ "$shell" = zsh ] || keys Tab
	check "$3" shows "$2"
	take_back "$2"
}

path=$PATH
for shell in bash zsh; do
	check "$shell starts with the completion" in_shell "$shell" real
	completes 'gpuctl hist' 'gpuctl history *$' "$shell: a command"
	completes 'gpuctl compose x --same' '--same-switch *$' "$shell: an option"
	completes 'gpuctl size llama-3.1-7' 'size llama-3.1-70b *$' "$shell: a model"
	completes 'gpuctl size hf' 'size hf\\?:$' "$shell: a model of the Hub, which goes on"
	completes 'gpuctl size x --tas' 'size x --task *$' "$shell: an option with an argument"
	completes 'gpuctl size x --task ql' '--task qlora *$' "$shell: one of its words"
	completes 'gpuctl size x --task=ql' '--task=qlora *$' "$shell: behind an equals sign"
	completes 'gpuctl topo --svg pict' '--svg picture.svg *$' "$shell: a file"
	completes 'gpuctl run --gpus 2 -- mktem' '-- mktemp *$' "$shell: a program"
	lists 'gpuctl re' '(^|[[:space:]])restore([[:space:]]|$)' "$shell: a list of commands"
	check "$shell starts with a fabric" in_shell "$shell" fabric
	completes 'gpuctl show tr' 'show train70b *$' "$shell: a live name"
	completes 'gpuctl show 10000:03' 'show 10000:03:00\.0 *$' "$shell: a name with colons"
	completes 'gpuctl show 10000:03:' 'show 10000:03:00\.0 *$' "$shell: that ends with one so far"
	completes 'gpuctl attach 10000:04:00.0 10000:03:0' '10000:04:00\.0 10000:03:00\.0 *$' "$shell: the second of them"
	lists 'gpuctl show 10000:0' '04:00\.0' "$shell: a list of them"
	completes 'gpuctl compose x --gpu h100' '--gpu h100-pcie-80$' "$shell: a kind of GPU"
	text 'gpuctl compose x --gpu h100'
	keys Tab
	shows '--gpu h100-pcie-80' >/dev/null
	text ':4'
	check "$shell: that a count can follow" shows '--gpu h100-pcie-80:4$'
done
finish
