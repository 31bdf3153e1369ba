# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced after lib.sh by tests that look at a terminal: one of 80 columns and 24
# lines, in a tmux of its own.
#
#   terminal COMMAND...       start a command there
#   keys KEY...               press keys, as tmux names them
#   text TEXT                 type it
#   screen                    what is on it
#   shows REGEX [SECONDS]     wait until a line on it matches
#   gone REGEX [SECONDS]      wait until none does
#   attributes                the same as screen, with the sequences for colours and the like
#   asked FORMAT              what tmux knows: asked '#{alternate_on}'
#   terminal_end

terminal_number=0

on_tmux()
{
	# Nothing of the caller's, who may sit in a tmux as well.
	TMUX='' tmux -u -L "gpufabric-$$-$terminal_number" -f /dev/null "$@"
}

terminal()
{
	# A server that is about to end would take the next session along.
	terminal_number=$((terminal_number + 1))
	on_tmux start-server ';' set-option -g status off ';' \
		set-option -g default-terminal tmux-256color ';' \
		set-option -g remain-on-exit on ';' \
		new-session -d -x 80 -y 24 "$@"
}

terminal_end()
{
	on_tmux kill-server 2>/dev/null
	rm -f "${TMUX_TMPDIR:-/tmp}/tmux-$(id -u)/gpufabric-$$-$terminal_number"
}

keys()
{
	on_tmux send-keys "$@"
}

text()
{
	on_tmux send-keys -l -- "$1"
}

screen()
{
	on_tmux capture-pane -p
}

attributes()
{
	on_tmux capture-pane -p -e
}

asked()
{
	on_tmux display-message -p "$1"
}

on_screen()
{
	screen | grep -qE -- "$1"
}

# A look takes a while by itself in an emulated machine, so the clock counts and
# not the looks. Says nothing about how long it took.
look_until()
{
	local verdict=$1 end=$((SECONDS + $3 * ${SLOW:-1}))

	while :; do
		if on_screen "$2"; then
			[ "$verdict" != there ] || return 0
		elif [ "$verdict" != there ]; then
			return 0
		fi
		[ "$SECONDS" -lt "$end" ] || break
		sleep 0.05
	done
	screen
	return 1
}

shows()
{
	look_until there "$1" "${2:-60}"
}

gone()
{
	look_until gone "$1" "${2:-60}"
}
