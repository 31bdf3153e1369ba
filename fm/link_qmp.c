// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: QEMU as the switch
 *
 * A host is a virtual machine, a port one of its PCIe ports, a GPU a device that QEMU
 * makes: bind is device_add, unbind device_del and the wait for DEVICE_DELETED, which the guest
 * has to let happen. The id of the device is the name of the GPU, so that a manager that has just
 * started finds by qom-list what there is.
 *
 * QEMU deletes a device by itself when the guest powers its slot off.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/link.h"
#include "fm/qmp.h"

#define PERIPHERAL "/machine/peripheral"
/* Nothing is lost when a look at everything is late; it finds what no event told. */
#define LOOK_AGAIN_MS 30000
#define LOOK_AT_MEMORY_MS 20

/**
 * struct link - a virtual machine
 * @agreed: on the protocol, over this connection
 * @gone: GPUs that were deleted, not yet told
 */
struct link {
	const struct config *config;
	const struct config_host *host;
	struct qmp qmp;
	int stop;
	bool agreed;
	bool *gone;
};

static struct link *qmp_link_open(const struct config *config, size_t host, int stop)
{
	struct link *link = mem_zalloc(1, sizeof(*link));

	*link = (struct link){
		.config = config,
		.host = &config->hosts[host],
		.qmp.channel.fd = -1,
		.stop = stop,
		.gone = mem_zalloc(config->gpu_count + 1, sizeof(bool)),
	};
	return link;
}

static void qmp_link_close(struct link *link)
{
	qmp_close(&link->qmp);
	free(link->gone);
	free(link);
}

static int gpu_number(const struct link *link, const char *id)
{
	size_t i;

	for (i = 0; i < link->config->gpu_count; i++)
		if (!strcmp(link->config->gpus[i].name, id))
			return (int)i;
	return FABRIC_NONE;
}

static int port_number(const struct link *link, const char *bus)
{
	size_t i;

	for (i = 0; i < link->host->port_count; i++)
		if (!strcmp(link->host->ports[i], bus))
			return (int)i;
	return FABRIC_NONE;
}

static struct json_object *arguments(const char *key, const char *value, const char *more,
				     const char *much)
{
	struct json_object *all = json_object_new_object();

	json_object_object_add(all, key, json_object_new_string(value));
	if (more)
		json_object_object_add(all, more, json_object_new_string(much));
	return all;
}

/* The port that a device is in, FABRIC_NONE for any other bus. */
static int port_of(struct link *link, const char *id, int *port, struct fault *f)
{
	char *path = mem_printf("%s/%s", PERIPHERAL, id);
	struct json_object *value = NULL;
	const char *bus;
	int err;

	*port = FABRIC_NONE;
	err = qmp_command(&link->qmp, "qom-get", arguments("path", path, "property", "parent_bus"),
			  link->config->bind_ms, &value, f);
	free(path);
	if (!err && json_object_is_type(value, json_type_string)) {
		bus = strrchr(json_object_get_string(value), '/');
		*port = bus ? port_number(link, bus + 1) : FABRIC_NONE;
	}
	json_object_put(value);
	/* no bus, or deleted just now */
	return err == -EREMOTEIO ? 0 : err;
}

static int view_device(struct link *link, struct json_object *device, struct link_view *view,
		       struct fault *f)
{
	struct json_object *name;
	const char *id;
	int err, gpu, port;

	if (!json_object_is_type(device, json_type_object) ||
	    !json_object_object_get_ex(device, "name", &name) ||
	    !json_object_is_type(name, json_type_string))
		return fault_set(f, EPROTO, "QMP: qom-list has an entry without a name");
	id = json_object_get_string(name);
	if (!strcmp(id, "type"))
		return 0;
	gpu = gpu_number(link, id);
	err = port_of(link, id, &port, f);
	if (err)
		return err;
	if (gpu != FABRIC_NONE) {
		view->found = mem_push(view->found, view->count, sizeof(*view->found));
		view->found[view->count++] = (struct fabric_place){ gpu, port };
		if (port != FABRIC_NONE)
			return 0;
	}
	if (port != FABRIC_NONE)
		view->taken[port] = true;
	return 0;
}

static int qmp_link_connect(struct link *link, struct fault *f)
{
	if (link->qmp.channel.fd >= 0)
		return 0;
	link->agreed = false;
	return qmp_connect(&link->qmp, link->host->qmp, link->stop, link->config->bind_ms, f);
}

