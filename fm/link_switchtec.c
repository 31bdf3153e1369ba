// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: Switchtec PAX as the switch
 *
 * A host is an upstream port of the fabric, a port one of its logical ports, a GPU the device at an
 * endpoint port. Bind and unbind are commands of the fabric's management (GFMS), and the
 * switch's own database says what there is. All hosts share the device of the switch.
 *
 * The answer to a bind is not what decides. The database is read after each command until it
 * says what became of it: a command that was given up, whose answer was cut short or whose switch
 * lost its power may have been carried out or not. While nobody can read it nobody knows.
 *
 * The database says everything twice: a port lists the functions in it, a function the port
 * that it is in. A GPU is in a host when one of the two says so, so that it is never taken for free
 * because of the other one.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/link.h"
#include "fm/pax.h"
#include "fm/site.h"

/* Nothing is lost when a look at everything is late; it finds what no event told. */
#define LOOK_AGAIN_MS 30000
#define NEWS_MS 1000
#define SETTLE_MS 50

/**
 * struct link - a host of the fabric
 * @at: where it is attached
 * @switches: all that the configuration names
 * @looked_ms: time of the last look, which had @news
 */
struct link {
	const struct config *config;
	const struct config_host *host;
	struct gfms_port at;
	struct mrpc *device;
	unsigned int switches;
	int stop;
	uint64_t looked_ms;
	unsigned int news;
};

static struct link *switchtec_link_open(const struct config *config, size_t host, int stop)
{
	struct link *link = mem_zalloc(1, sizeof(*link));
	size_t i;

	*link = (struct link){
		.config = config,
		.host = &config->hosts[host],
		.at = site_port(config->hosts[host].upstream),
		.device = mrpc_get(config->device, stop),
		.stop = stop,
	};
	for (i = 0; i < config->host_count; i++)
		link->switches |= 1u << config->hosts[i].upstream[0];
	for (i = 0; i < config->gpu_count; i++)
		if (config->gpus[i].endpoint[0] >= 0)
			link->switches |= 1u << config->gpus[i].endpoint[0];
	return link;
}

static void switchtec_link_close(struct link *link)
{
	mrpc_put(link->device);
	free(link);
}

static uint64_t deadline_of(const struct link *link)
{
	return text_monotonic() + link->config->bind_ms;
}

static int switchtec_link_connect(struct link *link, struct fault *f)
{
	return pax_connect(link->device, deadline_of(link), f);
}

static uint8_t log_of(const struct link *link, int port)
{
	return (uint8_t)strtoul(link->host->ports[port], NULL, 10);
}

static int port_number(const struct link *link, uint8_t log)
{
	size_t i;

	for (i = 0; i < link->host->port_count; i++)
		if (log_of(link, (int)i) == log)
			return (int)i;
	return FABRIC_NONE;
}

static int link_read(struct link *link, uint64_t patience, struct gfms *g, struct fault *f)
{
	return pax_read(link->device, link->switches, patience, deadline_of(link), g, &link->news,
			f);
}

static void view_identity(struct link_view *view, size_t gpu, const struct gfms_function *from)
{
	size_t i;

	for (i = 0; i < 4; i++)
		view->identities[gpu].pci[i] = from->pci[i];
	view->identities[gpu].class_code = (int)from->class_code;
}

static void view_gpu(const struct link *link, const struct gfms *g, size_t i,
		     const struct site *site, struct link_view *view)
{
	struct gfms_binding place;

	if (site->first)
		view_identity(view, i, site->first);
	if (!site_bound(g, &link->config->gpus[i], site, &link->at, &place))
		return;
	view->found = mem_push(view->found, view->count, sizeof(*view->found));
	view->found[view->count++] = (struct fabric_place){ (int)i, port_number(link, place.log) };
}

/* Ports of the host with something that is no GPU of the pool. */
static void view_strangers(const struct link *link, const struct gfms *g, const struct site *sites,
			   struct link_view *view)
{
	size_t i, k;
	int port;

	for (i = 0; i < g->binding_count; i++) {
		const struct gfms_binding *binding = &g->bindings[i];

		if (!gfms_port_is(binding->host, link->at))
			continue;
		for (k = 0; k < link->config->gpu_count; k++)
			if (site_has(g, &link->config->gpus[k], &sites[k], binding->pdfid))
				break;
		port = port_number(link, binding->log);
		if (k == link->config->gpu_count && port != FABRIC_NONE)
			view->taken[port] = true;
	}
}

