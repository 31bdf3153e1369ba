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
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/p2p.h"
#include "lib/text.h"

#define CONFIG_BYTES		4096
#define EXTENDED_BASE		0x100
#define CAPABILITY_ACS		0x000d
#define ACS_CONTROL		6
/* P2P Request Redirect, P2P Completion Redirect. */
#define ACS_REDIRECT		(0x0004 | 0x0008)

static uint32_t read32(const uint8_t *config, unsigned int at)
{
	return (uint32_t)config[at] | (uint32_t)config[at + 1] << 8 |
	       (uint32_t)config[at + 2] << 16 | (uint32_t)config[at + 3] << 24;
}

static ssize_t read_config(const char *sysfs, const char *address, uint8_t *config)
{
	char *path = mem_printf("%s/bus/pci/devices/%s/config", sysfs, address);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1, got = 0;

	free(path);
	if (fd < 0)
		return -1;
	while (got < CONFIG_BYTES &&
	       ((n = read(fd, config + got, (size_t)(CONFIG_BYTES - got))) > 0 ||
		(n < 0 && errno == EINTR)))
		got += n > 0 ? n : 0;
	close(fd);
	return n < 0 ? -1 : got;
}

int p2p_redirects(const char *sysfs, const char *address)
{
	uint8_t config[CONFIG_BYTES];
	ssize_t size = read_config(sysfs, address, config);
	unsigned int at = EXTENDED_BASE, left = (CONFIG_BYTES - EXTENDED_BASE) / 8;

	if (size < EXTENDED_BASE + 4)
		return -1;
	while (left-- && at >= EXTENDED_BASE && at + ACS_CONTROL + 2 <= (size_t)size) {
		uint32_t header = read32(config, at);

		if (!header || header == UINT32_MAX)
			return header ? -1 : 0;
		if ((header & 0xffff) == CAPABILITY_ACS)
			return (config[at + ACS_CONTROL] & ACS_REDIRECT) != 0;
		at = header >> 20 & 0xffc;
	}
	return 0;
}

/* Ports below @common on the way to a device, and the device: any that redirects. */
static int path_redirects(const char *sysfs, const char *path, size_t common, char **port)
{
	const char *s = path + common;
	int found = 0;

	while (*s) {
		size_t len = strcspn(s, "/");
		char *address = mem_printf("%.*s", (int)len, s);
		int redirects = s[len] ? p2p_redirects(sysfs, address) : 0;

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

static enum p2p_verdict below_bridge(const char *sysfs, const char *a, const char *b, char **why)
{
	size_t common = common_length(a, b);
	char *port = NULL;
	int redirects = path_redirects(sysfs, a, common, &port);

	if (redirects <= 0) {
		int other = path_redirects(sysfs, b, common, &port);

		redirects = other > 0 ? other : redirects < 0 ? redirects : other;
	}
	if (redirects > 0)
		*why = mem_printf("ACS of port %s redirects to the root complex", port);
	else if (redirects < 0)
		*why = mem_printf("ACS of port %s cannot be read, which takes root", port);
	else
		*why = mem_strdup("forwarded by the switch, no ACS redirect");
	free(port);
	return redirects > 0 ? P2P_SLOW : redirects < 0 ? P2P_UNKNOWN : P2P_YES;
}

enum p2p_verdict p2p_verdict(const char *sysfs, const struct gf_slot *a, const char *path_a,
			     const struct gf_slot *b, const char *path_b, char **why)
{
	switch (topo_relation(a, path_a, b, path_b)) {
	case TOPO_SELF:
	case TOPO_SWITCH:
	case TOPO_ROOT_PORT:
		return below_bridge(sysfs, path_a, path_b, why);
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

char *p2p_reach(const char *sysfs, const char *port_path)
{
	char *port = mem_strdup(port_path), *reach = mem_strdup(port_path);
	int redirects = 0;

	/* Below a root port come pairs: a switch's upstream port, one of its downstream ports. */
	while (topo_depth(port) >= 3) {
		redirects = p2p_redirects(sysfs, strrchr(port, '/') + 1);
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
