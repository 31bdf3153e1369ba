// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a module and a gpuctl that do not go together
 *
 * The family has a version, which changes when programs of before could not work any more.
 * Within one, numbers are only added: a module that does not know a command, an attribute or
 * a flag is older than this gpuctl, and the netlink core refuses those without asking it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/tree.h"
#include "module/nl_private.h"

#ifndef GPUCTL_VERSION
#define GPUCTL_VERSION "unknown"
#endif

#define REMEDY "install both in the same version, then rmmod gpufabric; modprobe gpufabric"

char *gfc_module_version(void)
{
	struct fault fault = { "" };
	struct tree tree;
	char *version = NULL;

	if (!tree_open(&tree, NULL, &fault))
		version = tree_line(&tree, "sys/module/gpufabric/version");
	tree_close(&tree);
	return version;
}

int gfc_check_interface(struct ctl_ctx *ctx, unsigned int interface)
{
	char *version;
	int ret;

	if (interface == GPUFABRIC_FAMILY_VERSION)
		return CTL_DONE;
	version = gfc_module_version();
	ret = ctl_fail(ctx, CTL_NO_MODULE,
		       "gpuctl %s speaks interface %d, module gpufabric %s interface %u: " REMEDY,
		       GPUCTL_VERSION, GPUFABRIC_FAMILY_VERSION, version ? version : "unknown",
		       interface);
	free(version);
	return ret;
}

/* What the netlink core says of a number that the module's tables lack. */
bool gfc_is_unknown(int err, const char *text)
{
	if (err == EOPNOTSUPP)
		return !text;
	return err == EINVAL && text &&
	       (!strcmp(text, "Unknown attribute type") || !strcmp(text, "reserved bit set"));
}

int gfc_unknown_fail(struct ctl_ctx *ctx, const char *command, int err, const char *attribute)
{
	char *version = gfc_module_version();
	int ret;

	ret = ctl_fail(ctx, CTL_NO_MODULE,
		       "%s: module gpufabric %s does not know this %s%s, gpuctl is %s: " REMEDY,
		       command, version ? version : "unknown",
		       err == EOPNOTSUPP ? "command" : "request's ",
		       err == EOPNOTSUPP ? "" :
		       attribute	 ? attribute :
					   "attribute",
		       GPUCTL_VERSION);
	free(version);
	return ret;
}