static int view_make(const struct link *link, const struct gfms *g, struct link_view *view,
		     struct fault *f)
{
	const struct config *config = link->config;
	struct site *sites = mem_zalloc(config->gpu_count + 1, sizeof(*sites));
	size_t i, k;
	int err = 0;

	for (i = 0; i < config->gpu_count && !err; i++) {
		site_find(g, &config->gpus[i], &sites[i]);
		for (k = 0; k < i && sites[i].device != SITE_NONE; k++)
			if (sites[k].device == sites[i].device)
				err = fault_set(f, EINVAL, "%s and %s are the same device",
						config->gpus[k].name, config->gpus[i].name);
		if (!err)
			view_gpu(link, g, i, &sites[i], view);
	}
	if (!err)
		view_strangers(link, g, sites, view);
	free(sites);
	return err;
}

static int switchtec_link_look(struct link *link, struct link_view *view, struct fault *f)
{
	struct gfms g;
	size_t i;
	int err = link_read(link, 0, &g, f);

	*view = (struct link_view){
		.identities = mem_zalloc(link->config->gpu_count + 1, sizeof(*view->identities)),
	};
	for (i = 0; i < link->config->gpu_count; i++)
		view->identities[i] = (struct fabric_identity){ { -1, -1, -1, -1 }, -1 };
	if (!err)
		err = view_make(link, &g, view, f);
	gfms_free(&g);
	link->looked_ms = text_monotonic();
	if (err) {
		free(view->found);
		free(view->identities);
		*view = (struct link_view){ 0 };
	}
	return err;
}

/* Waits a little; false when the manager stops. */
static bool link_pause(const struct link *link)
{
	struct pollfd fd = { .fd = link->stop, .events = POLLIN };

	return poll(&fd, 1, SETTLE_MS) <= 0;
}

/*
 * The database after a command, also when the switch has to come back for that, or to end the
 * command first. @until: when it is given up.
 */
static int read_after(struct link *link, uint64_t until, struct gfms *g, struct fault *f)
{
	struct fault why;
	int err;

	for (;;) {
		err = link_read(link, until, g, &why);
		if (!err)
			return 0;
		gfms_free(g);
		if (text_monotonic() >= until || !link_pause(link)) {
			fault_add(f, "%s%s", *f->text ? "; " : "", why.text);
			return err;
		}
	}
}

/* What is wrong with a bind before it is sent; 0 for nothing. */
static int bind_check(const struct link *link, const struct gfms *g, const struct config_gpu *gpu,
		      const struct site *site, uint8_t log, struct fault *f)
{
	struct gfms_binding place;

	if (site_bound(g, gpu, site, NULL, &place))
		return fault_set(f, EBUSY, "the switch has it bound to port %u of host %u/%u",
				 place.log, place.host.sw, place.host.phys);
	if (site->several)
		return fault_set(f, EREMOTEIO, "there are several devices at %d/%d: name its pdfid",
				 gpu->endpoint[0], gpu->endpoint[1]);
	if (!site->count)
		return fault_set(f, EREMOTEIO, "the switch does not have such a device");
	if (site->count > GFMS_FUNCTIONS_MAX)
		return fault_set(f, EREMOTEIO, "it has %zu functions, more than can be bound",
				 site->count);
	if (!site_matches(gpu, site))
		return fault_set(f, EREMOTEIO,
				 "the switch has %04x:%04x there, which are not the ids of fm.conf",
				 site->first->pci[0], site->first->pci[1]);
	if (!gfms_find_host(g, link->at))
		return fault_set(f, EREMOTEIO, "the switch has no host at %u/%u", link->at.sw,
				 link->at.phys);
	if (site_port_taken(g, link->at, log))
		return fault_set(f, EBUSY, "the switch has another device in port %u", log);
	return 0;
}

/* After a bind whose answer was @answer: what became of it. */
static int bind_settle(struct link *link, const struct config_gpu *gpu, uint8_t log, int answer,
		       struct fault *f)
{
	uint64_t until = deadline_of(link);
	struct gfms_binding place;
	struct site site;
	struct gfms g;
	bool whole, some;