static int qmp_link_look(struct link *link, struct link_view *view, struct fault *f)
{
	struct json_object *list = NULL;
	char id[QMP_WORD_MAX];
	size_t i, n;
	int err = 0;

	*view = (struct link_view){ 0 };
	if (!link->agreed) {
		err = qmp_agree(&link->qmp, link->config->bind_ms, f);
		if (err) {
			fault_prefix(f, "%s", link->host->qmp);
			return err;
		}
		link->agreed = true;
	}
	/* what is told of before the look is in what the look finds */
	while (qmp_next_gone(&link->qmp, id))
		;
	memset(link->gone, 0, link->config->gpu_count * sizeof(bool));
	qmp_lost_events(&link->qmp);
	err = qmp_command(&link->qmp, "qom-list", arguments("path", PERIPHERAL, NULL, NULL),
			  link->config->bind_ms, &list, f);
	if (!err && !json_object_is_type(list, json_type_array))
		err = fault_set(f, EPROTO, "QMP: the answer to qom-list is not a list");
	n = err ? 0 : json_object_array_length(list);
	for (i = 0; !err && i < n; i++)
		err = view_device(link, json_object_array_get_idx(list, i), view, f);
	json_object_put(list);
	if (err) {
		qmp_close(&link->qmp);
		free(view->found);
		*view = (struct link_view){ 0 };
	}
	return err;
}

/* Numbers and switches as JSON has them, anything else as text. */
static struct json_object *property_value(const char *text)
{
	uint64_t number;

	if (isdigit((unsigned char)*text) && strncmp(text, "0x", 2) &&
	    text_number(text, INT64_MAX, &number))
		return json_object_new_int64((int64_t)number);
	if (!strcmp(text, "on") || !strcmp(text, "off"))
		return json_object_new_boolean(text[1] == 'n');
	return json_object_new_string(text);
}

/* "DRIVER,PROPERTY=VALUE,..." as arguments of device_add. */
static struct json_object *device_arguments(const struct config_gpu *gpu, const char *bus)
{
	struct json_object *all = json_object_new_object();
	char *text = mem_strdup(gpu->device), *at = text, *part, *value;

	part = strsep(&at, ",");
	json_object_object_add(all, "driver", json_object_new_string(part));
	while ((part = strsep(&at, ","))) {
		value = strchr(part, '=');
		if (value)
			*value++ = '\0';
		if (*part)
			json_object_object_add(all, part, property_value(value ? value : "on"));
	}
	json_object_object_add(all, "id", json_object_new_string(gpu->name));
	json_object_object_add(all, "bus", json_object_new_string(bus));
	/* a second device would find a place behind the first one otherwise */
	json_object_object_add(all, "addr", json_object_new_string("0"));
	free(text);
	return all;
}

static void drain(struct link *link)
{
	char id[QMP_WORD_MAX];
	int gpu;

	while (qmp_next_gone(&link->qmp, id)) {
		gpu = gpu_number(link, id);
		if (gpu != FABRIC_NONE)
			link->gone[gpu] = true;
	}
}

static int number_of(struct json_object *from, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(from, key, &value) &&
			       json_object_is_type(value, json_type_int) ?
		       json_object_get_int(value) :
		       0;
}

static bool has_id(struct json_object *device, const char *id)
{
	struct json_object *value;

	return json_object_object_get_ex(device, "qdev_id", &value) &&
	       json_object_is_type(value, json_type_string) &&
	       !strcmp(json_object_get_string(value), id);
}

/* How QEMU names what is in a port among these devices and below them; NULL for none. */
static char *path_below(struct json_object *devices, const char *port, const char *before,
			unsigned int depth)
{
	size_t i, n = json_object_is_type(devices, json_type_array) ?
			      json_object_array_length(devices) :
			      0;
	struct json_object *bridge, *below;
	char *path = NULL, *found = NULL;

	for (i = 0; i < n && !found; i++) {
		struct json_object *device = json_object_array_get_idx(devices, i);

		if (!json_object_is_type(device, json_type_object))
			continue;
		path = mem_printf("%s:%02x.%x", before, number_of(device, "slot"),
				  number_of(device, "function"));
		if (has_id(device, port))
			found = mem_printf("%s:00.0/", path);
		else if (depth && json_object_object_get_ex(device, "pci_bridge", &bridge) &&
			 json_object_is_type(bridge, json_type_object) &&
			 json_object_object_get_ex(bridge, "devices", &below))
			found = path_below(below, port, path, depth - 1);
		free(path);
	}
	return found;
}

static int port_path(struct link *link, const char *port, char **path, struct fault *f)
{
	struct json_object *buses = NULL, *devices;
	int err = qmp_command(&link->qmp, "query-pci", NULL, link->config->bind_ms, &buses, f);
	size_t i, n = 0;

	*path = NULL;
	if (json_object_is_type(buses, json_type_array))
		n = json_object_array_length(buses);
	for (i = 0; i < n && !*path; i++) {
		struct json_object *bus = json_object_array_get_idx(buses, i);
		char *before;

		if (!json_object_is_type(bus, json_type_object) ||
		    !json_object_object_get_ex(bus, "devices", &devices))
			continue;
		before = mem_printf("0000:%02x", number_of(bus, "bus"));
		*path = path_below(devices, port, before, 8);
		free(before);
	}
	json_object_put(buses);
	return err == -EREMOTEIO ? 0 : err;
}

