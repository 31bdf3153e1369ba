// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the manager's configuration
 *
 * One file of sections: [manager], [switch], a [host.NAME] for each host and a [gpu.NAME] for each
 * GPU of the pool. What is written of a host or a GPU has to suit the driver of the switch. What
 * is not understood is refused with its line, so that a mistake never
 * becomes a fabric that somebody did not mean.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/text.h"
#include "fm/agent.h"
#include "fm/config.h"
#include "fm/gfms.h"

#define FILE_MAX (1u << 20)
#define NAME_MAX_LEN 64
#define SOCKET_PATH_MAX 100

/**
 * struct reading - where the reader is
 * @host: the open [host.NAME], or NULL
 * @gpu: the open [gpu.NAME], or NULL
 * @manager: the open section is [manager]
 * @fabric_switch: the open section is [switch]
 * @driver_given: in [switch]
 * @seen: a line for each key of [manager] that was given
 */
struct reading {
	struct config *config;
	struct config_host *host;
	struct config_gpu *gpu;
	bool manager, fabric_switch, driver_given;
	struct text seen;
};

bool config_name_valid(const char *name)
{
	size_t i, len = strlen(name);

	if (!len || len > NAME_MAX_LEN)
		return false;
	for (i = 0; i < len; i++) {
		if (isalnum((unsigned char)name[i]))
			continue;
		if (!i || i + 1 == len || !strchr("-._", name[i]))
			return false;
	}
	return true;
}

bool config_address(const char *listen, char **host, char **port)
{
	const char *colon = strrchr(listen, ':');
	size_t len = colon ? (size_t)(colon - listen) : 0;
	uint64_t number;

	if (!colon || !text_number(colon + 1, 65535, &number))
		return false;
	if (len > 1 && *listen == '[' && listen[len - 1] == ']') {
		listen++;
		len -= 2;
	} else if (memchr(listen, ':', len)) {
		return false;
	}
	if (!len)
		return false;
	*host = mem_printf("%.*s", (int)len, listen);
	*port = mem_strdup(colon + 1);
	return true;
}

static int set_text(char **to, const char *key, const char *value, struct fault *f)
{
	if (*to)
		return fault_set(f, EINVAL, "%s is given twice", key);
	*to = mem_strdup(value);
	return 0;
}

static int set_duration(uint64_t *ms, uint64_t max, const char *value, struct fault *f)
{
	if (!text_parse_duration(value, ms) || !*ms || *ms > max)
		return fault_set(f, EINVAL,
				 "\"%.40s\" is not a duration of at most %llu s, such as 30s",
				 value, (unsigned long long)max / 1000);
	return 0;
}

static int set_count(unsigned int *count, const char *value, struct fault *f)
{
	unsigned long long n;
	int err = conf_whole(value, 1, 4096, &n, f);

	if (!err)
		*count = (unsigned int)n;
	return err;
}

static int manager_key(struct reading *r, const char *key, const char *value, struct fault *f)
{
	struct config *c = r->config;
	char *host = NULL, *port = NULL, *line = mem_printf("\n%s\n", key);
	bool twice = r->seen.text && strstr(r->seen.text, line);

	text_add(&r->seen, "%s", line);
	free(line);
	if (twice)
		return fault_set(f, EINVAL, "%s is given twice", key);
	if (!strcmp(key, "listen")) {
		if (!config_address(value, &host, &port))
			return fault_set(f, EINVAL,
					 "\"%.80s\" is not an address with a port, such as 0.0.0.0:8443",
					 value);
		free(host);
		free(port);
		return set_text(&c->listen, key, value, f);
	}
	if (!strcmp(key, "fabric")) {
		if (!config_name_valid(value))
			return fault_set(f, EINVAL, "\"%.80s\" is not a valid name", value);
		return set_text(&c->fabric, key, value, f);
	}
	if (!strcmp(key, "names"))
		return set_text(&c->names, key, value, f);
	if (!strcmp(key, "client_certificates")) {
		if (strcmp(value, "required") && strcmp(value, "optional"))
			return fault_set(f, EINVAL,
					 "client_certificates must be required or optional");
		c->certificate_needed = !strcmp(value, "required");
		return 0;
	}
	if (!strcmp(key, "connections"))
		return set_count(&c->connections, value, f);
	if (!strcmp(key, "connections_per_address"))
		return set_count(&c->connections_per_address, value, f);
	if (!strcmp(key, "unbind_timeout"))
		return set_duration(&c->unbind_ms, 600000, value, f);
	if (!strcmp(key, "bind_timeout"))
		return set_duration(&c->bind_ms, 600000, value, f);
	if (!strcmp(key, "session_timeout"))
		return set_duration(&c->session_ms, 86400000, value, f);
	if (!strcmp(key, "request_timeout"))
		return set_duration(&c->request_ms, 600000, value, f);
	if (!strcmp(key, "task_after"))
		return set_duration(&c->task_ms, 600000, value, f);
	return fault_set(f, EINVAL, "[manager] has no key \"%s\"", key);
}