	for (;;) {
		/* what nobody can read is not known */
		if (read_after(link, until, &g, f))
			return -EIO;
		site_find(&g, gpu, &site);
		whole = site_is_whole(&g, &site, link->at, log);
		some = site_bound(&g, gpu, &site, NULL, &place);
		gfms_free(&g);
		if (whole) {
			f->text[0] = '\0';
			return 0;
		}
		if (answer)
			return some ? -EIO : -EREMOTEIO;
		if (text_monotonic() >= until || !link_pause(link))
			return fault_set(f, EIO, "the switch has bound it, and does not list it");
	}
}

static int switchtec_link_bind(struct link *link, int number, int port, struct fault *f)
{
	const struct config_gpu *gpu = &link->config->gpus[number];
	uint8_t log = log_of(link, port);
	struct site site;
	struct gfms g;
	int err = link_read(link, 0, &g, f);

	if (err) {
		gfms_free(&g);
		return -ENOTCONN;
	}
	site_find(&g, gpu, &site);
	err = bind_check(link, &g, gpu, &site, log, f);
	gfms_free(&g);
	if (!err) {
		err = pax_bind(link->device, link->at, log, site.pdfids, site.count,
			       deadline_of(link), f);
		if (err != -ENOTCONN)
			err = bind_settle(link, gpu, log, err, f);
	}
	return err;
}

/* After the unbind of one function: 0 when it is out. */
static int unbind_settle(struct link *link, const struct gfms_binding *was, int answer,
			 struct fault *f)
{
	uint64_t until = deadline_of(link);
	struct gfms g;
	bool there;
	size_t i;

	for (;;) {
		if (read_after(link, until, &g, f))
			return -EIO;
		there = false;
		for (i = 0; i < g.binding_count; i++)
			there |= g.bindings[i].pdfid == was->pdfid &&
				 gfms_port_is(g.bindings[i].host, was->host);
		gfms_free(&g);
		if (!there) {
			f->text[0] = '\0';
			return 0;
		}
		if (answer)
			return -EREMOTEIO;
		if (text_monotonic() >= until || !link_pause(link))
			return fault_set(f, EIO, "the switch has unbound it, and still lists it");
	}
}

/*
 * A function at a time, and the database in between: a switch that unbinds all functions with
 * the first one is asked once.
 */
static int switchtec_link_unbind(struct link *link, int number, struct fault *f)
{
	const struct config_gpu *gpu = &link->config->gpus[number];
	struct gfms_binding place;
	struct site site;
	struct gfms g;
	int round, err;
	bool bound;

	for (round = 0; round <= 2 * GFMS_FUNCTIONS_MAX; round++) {
		err = link_read(link, 0, &g, f);
		bound = false;
		if (!err) {
			site_find(&g, gpu, &site);
			bound = site_bound(&g, gpu, &site, &link->at, &place);
		}
		gfms_free(&g);
		if (err)
			return round ? -EIO : -ENOTCONN;
		if (!bound)
			return 0;
		err = pax_unbind(link->device, place.host, place.log, place.pdfid,
				 deadline_of(link), f);
		if (err != -ENOTCONN)
			err = unbind_settle(link, &place, err, f);
		/* as it was, as long as nothing of it has gone */
		if (err)
			return round ? -EIO : err;
	}
	return fault_set(f, EIO, "the switch lists more and more functions of it");
}

static int switchtec_link_await(struct link *link, int wake, int *gone, struct fault *f)
{
	struct pollfd fds[2] = {
		{ .fd = wake, .events = POLLIN },
		{ .fd = link->stop, .events = POLLIN },
	};
	unsigned int news = link->news;
	int err;

	*gone = FABRIC_NONE;
	while (text_monotonic() < link->looked_ms + LOOK_AGAIN_MS) {
		if (poll(fds, 2, NEWS_MS) > 0)
			return fault_set(f, EINTR, "there is something to do");
		err = pax_news(link->device, NEWS_MS, deadline_of(link), &news, f);
		if (err)
			return err;
		if (news != link->news)
			break;
	}
	return 0;
}

const struct link_ops link_switchtec = {
	.open = switchtec_link_open,
	.close = switchtec_link_close,
	.connect = switchtec_link_connect,
	.look = switchtec_link_look,
	.bind = switchtec_link_bind,
	.unbind = switchtec_link_unbind,
	.await = switchtec_link_await,
};
