/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether two GPUs can reach each other's memory without a detour. */
#ifndef GPUCTL_P2P_H
#define GPUCTL_P2P_H

#include "base/tree.h"
#include "host/topo.h"

enum p2p_verdict {
	P2P_YES, /* switches forward it */
	P2P_SLOW, /* through the root complex */
	P2P_NO,
	P2P_UNKNOWN, /* what decides could not be read */
};

/*
 * Does a port send peer-to-peer requests up (ACS P2P Request Redirect or Completion
 * Redirect)? 1 yes, 0 no, -1 when its configuration space cannot be read that far, which
 * takes root.
 */
int p2p_redirects(const struct tree *tree, const char *address);

/*
 * The verdict for two GPUs by their paths (pci_path()). *@why says what decided;
 * newly allocated.
 */
enum p2p_verdict p2p_verdict(const struct tree *tree, const struct gf_slot *a, const char *path_a,
			     const struct gf_slot *b, const char *path_b, char **why);
const char *p2p_verdict_name(enum p2p_verdict verdict);

/*
 * How far up requests of a slot's GPU get without a detour through the root complex: the path
 * of the highest switch, or that of the slot's own port. Two slots are near peers
 * (P2P_YES) when theirs are the same. @port_path is the port's (pci_path()). Newly
 * allocated; NULL when a port on the way cannot be read.
 */
char *p2p_reach(const struct tree *tree, const char *port_path);

#endif /* GPUCTL_P2P_H */