static bool device_valid(const char *path)
{
	if (!strncmp(path, "unix:", 5)) {
		path += 5;
		if (strlen(path) > SOCKET_PATH_MAX)
			return false;
	}
	return *path == '/';
}

static int switch_key(struct reading *r, const char *key, const char *value, struct fault *f)
{
	if (!strcmp(key, "driver")) {
		if (r->driver_given)
			return fault_set(f, EINVAL, "driver is given twice");
		r->driver_given = true;
		if (!strcmp(value, "qmp"))
			r->config->driver = DRIVER_QMP;
		else if (!strcmp(value, "switchtec"))
			r->config->driver = DRIVER_SWITCHTEC;
		else if (!strcmp(value, "sim"))
			r->config->driver = DRIVER_SIM;
		else
			return fault_set(f, EINVAL, "driver must be qmp, switchtec or sim");
		return 0;
	}
	if (!strcmp(key, "device")) {
		if (!device_valid(value))
			return fault_set(f, EINVAL,
					 "device must be a path such as /dev/switchtec0, or unix:PATH");
		return set_text(&r->config->device, key, value, f);
	}
	return fault_set(f, EINVAL, "[switch] has no key \"%s\"", key);
}

/* "0/24": the index of a switch in its fabric, and one of its physical ports. */
static int set_port(int pair[2], const char *key, const char *value, struct fault *f)
{
	char *text = mem_strdup(value), *slash = strchr(text, '/');
	uint64_t sw, phys;
	bool good = slash;

	if (pair[0] >= 0) {
		free(text);
		return fault_set(f, EINVAL, "%s is given twice", key);
	}
	if (slash)
		*slash++ = '\0';
	good = good && text_number(text, GFMS_SWITCHES_MAX - 1, &sw) &&
	       text_number(slash, UINT8_MAX, &phys);
	free(text);
	if (!good)
		return fault_set(f, EINVAL, "%s must be SWITCH/PORT, two numbers such as 0/24",
				 key);
	pair[0] = (int)sw;
	pair[1] = (int)phys;
	return 0;
}

static int set_fence(struct config_host *host, const char *value, struct fault *f)
{
	if (host->fence != FENCE_NONE)
		return fault_set(f, EINVAL, "fence is given twice");
	if (!strcmp(value, "qmp-gone")) {
		host->fence = FENCE_QMP_GONE;
		return 0;
	}
	if (!strcmp(value, "lease")) {
		host->fence = FENCE_LEASE;
		return 0;
	}
	if (*value != '/' || strpbrk(value, " \t"))
		return fault_set(f, EINVAL,
				 "fence must be qmp-gone, lease or the path of a program");
	host->fence = FENCE_PROGRAM;
	host->program = mem_strdup(value);
	return 0;
}

static int set_lease(struct config_host *host, const char *value, struct fault *f)
{
	if (host->lease_ms)
		return fault_set(f, EINVAL, "lease is given twice");
	if (!text_parse_duration(value, &host->lease_ms) || host->lease_ms < CONFIG_LEASE_MIN_MS ||
	    host->lease_ms > CONFIG_LEASE_MAX_MS)
		return fault_set(f, EINVAL, "lease is a duration from 5s to 1h, such as 1min");
	return 0;
}

static int set_ports(struct config_host *host, const char *value, struct fault *f)
{
	size_t i, k;
	int err;

	if (host->ports)
		return fault_set(f, EINVAL, "ports is given twice");
	err = conf_list(value, &host->ports, &host->port_count, f);
	for (i = 0; !err && i < host->port_count; i++) {
		if (!config_name_valid(host->ports[i]))
			err = fault_set(f, EINVAL, "\"%.80s\" is not the name of a bus",
					host->ports[i]);
		for (k = 0; !err && k < i; k++)
			if (!strcmp(host->ports[i], host->ports[k]))
				err = fault_set(f, EINVAL, "port %s is listed twice",
						host->ports[i]);
	}
	return err;
}