/*
 * QEMU says that a device is deleted before its memory is, and aborts when another one comes to
 * the same place in between. So its memory is looked at first.
 */
static int await_room(struct link *link, const char *path, struct fault *f)
{
	uint64_t deadline = text_monotonic() + link->config->bind_ms;
	struct json_object *blocks;
	int err = 0;
	bool there;

	while (!err) {
		blocks = NULL;
		err = qmp_command(&link->qmp, "human-monitor-command",
				  arguments("command-line", "info ramblock", NULL, NULL),
				  link->config->bind_ms, &blocks, f);
		there = !err && json_object_is_type(blocks, json_type_string) &&
			strstr(json_object_get_string(blocks), path);
		json_object_put(blocks);
		if (err || !there)
			break;
		if (text_monotonic() > deadline)
			return fault_set(f, EBUSY,
					 "QEMU still has memory of the last device in the port");
		drain(link);
		err = qmp_await(&link->qmp, -1, LOOK_AT_MEMORY_MS, f);
		if (err == -ETIMEDOUT)
			err = 0;
	}
	return err == -EREMOTEIO ? 0 : err;
}

static int qmp_link_bind(struct link *link, int gpu, int port, struct fault *f)
{
	const char *bus = link->host->ports[port];
	char *path;
	int err = port_path(link, bus, &path, f);

	if (!err && path)
		err = await_room(link, path, f);
	free(path);
	/* QEMU was told nothing yet */
	if (err)
		return err == -EBUSY ? err : -ENOTCONN;
	link->gone[gpu] = false;
	return qmp_command(&link->qmp, "device_add",
			   device_arguments(&link->config->gpus[gpu], bus), link->config->bind_ms,
			   NULL, f);
}

/* The event that tells of its end may be among those that were lost. */
static int look_for(struct link *link, int gpu, struct fault *f)
{
	char *path = mem_printf("%s/%s", PERIPHERAL, link->config->gpus[gpu].name);
	int err = qmp_command(&link->qmp, "qom-get", arguments("path", path, "property", "type"),
			      link->config->bind_ms, NULL, f);

	free(path);
	link->gone[gpu] = err == -EREMOTEIO;
	return err == -EREMOTEIO ? 0 : err;
}

static int qmp_link_unbind(struct link *link, int gpu, struct fault *f)
{
	const char *name = link->config->gpus[gpu].name;
	uint64_t deadline = text_monotonic() + link->config->unbind_ms, now;
	int err;

	if (link->qmp.channel.fd < 0)
		return fault_set(f, ENOTCONN, "no connection to QEMU");
	err = qmp_command(&link->qmp, "device_del", arguments("id", name, NULL, NULL),
			  link->config->bind_ms, NULL, f);
	if (err == -EREMOTEIO && strstr(f->text, "not found")) {
		/* it went by itself */
		link->gone[gpu] = false;
		return 0;
	}
	if (err == -EREMOTEIO && strstr(f->text, "in the process of unplug"))
		err = 0;
	while (!err) {
		drain(link);
		if (link->gone[gpu]) {
			link->gone[gpu] = false;
			return 0;
		}
		now = text_monotonic();
		if (now >= deadline)
			break;
		err = qmp_await(&link->qmp, -1, deadline - now, f);
		if (err == -ETIMEDOUT)
			break;
		if (!err && qmp_lost_events(&link->qmp))
			err = look_for(link, gpu, f);
	}
	if (err && err != -ETIMEDOUT)
		return err;
	return fault_set(f, EBUSY, "%s has not let go of %s within %llu s", link->host->name, name,
			 (unsigned long long)(link->config->unbind_ms + 999) / 1000);
}

static int qmp_link_await(struct link *link, int wake, int *gone, struct fault *f)
{
	size_t i;
	int err = 0;

	*gone = FABRIC_NONE;
	for (;;) {
		drain(link);
		for (i = 0; i < link->config->gpu_count; i++) {
			if (!link->gone[i])
				continue;
			link->gone[i] = false;
			*gone = (int)i;
			return 0;
		}
		if (qmp_lost_events(&link->qmp))
			return 0;
		err = qmp_await(&link->qmp, wake, LOOK_AGAIN_MS, f);
		if (err == -ETIMEDOUT)
			return 0;
		if (err)
			return err;
	}
}

const struct link_ops link_qmp = {
	.open = qmp_link_open,
	.close = qmp_link_close,
	.connect = qmp_link_connect,
	.look = qmp_link_look,
	.bind = qmp_link_bind,
	.unbind = qmp_link_unbind,
	.await = qmp_link_await,
};
