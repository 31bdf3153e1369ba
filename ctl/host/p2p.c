// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: peer to peer
 *
 * Below a common switch a request is forwarded by address, unless a downstream port on the
 * way has Access Control Services redirect it to the root complex (PCI Express Base
 * Specification, ACS Extended Capability). Whether a root complex forwards between its
 * ports is its own business: slow where there is one, and not to be counted on between
 * two.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/p2p.h"
#include "host/pci.h"

#define CAPABILITY_ACS 0x000d
#define ACS_CONTROL 6
/* P2P Request Redirect, P2P Completion Redirect. */
#define ACS_REDIRECT (0x0004 | 0x0008)

int p2p_redirects(const struct tree *tree, const char *address)
{
	struct pci_device port = { 0 };
	int redirects = -1;
	unsigned int at;

	pci_read_config(tree, address, &port);
	if (port.config_len >= PCI_EXTENDED_BASE + 4 &&
	    pci_config(&port, PCI_EXTENDED_BASE, 4) != UINT32_MAX) {
		at = pci_extended(&port, CAPABILITY_ACS);
		redirects = at && pci_config(&port, at + ACS_CONTROL, 2) & ACS_REDIRECT;
	}
	free(port.config);
	return redirects;
}

/* Ports below @common on the way to a device, and the device: any that redirects. */
static int path_redirects(const struct tree *tree, const char *path, size_t common, char **port)
{
	const char *s = path + common;
	int found = 0;

	while (*s) {
		size_t len = strcspn(s, "/");
		char *address = mem_printf("%.*s", (int)len, s);
		int redirects = s[len] ? p2p_redirects(tree, address) : 0;

		if (redirects > 0 || (redirects < 0 && !found)) {
			free(*port);
			*port = address;
			address = NULL;
			found = redirects;
		}
		free(address);
		if (found > 0)
			break;
		s += len + (s[len] == '/');
	}
	return found;
}

/* Bytes that both paths have in common, whole components. */
static size_t common_length(const char *a, const char *b)
{
	size_t i, common = 0;

	for (i = 0; a[i] && a[i] == b[i]; i++)
		if (a[i] == '/')
			common = i + 1;
	return common;
}

static enum p2p_verdict below_bridge(const struct tree *tree, const char *a, const char *b,
				     char **why)
{
	size_t common = common_length(a, b);
	char *port = NULL;
	int redirects = path_redirects(tree, a, common, &port);

	if (redirects <= 0) {
		int other = path_redirects(tree, b, common, &port);

		redirects = other > 0 ? other : redirects < 0 ? redirects : other;
	}
	if (redirects > 0)
		*why = mem_printf("the ACS of port %s redirects to the root complex", port);
	else if (redirects < 0)
		*why = mem_printf("the ACS of port %s can be read by root alone", port);
	else
		*why = mem_strdup("forwarded by the switch, no ACS redirect");
	free(port);
	return redirects > 0 ? P2P_SLOW : redirects < 0 ? P2P_UNKNOWN : P2P_YES;
}

enum p2p_verdict p2p_verdict(const struct tree *tree, const struct gf_slot *a, const char *path_a,
			     const struct gf_slot *b, const char *path_b, char **why)
{
	switch (topo_relation(a, path_a, b, path_b)) {
	case TOPO_SELF:
	case TOPO_SWITCH:
	case TOPO_ROOT_PORT:
		return below_bridge(tree, path_a, path_b, why);
	case TOPO_HOST:
		if (common_length(path_a, path_b)) {
			*why = mem_strdup("through the root complex");
			return P2P_SLOW;
		}
		*why = mem_strdup("between two host bridges");
		return P2P_NO;
	default:
		*why = mem_strdup("between NUMA nodes");
		return P2P_NO;
	}
}

/* The bridge above. */
static void climb(char *path)
{
	char *last = strrchr(path, '/');

	if (last)
		*last = '\0';
}

char *p2p_reach(const struct tree *tree, const char *port_path)
{
	char *port = mem_strdup(port_path), *reach = mem_strdup(port_path);
	int redirects = 0;

	/* Below a root port come pairs: a switch's upstream port, one of its downstream ports. */
	while (topo_depth(port) >= 3) {
		redirects = p2p_redirects(tree, strrchr(port, '/') + 1);
		if (redirects)
			break;
		climb(port);
		free(reach);
		reach = mem_strdup(port);
		climb(port);
	}
	free(port);
	if (redirects >= 0)
		return reach;
	free(reach);
	return NULL;
}

const char *p2p_verdict_name(enum p2p_verdict verdict)
{
	static const char *const names[] = { "yes", "slow", "no", "unknown" };

	return names[verdict];
}
