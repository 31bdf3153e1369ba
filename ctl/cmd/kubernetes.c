// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl kubernetes: what Kubernetes has to be told of a fabric. */
#include "cmd/cmd.h"

static const struct ctl_command *const verbs[] = {
	&cmd_kubernetes_claim,
	&cmd_kubernetes_install,
	NULL,
};

const struct ctl_command cmd_kubernetes = {
	.name = "kubernetes",
	.group = CTL_HOST,
	.args = "VERB",
	.summary = "claims and manifests for pods that get GPUs of the fabric",
	.help = "A pod asks for GPUs by a ResourceClaim, the scheduler chooses them and a node, and the driver\n"
		"gpufabric-dra(8) on that node composes them. Both verbs print YAML for kubectl apply -f -, and change\n"
		"nothing. With -j the YAML is a string in JSON.",
	.verbs = verbs,
};
