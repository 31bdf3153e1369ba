// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the program that speaks Redfish
 *
 *     /usr/libexec/gpuctl/fabric-redfish <REQUEST >ANSWER
 *
 * See driver/program.c for what programs of drivers have in common.
 */
#include <stdlib.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "driver/program.h"
#include "redfish/action.h"
#include "redfish/change.h"
#include "redfish/link.h"
#include "redfish/ports.h"

static const struct client_dialect redfish = {
	.sessions = "/redfish/v1/SessionService/Sessions",
	.header = "OData-Version: 4.0",
	.is_path = manager_is_path,
	.complaint = redfish_complaint,
};

static struct json_object *view_inventory(const struct view *view, const struct job_port *ports)
{
	struct json_object *all;
	size_t i;

	if (!view->owner)
		return NULL;
	all = job_inventory(view->client->conf, ports);
	for (i = 0; i < view->n; i++) {
		const struct endpoint *e = &view->endpoints[i];
		char *port = e->port ? view_port_name(view, e->port) : NULL;
		const struct job_gpu gpu = {
			.id = e->id,
			.vendor = e->vendor,
			.device = e->device,
			.subsystem_vendor = e->subsystem_vendor,
			.subsystem_device = e->subsystem_device,
			.model = e->model,
			.serial = e->serial,
			.state = e->state,
			.host = e->host,
			.port = port,
			.why = e->why,
		};

		job_inventory_add(all, &gpu);
		free(port);
	}
	return all;
}

static int action_do(const struct job *job, struct client *client, struct fault *f)
{
	uint32_t lease_ms = 0;
	int ret;

	if (job->verb == JOB_EVICT)
		ret = action_evict(client, job->host, f);
	else
		ret = action_renew(client, job->verb == JOB_RELEASE, &lease_ms, f);
	job_print_action(ret, f, lease_ms);
	return ret;
}

static int redfish_do(const struct job *job, struct client *client, struct fault *f)
{
	const bool changes = job->verb != JOB_INVENTORY;
	struct change change = {
		.bind = job->verb == JOB_BIND,
		.wishes = job->wishes,
		.n = job->n,
	};
	size_t n = client->conf->n_ports;
	struct job_port *ports = NULL;
	struct view view;
	int ret;

	if (job->verb >= JOB_EVICT)
		return action_do(job, client, f);
	ret = view_open(&view, client, f);

	if (!ret && !changes) {
		ret = view_read_all(&view, f);
		ports = mem_zalloc(n + 1, sizeof(*ports));
		if (!ret && !view_has_blocks(&view))
			ret = ports_read(&view, ports, f);
	} else if (!ret) {
		ret = change_make(&view, &change, f);
	}
	job_print(ret, f,
		  changes ? &(struct job_outcome){ change.outcome, change.taken, change.taker } :
			    NULL,
		  view_inventory(&view, ports));
	while (ports && n--) {
		free(ports[n].host);
		free(ports[n].link);
	}
	free(ports);
	view_free(&view);
	free(change.taker);
	return ret;
}

int main(int argc, char **argv)
{
	(void)argv;
	return driver_main(argc, MANAGER_REDFISH, &redfish, redfish_do);
}
