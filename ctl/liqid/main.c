// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the program that speaks to Liqid's directors
 *
 *     /usr/libexec/gpuctl/fabric-liqid <REQUEST >ANSWER
 *
 * See driver/program.c for what programs of drivers have in common. Requests are those of
 * version 2.5 of the director's REST description.
 */
#include <errno.h>

#include "cli/ctl.h"
#include "driver/program.h"
#include "liqid/change.h"

static struct json_object *seen_inventory(const struct client *client,
					  const struct liqid_seen *seen)
{
	struct json_object *all;
	size_t i;

	if (!seen->machine)
		return NULL;
	all = job_inventory(client->conf, NULL);
	for (i = 0; i < seen->n; i++) {
		const struct liqid_gpu *gpu = &seen->gpus[i];

		job_inventory_add(all, &(struct job_gpu){
					       .id = gpu->id,
					       .vendor = gpu->vendor,
					       .device = gpu->device,
					       .state = gpu->state,
					       .host = gpu->host,
					       .why = gpu->why,
				       });
	}
	return all;
}

/* A director has no leases, and no action for a host that is off. */
static int action_refuse(const struct job *job, const struct client *client, struct fault *f)
{
	int ret = CTL_DONE;

	if (job->verb == JOB_EVICT) {
		fault_set(f, EOPNOTSUPP, "fabric manager %s: its driver liqid cannot evict a host",
			  client->conf->name);
		ret = CTL_FAILED;
	}
	job_print_action(ret, f, 0);
	return ret;
}

static int liqid_do(const struct job *job, struct client *client, struct fault *f)
{
	const bool changes = job->verb != JOB_INVENTORY;
	struct edit edit = {
		.client = client,
		.bind = job->verb == JOB_BIND,
		.wishes = job->wishes,
		.n = job->n,
	};
	int ret;

	if (job->verb >= JOB_EVICT)
		return action_refuse(job, client, f);
	ret = changes ? edit_make(&edit, f) : director_read(client, &edit.seen, f);
	job_print(ret, f,
		  changes ? &(struct job_outcome){ edit.outcome, edit.taken, edit.taker } : NULL,
		  seen_inventory(client, &edit.seen));
	edit_free(&edit);
	return ret;
}

int main(int argc, char **argv)
{
	(void)argv;
	return driver_main(argc, MANAGER_LIQID, &liqid_dialect, liqid_do);
}
