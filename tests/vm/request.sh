# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced in the guest by what stands for a program that speaks to a fabric manager.

# What gpuctl asks for, from the input: sets $verb, and lines to the GPUs, each with "@PORT"
# where it has one. An emulated machine spends its time on processes: this needs none.
read_request()
{
	local rest

	verb='' lines=()
	IFS= read -r -d '' rest || :
	# A slash may be escaped.
	rest=${rest//\\\//\/}
	# shellcheck disable=SC2034 # who sources this uses it
	[[ ! $rest =~ \"verb\":\"([^\"]*)\" ]] || verb=${BASH_REMATCH[1]}
	while [[ $rest =~ \{\"gpu\":\"([^\"]*)\"(,\"port\":\"([^\"]*)\")?(.*) ]]; do
		lines+=("${BASH_REMATCH[1]}${BASH_REMATCH[2]:+@${BASH_REMATCH[3]}}")
		rest=${BASH_REMATCH[4]}
	done
}
