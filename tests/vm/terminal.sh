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

on_tmux()
{
	# Nothing of the caller's, who may sit in a tmux as well.
	TMUX='' tmux -u -L "gpufabric-$$" -f /dev/null "$@"
}

terminal()
{
	on_tmux start-server ';' set-option -g status off ';' \
		set-option -g default-terminal tmux-256color ';' \
		set-option -g remain-on-exit on ';' \
		new-session -d -x 80 -y 24 "$@"
}

terminal_end()
{
	on_tmux kill-server 2>/dev/null
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

# shellcheck disable=SC2317  # both are called through wait_for
on_screen()
{
	screen | grep -qE -- "$1"
}

# shellcheck disable=SC2317
off_screen()
{
	! on_screen "$1"
}

shows()
{
	wait_for "${2:-20}" on_screen "$1" && return
	screen
	return 1
}

gone()
{
	wait_for "${2:-20}" off_screen "$1" && return
	screen
	return 1
}