static int host_key(struct config_host *host, const char *key, const char *value, struct fault *f)
{
	if (!strcmp(key, "qmp") || !strcmp(key, "agent")) {
		if (*value != '/' || strlen(value) > SOCKET_PATH_MAX)
			return fault_set(f, EINVAL,
					 "%s must be the path of a socket, of at most 100 characters",
					 key);
		return set_text(*key == 'q' ? &host->qmp : &host->agent, key, value, f);
	}
	if (!strcmp(key, "upstream"))
		return set_port(host->upstream, key, value, f);
	if (!strcmp(key, "ports"))
		return set_ports(host, value, f);
	if (!strcmp(key, "fence"))
		return set_fence(host, value, f);
	if (!strcmp(key, "lease"))
		return set_lease(host, value, f);
	return fault_set(f, EINVAL, "[host.%s] has no key \"%s\"", host->name, key);
}

/* "10de:2331": two numbers of four hexadecimal digits. */
static bool read_pair(const char *value, int pair[2])
{
	unsigned int a, b;
	int end = 0;

	if (strlen(value) != 9 || strspn(value, "0123456789abcdefABCDEF:") != 9 ||
	    sscanf(value, "%4x:%4x%n", &a, &b, &end) != 2 || end != 9)
		return false;
	pair[0] = (int)a;
	pair[1] = (int)b;
	return true;
}

static int set_pdfid(struct config_gpu *gpu, const char *value, struct fault *f)
{
	uint64_t number;

	if (gpu->pdfid >= 0)
		return fault_set(f, EINVAL, "pdfid is given twice");
	/* 0xffff is none */
	if (!text_number(value, UINT16_MAX - 1, &number))
		return fault_set(f, EINVAL, "pdfid must be a number such as 0x0f01");
	gpu->pdfid = (int)number;
	return 0;
}

