// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the program that asks servers and NVML how busy GPUs are
 *
 *     /usr/libexec/gpuctl/probe prometheus sum|mean ADDRESS METRIC
 *     /usr/libexec/gpuctl/probe nvml sm|util GPU...
 *
 * gpuctl demand starts it, so that gpuctl itself neither speaks to a network nor holds a GPU. It
 * prints one number, or one line that says why there is none, and ends.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "probe/exposition.h"
#include "probe/nvml.h"
#include "probe/page.h"
#include "web/rights.h"

static int probe_page(char *const *argv, double *value, struct fault *f)
{
	struct exposition_metric metric;
	char *page = NULL;
	int err = exposition_metric_read(&metric, argv[2], f);

	if (!err && web_give_up_rights(geteuid() ? NULL : web_nobody()))
		err = fault_set(f, EPERM, "cannot give up rights, so no server is asked");
	if (!err) {
		page = page_read(argv[1], f);
		err = page ? exposition_find(page, &metric, *argv[0] == 's', value, f) : -EIO;
	}
	free(page);
	exposition_metric_free(&metric);
	return err;
}

int main(int argc, char **argv)
{
	struct fault f = { "" };
	double value = 0;
	int err;

	signal(SIGPIPE, SIG_IGN);
	/* who asked is gone: nobody waits for the answer */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (argc == 5 && !strcmp(argv[1], "prometheus") &&
	    (!strcmp(argv[2], "sum") || !strcmp(argv[2], "mean"))) {
		err = probe_page(argv + 2, &value, &f);
	} else if (argc > 3 && !strcmp(argv[1], "nvml") &&
		   (!strcmp(argv[2], "sm") || !strcmp(argv[2], "util"))) {
		err = nvml_busy(argv[2], argv + 3, (size_t)argc - 3, &value, &f);
	} else {
		printf("usage: probe prometheus sum|mean ADDRESS METRIC, or probe nvml sm|util GPU...\n");
		return CTL_USAGE;
	}
	if (err) {
		text_tame(f.text, false);
		printf("%s\n", f.text);
		return CTL_FAILED;
	}
	printf("%.9g\n", value);
	return CTL_DONE;
}
