// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: simulators as the switch
 *
 * A host is a machine with our simulator (kmod/sim), a port one of the simulator's slots, a GPU
 * a card with a serial number. A small agent in each host puts a card into a slot, pulls it out
 * and says what is there. The card with a GPU's serial number is that GPU: what is in no
 * host's slot is in the pool.
 *
 * The agent pulls no card out of a slot that has power: the host has to switch that off first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/agent.h"
#include "fm/failpoint.h"
#include "fm/link.h"

/* A simulator tells of nothing. */
#define LOOK_AGAIN_MS 5000

/**
 * struct link - a host with a simulator
 */
struct link {
	const struct config *config;
	const struct config_host *host;
	struct agent agent;
	int stop;
};

static struct link *sim_link_open(const struct config *config, size_t host, int stop)
{
	struct link *link = mem_zalloc(1, sizeof(*link));

	*link = (struct link){
		.config = config,
		.host = &config->hosts[host],
		.agent.channel.fd = -1,
		.stop = stop,
	};
	return link;
}

static void sim_link_close(struct link *link)
{
	agent_close(&link->agent);
	free(link);
}

static int sim_link_connect(struct link *link, struct fault *f)
{
	int err = 0;

	if (link->agent.channel.fd < 0)
		err = agent_connect(&link->agent, link->host->agent, link->stop, f);
	if (err)
		return err;
	err = agent_greet(&link->agent, link->config->bind_ms, f);
	if (err)
		fault_prefix(f, "%s", link->host->agent);
	return err;
}

/* What a card is filled in from, and where. */
struct looking {
	const struct link *link;
	struct link_view *view;
};

static int port_index(const struct config_host *host, const char *name)
{
	size_t i;

	for (i = 0; i < host->port_count; i++)
		if (!strcmp(host->ports[i], name))
			return (int)i;
	return FABRIC_NONE;
}

static int view_card(void *arg, const struct agent_line *line, struct fault *f)
{
	const struct looking *looking = arg;
	const struct config *config = looking->link->config;
	struct link_view *view = looking->view;
	int port = port_index(looking->link->host, line->port);
	size_t gpu = 0, i;

	while (gpu < config->gpu_count && strcmp(config->gpus[gpu].serial, line->serial))
		gpu++;
	if (gpu == config->gpu_count) {
		if (port != FABRIC_NONE)
			view->taken[port] = true;
		return 0;
	}
	for (i = 0; i < view->count; i++)
		if (view->found[i].gpu == (int)gpu)
			return fault_set(f, EPROTO, "%s is in two slots of %s",
					 config->gpus[gpu].name, looking->link->host->name);
	view->found = mem_push(view->found, view->count, sizeof(*view->found));
	view->found[view->count++] = (struct fabric_place){ (int)gpu, port };
	return 0;
}

static int sim_link_look(struct link *link, struct link_view *view, struct fault *f)
{
	struct looking looking = { link, view };
	int err;

	*view = (struct link_view){ 0 };
	err = agent_command(&link->agent, "look", link->config->bind_ms, view_card, &looking, f);
	if (!err)
		return 0;
	free(view->found);
	*view = (struct link_view){ 0 };
	if (err == -EREMOTEIO) {
		agent_close(&link->agent);
		err = -EPROTO;
	}
	return err;
}

static int sim_link_bind(struct link *link, int gpu, int port, struct fault *f)
{
	const struct config_gpu *card = &link->config->gpus[gpu];
	char *command;
	int err;

	if (link->agent.channel.fd < 0)
		return fault_set(f, ENOTCONN, "no connection to the agent");
	failpoint("before-put");
	command = mem_printf("put %s %s %s", link->host->ports[port], card->serial, card->card);
	err = agent_command(&link->agent, command, link->config->bind_ms, NULL, NULL, f);
	free(command);
	failpoint("after-put");
	return err;
}

static int sim_link_unbind(struct link *link, int gpu, struct fault *f)
{
	char *command;
	int err;

	if (link->agent.channel.fd < 0)
		return fault_set(f, ENOTCONN, "no connection to the agent");
	failpoint("before-pull");
	command = mem_printf("pull %s", link->config->gpus[gpu].serial);
	err = agent_command(&link->agent, command, link->config->bind_ms, NULL, NULL, f);
	free(command);
	failpoint("after-pull");
	return err;
}

static int sim_link_await(struct link *link, int wake, int *gone, struct fault *f)
{
	*gone = FABRIC_NONE;
	return agent_await(&link->agent, wake, LOOK_AGAIN_MS, f);
}

const struct link_ops link_sim = {
	.open = sim_link_open,
	.close = sim_link_close,
	.connect = sim_link_connect,
	.look = sim_link_look,
	.bind = sim_link_bind,
	.unbind = sim_link_unbind,
	.await = sim_link_await,
};