static int gpu_key(struct config_gpu *gpu, const char *key, const char *value, struct fault *f)
{
	if (!strcmp(key, "device")) {
		if (!isalnum((unsigned char)*value) || strpbrk(value, " \t\"\\"))
			return fault_set(f, EINVAL,
					 "device must be DRIVER,PROPERTY=VALUE,... without blanks");
		return set_text(&gpu->device, key, value, f);
	}
	if (!strcmp(key, "card")) {
		if (strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789- ") != strlen(value))
			return fault_set(f, EINVAL,
					 "card is a card of the simulator, such as h100-80");
		return set_text(&gpu->card, key, value, f);
	}
	if (!strcmp(key, "endpoint"))
		return set_port(gpu->endpoint, key, value, f);
	if (!strcmp(key, "pdfid"))
		return set_pdfid(gpu, value, f);
	if (!strcmp(key, "pci") || !strcmp(key, "subsystem"))
		return read_pair(value, gpu->pci + (*key == 's' ? 2 : 0)) ?
			       0 :
			       fault_set(f, EINVAL, "%s must be vendor:device, such as 10de:2331",
					 key);
	if (!strcmp(key, "class")) {
		if (strlen(value) != 6 || strspn(value, "0123456789abcdefABCDEF") != 6)
			return fault_set(f, EINVAL,
					 "class must be six hexadecimal digits, such as 030200");
		gpu->class_code = (int)strtoul(value, NULL, 16);
		return 0;
	}
	if (!strcmp(key, "serial"))
		return set_text(&gpu->serial, key, value, f);
	if (!strcmp(key, "model"))
		return set_text(&gpu->model, key, value, f);
	return fault_set(f, EINVAL, "[gpu.%s] has no key \"%s\"", gpu->name, key);
}

static int begin_host(struct reading *r, const char *name, struct fault *f)
{
	struct config *c = r->config;
	size_t i;

	for (i = 0; i < c->host_count; i++)
		if (!strcmp(c->hosts[i].name, name))
			return fault_set(f, EINVAL, "[host.%s] appears twice", name);
	for (i = 0; i < c->gpu_count; i++)
		if (!strcmp(c->gpus[i].name, name))
			return fault_set(f, EINVAL, "%s is a GPU already", name);
	if (c->host_count == CONFIG_HOSTS_MAX)
		return fault_set(f, E2BIG, "more than %d hosts", CONFIG_HOSTS_MAX);
	c->hosts = mem_push(c->hosts, c->host_count, sizeof(*c->hosts));
	r->host = &c->hosts[c->host_count++];
	*r->host = (struct config_host){ .name = mem_strdup(name), .upstream = { -1, -1 } };
	return 0;
}

static int begin_gpu(struct reading *r, const char *name, struct fault *f)
{
	struct config *c = r->config;
	size_t i;

	for (i = 0; i < c->gpu_count; i++)
		if (!strcmp(c->gpus[i].name, name))
			return fault_set(f, EINVAL, "[gpu.%s] appears twice", name);
	for (i = 0; i < c->host_count; i++)
		if (!strcmp(c->hosts[i].name, name))
			return fault_set(f, EINVAL, "%s is a host already", name);
	if (c->gpu_count == CONFIG_GPUS_MAX)
		return fault_set(f, E2BIG, "more than %d GPUs", CONFIG_GPUS_MAX);
	c->gpus = mem_push(c->gpus, c->gpu_count, sizeof(*c->gpus));
	r->gpu = &c->gpus[c->gpu_count++];
	*r->gpu = (struct config_gpu){
		.name = mem_strdup(name),
		.endpoint = { -1, -1 },
		.pdfid = -1,
		.pci = { -1, -1, -1, -1 },
		.class_code = -1,
	};
	return 0;
}

static int begin_section(struct reading *r, const char *section, struct fault *f)
{
	r->host = NULL;
	r->gpu = NULL;
	r->manager = !strcmp(section, "manager");
	r->fabric_switch = !strcmp(section, "switch");
	if (r->manager || r->fabric_switch)
		return 0;
	if (!strncmp(section, "host.", 5) && config_name_valid(section + 5))
		return begin_host(r, section + 5, f);
	if (!strncmp(section, "gpu.", 4) && config_name_valid(section + 4))
		return begin_gpu(r, section + 4, f);
	return fault_set(f, EINVAL,
			 "[%s] is none of [manager], [switch], [host.NAME] and [gpu.NAME]",
			 section);
}

static int config_item(const struct conf_item *item, void *arg, struct fault *f)
{
	struct reading *r = arg;

	if (!item->key)
		return begin_section(r, item->section, f);
	if (r->host)
		return host_key(r->host, item->key, item->value, f);
	if (r->gpu)
		return gpu_key(r->gpu, item->key, item->value, f);
	if (r->fabric_switch)
		return switch_key(r, item->key, item->value, f);
	return manager_key(r, item->key, item->value, f);
}

static bool same_pair(const int a[2], const int b[2])
{
	return a[0] == b[0] && a[1] == b[1];
}

static int host_is_qmp(const struct config_host *host, struct fault *f)
{
	if (!host->qmp)
		return fault_set(f, EINVAL, "[host.%s] has no qmp", host->name);
	if (host->upstream[0] >= 0 || host->agent)
		return fault_set(f, EINVAL, "[host.%s] has %s, which the driver qmp does not use",
				 host->name, host->agent ? "agent" : "upstream");
	return 0;
}

static int host_is_sim(const struct config_host *host, struct fault *f)
{
	const char *digits = "0123456789", *port;
	size_t i, first;

	if (!host->agent)
		return fault_set(f, EINVAL, "[host.%s] has no agent", host->name);
	if (host->qmp || host->upstream[0] >= 0)
		return fault_set(f, EINVAL, "[host.%s] has %s, which the driver sim does not use",
				 host->name, host->qmp ? "qmp" : "upstream");
	if (host->fence == FENCE_QMP_GONE)
		return fault_set(f, EINVAL, "[host.%s] has no QMP socket: fence must be a program",
				 host->name);
	for (i = 0; i < host->port_count; i++) {
		port = host->ports[i];
		first = strspn(port, digits);
		if (!first || port[first] != '.' || !port[first + 1] ||
		    port[first + 1 + strspn(port + first + 1, digits)])
			return fault_set(f, EINVAL,
					 "[host.%s]: \"%.80s\" is not a slot of a simulator, such as 0.3",
					 host->name, port);
	}
	return 0;
}

static int host_is_switchtec(const struct config_host *host, struct fault *f)
{
	uint64_t number;
	size_t i;

	if (host->upstream[0] < 0)
		return fault_set(f, EINVAL, "[host.%s] has no upstream", host->name);
	if (host->qmp || host->agent)
		return fault_set(f, EINVAL,
				 "[host.%s] has %s, which the driver switchtec does not use",
				 host->name, host->qmp ? "qmp" : "agent");
	if (host->fence != FENCE_NONE)
		return fault_set(f, EINVAL,
				 "[host.%s] has fence, which the driver switchtec does not need: its switch takes GPUs from a host that is off",
				 host->name);
	/* no other spelling, or one port would be two */
	for (i = 0; i < host->port_count; i++)
		if (!text_number(host->ports[i], UINT8_MAX, &number) ||
		    (host->ports[i][0] == '0' && host->ports[i][1]))
			return fault_set(f, EINVAL,
					 "[host.%s]: \"%.80s\" is not the number of a logical port",
					 host->name, host->ports[i]);
	return 0;
}

const char *config_place_key(const struct config *config)
{
	static const char *const keys[] = {
		[DRIVER_QMP] = "qmp",
		[DRIVER_SWITCHTEC] = "upstream",
		[DRIVER_SIM] = "agent",
	};

	return keys[config->driver];
}

/* Are two hosts attached at the same place? */
static bool same_place(enum config_driver driver, const struct config_host *a,
		       const struct config_host *b)
{
	if (driver == DRIVER_SWITCHTEC)
		return same_pair(a->upstream, b->upstream);
	return driver == DRIVER_SIM ? !strcmp(a->agent, b->agent) : !strcmp(a->qmp, b->qmp);
}

static int host_complete(const struct config *c, size_t i, struct fault *f)
{
	const struct config_host *host = &c->hosts[i], *other;
	int err = c->driver == DRIVER_SIM ? host_is_sim(host, f) :
		  c->driver == DRIVER_QMP ? host_is_qmp(host, f) :
					    host_is_switchtec(host, f);
	size_t k;

	if (!err && host->fence != FENCE_LEASE && host->lease_ms)
		err = fault_set(f, EINVAL, "[host.%s] has lease without fence = lease", host->name);
	if (!err && !host->port_count)
		err = fault_set(f, EINVAL, "[host.%s] has no ports", host->name);
	for (k = 0; k < i && !err; k++) {
		other = &c->hosts[k];
		if (same_place(c->driver, host, other))
			err = fault_set(f, EINVAL, "[host.%s] and [host.%s] have the same %s",
					other->name, host->name, config_place_key(c));
	}
	return err;
}

static int gpu_is_sim(const struct config_gpu *gpu, struct fault *f)
{
	if (gpu->device || gpu->endpoint[0] >= 0 || gpu->pdfid >= 0)
		return fault_set(f, EINVAL,
				 "[gpu.%s] has device, endpoint or pdfid, which the driver sim does not use",
				 gpu->name);
	if (!gpu->card)
		return fault_set(f, EINVAL, "[gpu.%s] has no card", gpu->name);
	if (!gpu->serial || !agent_serial_valid(gpu->serial))
		return fault_set(f, EINVAL,
				 "[gpu.%s] needs a serial of 16 hexadecimal digits in lower case: it says which card this is",
				 gpu->name);
	return 0;
}

static int gpu_complete(const struct config *c, size_t i, struct fault *f)
{
	const struct config_gpu *gpu = &c->gpus[i], *other;
	bool endpoint = gpu->endpoint[0] >= 0, pdfid = gpu->pdfid >= 0;
	size_t k;
	int err = c->driver == DRIVER_SIM ? gpu_is_sim(gpu, f) : 0;

	if (err)
		return err;
	if (c->driver != DRIVER_SIM && gpu->card)
		return fault_set(f, EINVAL, "[gpu.%s] has card, which only the driver sim uses",
				 gpu->name);
	if (c->driver == DRIVER_QMP && !gpu->device)
		return fault_set(f, EINVAL, "[gpu.%s] has no device", gpu->name);
	if (c->driver == DRIVER_QMP && (endpoint || pdfid))
		return fault_set(f, EINVAL,
				 "[gpu.%s] has endpoint or pdfid, which the driver qmp does not use",
				 gpu->name);
	if (c->driver == DRIVER_SWITCHTEC && (gpu->device || endpoint == pdfid))
		return fault_set(f, EINVAL,
				 "[gpu.%s] needs either endpoint or pdfid, without device",
				 gpu->name);
	for (k = 0; k < i; k++) {
		other = &c->gpus[k];
		if ((endpoint && same_pair(gpu->endpoint, other->endpoint)) ||
		    (pdfid && gpu->pdfid == other->pdfid) ||
		    (c->driver == DRIVER_SIM && !strcmp(gpu->serial, other->serial)))
			return fault_set(f, EINVAL, "[gpu.%s] and [gpu.%s] are the same GPU",
					 other->name, gpu->name);
	}
	return 0;
}

static void lease_complete(struct config_host *host)
{
	if (host->fence == FENCE_LEASE && !host->lease_ms)
		host->lease_ms = 60000;
}

static int config_complete(struct config *c, struct fault *f)
{
	size_t i;
	int err = 0;

	if (c->driver == DRIVER_SWITCHTEC && !c->device)
		err = fault_set(f, EINVAL, "[switch] has no device");
	if (c->driver != DRIVER_SWITCHTEC && c->device)
		err = fault_set(f, EINVAL, "[switch] has device, which the driver %s does not use",
				c->driver == DRIVER_QMP ? "qmp" : "sim");
	for (i = 0; i < c->host_count && !err; i++) {
		err = host_complete(c, i, f);
		lease_complete(&c->hosts[i]);
	}
	for (i = 0; i < c->gpu_count && !err; i++)
		err = gpu_complete(c, i, f);
	if (err)
		return err;
	if (!c->listen)
		c->listen = mem_strdup("[::]:8443");
	if (!c->fabric)
		c->fabric = mem_strdup("PCIe");
	return 0;
}

bool config_host_moves(const struct config *config, const struct config_host *host,
		       const struct config *now, const struct config_host *as)
{
	if (config->driver != now->driver)
		return true;
	if (now->driver == DRIVER_SWITCHTEC && strcmp(config->device, now->device))
		return true;
	return !same_place(now->driver, host, as);
}

bool config_gpu_moves(const struct config_gpu *gpu, const struct config_gpu *as)
{
	if (gpu->card && as->card && strcmp(gpu->serial, as->serial))
		return true;
	return !same_pair(gpu->endpoint, as->endpoint) || gpu->pdfid != as->pdfid;
}

int config_parse(const char *file, const char *text, size_t len, struct config *config,
		 struct fault *f)
{
	struct reading r = { .config = config };
	int err;

	*config = (struct config){
		.certificate_needed = true,
		.connections = 256,
		.connections_per_address = 128,
		.unbind_ms = 30000,
		.bind_ms = 10000,
		.session_ms = 1800000,
		.request_ms = 20000,
		.task_ms = 10000,
	};
	err = conf_parse_names(file, text, len, config_item, &r, f);
	free(r.seen.text);
	if (err)
		return err;
	err = config_complete(config, f);
	if (err)
		fault_prefix(f, "%s", file);
	return err;
}

int config_read(const char *folder, struct config *config, struct fault *f)
{
	char *path = mem_printf("%s/fm.conf", folder), *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	struct stat st;
	ssize_t len;

	*config = (struct config){ 0 };
	if (fd < 0 || fstat(fd, &st)) {
		err = fault_set(f, errno, "%s: %s", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX) {
		err = fault_set(f, EINVAL, "%s: not a plain file of at most 1 MiB", path);
		goto out;
	}
	text = mem_zalloc((size_t)st.st_size + 1, 1);
	len = read(fd, text, (size_t)st.st_size);
	if (len < 0) {
		err = fault_set(f, errno, "%s: %s", path, strerror(errno));
		goto out;
	}
	err = config_parse(path, text, (size_t)len, config, f);
	config->folder = mem_strdup(folder);
out:
	if (fd >= 0)
		close(fd);
	free(text);
	free(path);
	return err;
}

void config_free(struct config *config)
{
	size_t i;

	for (i = 0; i < config->host_count; i++) {
		free(config->hosts[i].name);
		free(config->hosts[i].qmp);
		free(config->hosts[i].agent);
		free(config->hosts[i].program);
		conf_list_free(config->hosts[i].ports, config->hosts[i].port_count);
	}
	for (i = 0; i < config->gpu_count; i++) {
		free(config->gpus[i].name);
		free(config->gpus[i].device);
		free(config->gpus[i].card);
		free(config->gpus[i].serial);
		free(config->gpus[i].model);
	}
	free(config->hosts);
	free(config->gpus);
	free(config->folder);
	free(config->listen);
	free(config->fabric);
	free(config->names);
	free(config->device);
	*config = (struct config){ 0 };
}
