// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the GFMS database
 *
 * Offsets, sizes and numbers are facts of the interface as Microchip's library switchtec-user
 * declares them (inc/switchtec/fabric.h and lib/fabric.c, MIT). All numbers are little-endian, all
 * sizes in words of four bytes.
 *
 * A dump of a switch has three sections, each with a header of 12 bytes: what the switch has in
 * all (68 bytes), the hosts with their logical ports, and the ports of endpoints with the
 * functions behind them. Functions and logical ports both say what is bound to what.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/gfms.h"

#define SECTION_HEAD 12
#define GENERAL_BODY 68
#define HVD_HEAD 8
#define HVD_ENTRY 4
#define PORT_HEAD 8
#define DEVICE_HEAD 8
#define FUNCTION_SIZE 36
#define WORD 4

#define EVENT_HEAD 4
#define EVENT_AER 13
#define EVENTS_LOST 0x8000

#define SUB_DUMP_ALL 1
#define SUB_BIND 1
#define SUB_UNBIND 2
#define SUB_EVENTS_GET 1
/* Of all that an answer can hold; what is left waits for the next request. */
#define EVENTS_WANTED 32

enum port_kind {
	PORT_ENDPOINT,
	PORT_SWITCH,
	PORT_EMPTY,
};

/* Bytes that are left to read. */
struct cursor {
	const uint8_t *at;
	size_t left;
};

static unsigned int le16(const uint8_t *at)
{
	return at[0] | (unsigned int)at[1] << 8;
}

static uint32_t le24(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

static uint32_t le32(const uint8_t *at)
{
	return le24(at) | (uint32_t)at[3] << 24;
}

static void put16(uint8_t *to, unsigned int value)
{
	to[0] = (uint8_t)value;
	to[1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *to, uint32_t value)
{
	put16(to, value & 0xffff);
	put16(to + 2, value >> 16);
}

/* The next @len bytes, or NULL where so many are not left. */
static const uint8_t *cursor_take(struct cursor *c, size_t len)
{
	const uint8_t *at = c->at;

	if (len > c->left)
		return NULL;
	c->at += len;
	c->left -= len;
	return at;
}

/* The next @len bytes as a cursor of their own. */
static bool cursor_part(struct cursor *c, size_t len, struct cursor *part)
{
	part->at = cursor_take(c, len);
	part->left = len;
	return part->at;
}

static int cut_off(struct fault *f, const char *what)
{
	return fault_set(f, EPROTO, "GFMS database: %s: the length is wrong", what);
}

/* What follows the header of a section. */
static int section_open(struct cursor *dump, struct cursor *section, struct fault *f)
{
	const uint8_t *head = cursor_take(dump, SECTION_HEAD);
	uint64_t size;

	if (!head)
		return cut_off(f, "a section");
	size = (uint64_t)le32(head + 4) * WORD;
	if (size < SECTION_HEAD || !cursor_part(dump, size - SECTION_HEAD, section))
		return cut_off(f, "a section");
	return 0;
}

static int general_read(struct cursor *dump, uint8_t sw, struct fault *f)
{
	const uint8_t *head = cursor_take(dump, SECTION_HEAD);

	if (!head || !cursor_take(dump, GENERAL_BODY))
		return cut_off(f, "the switch");
	if (head[1] != sw)
		return fault_set(f, EPROTO, "GFMS database: switch %u was asked, switch %u answers",
				 sw, head[1]);
	return 0;
}

static void binding_add(struct gfms *g, struct gfms_port host, uint8_t log, unsigned int pdfid)
{
	g->bindings = mem_push(g->bindings, g->binding_count, sizeof(*g->bindings));
	g->bindings[g->binding_count++] = (struct gfms_binding){
		.host = host,
		.log = log,
		.pdfid = (uint16_t)pdfid,
	};
}

static int hosts_read(struct gfms *g, uint8_t sw, struct cursor *section, struct fault *f)
{
	while (section->left) {
		const uint8_t *head = cursor_take(section, HVD_HEAD), *entries;
		struct gfms_host host;
		size_t i, n;

		if (!head)
			return cut_off(f, "a host");
		host = (struct gfms_host){
			.at = { sw, head[1] },
			.log_count = le16(head + 4),
		};
		/* a logical port has a number of one byte */
		n = (size_t)host.log_count * GFMS_FUNCTIONS_MAX;
		entries = host.log_count > 256 ? NULL : cursor_take(section, n * HVD_ENTRY);
		if (!entries)
			return cut_off(f, "the ports of a host");
		if (gfms_find_host(g, host.at))
			return fault_set(f, EPROTO, "GFMS database: host %u/%u appears twice", sw,
					 host.at.phys);
		g->hosts = mem_push(g->hosts, g->host_count, sizeof(*g->hosts));
		g->hosts[g->host_count++] = host;
		for (i = 0; i < n; i++, entries += HVD_ENTRY)
			if (entries[1])
				binding_add(g, host.at, entries[0], le16(entries + 2));
	}
	return 0;
}

static void function_add(struct gfms *g, struct gfms_port at, const uint8_t *from)
{
	struct gfms_function *function;
	size_t i;

	g->functions = mem_push(g->functions, g->function_count, sizeof(*g->functions));
	function = &g->functions[g->function_count++];
	*function = (struct gfms_function){
		.at = at,
		.device = g->devices,
		.id = (uint16_t)le16(from),
		.pdfid = (uint16_t)le16(from + 2),
		.physical = from[4] & 1,
		.class_code = le24(from + 20),
	};
	for (i = 0; i < 4; i++)
		function->pci[i] = (uint16_t)le16(from + 12 + 2 * i);
	if (from[8])
		binding_add(g, (struct gfms_port){ from[9], from[10] }, from[11], function->pdfid);
}

static int device_read(struct gfms *g, struct gfms_port at, struct cursor *port, struct fault *f)
{
	const uint8_t *head = cursor_take(port, DEVICE_HEAD);
	struct cursor device;
	size_t i, n, size;

	if (!head)
		return cut_off(f, "a device");
	n = le16(head);
	size = (size_t)le24(head + 4) * WORD;
	if (size < DEVICE_HEAD + n * FUNCTION_SIZE ||
	    !cursor_part(port, size - DEVICE_HEAD, &device))
		return cut_off(f, "the functions of a device");
	for (i = 0; i < n; i++)
		function_add(g, at, device.at + i * FUNCTION_SIZE);
	g->devices++;
	return 0;
}

/* A port with a switch of somebody else's: its own functions, then the devices behind it. */
static int switch_read(struct gfms *g, struct gfms_port at, struct cursor *port, struct fault *f)
{
	const uint8_t *head = cursor_take(port, DEVICE_HEAD);
	int err = 0;

	if (!head || !cursor_take(port, (size_t)le16(head) * FUNCTION_SIZE))
		return cut_off(f, "a switch in a port");
	while (port->left && !err)
		err = device_read(g, at, port, f);
	return err;
}

static int ports_read(struct gfms *g, uint8_t sw, struct cursor *section, struct fault *f)
{
	int err = 0;

	while (section->left && !err) {
		const uint8_t *head = cursor_take(section, PORT_HEAD);
		struct gfms_port at;
		struct cursor port;
		size_t size;

		if (!head)
			return cut_off(f, "a port");
		at = (struct gfms_port){ sw, head[1] };
		size = (size_t)le24(head + 4) * WORD;
		if (size < PORT_HEAD || !cursor_part(section, size - PORT_HEAD, &port))
			return cut_off(f, "a port");
		if (head[0] == PORT_ENDPOINT)
			err = device_read(g, at, &port, f);
		else if (head[0] == PORT_SWITCH)
			err = switch_read(g, at, &port, f);
		else if (head[0] != PORT_EMPTY)
			err = fault_set(f, EPROTO, "GFMS database: port %u/%u is of kind %u", sw,
					at.phys, head[0]);
	}
	return err;
}

int gfms_read(struct gfms *g, uint8_t sw, const uint8_t *data, size_t len, struct fault *f)
{
	struct cursor dump = { data, len }, section;
	int err = general_read(&dump, sw, f);

	if (!err)
		err = section_open(&dump, &section, f);
	if (!err)
		err = hosts_read(g, sw, &section, f);
	if (!err)
		err = section_open(&dump, &section, f);
	if (!err)
		err = ports_read(g, sw, &section, f);
	if (!err && dump.left)
		err = cut_off(f, "the end");
	return err;
}

void gfms_free(struct gfms *g)
{
	free(g->hosts);
	free(g->bindings);
	free(g->functions);
	*g = (struct gfms){ 0 };
}

bool gfms_port_is(struct gfms_port a, struct gfms_port b)
{
	return a.sw == b.sw && a.phys == b.phys;
}

const struct gfms_host *gfms_find_host(const struct gfms *g, struct gfms_port at)
{
	size_t i;

	for (i = 0; i < g->host_count; i++)
		if (gfms_port_is(g->hosts[i].at, at))
			return &g->hosts[i];
	return NULL;
}

size_t gfms_dump_length(const uint8_t answer[8], struct fault *f)
{
	uint64_t size = (uint64_t)le32(answer) * WORD;

	if (size && size <= GFMS_DUMP_MAX)
		return size;
	fault_set(f, EPROTO, "GFMS database: a length of %llu bytes", (unsigned long long)size);
	return 0;
}

size_t gfms_part_length(const uint8_t part[GFMS_PART_SIZE], size_t offset, size_t total,
			struct fault *f)
{
	uint64_t at = (uint64_t)le32(part) * WORD, size = (uint64_t)le32(part + 4) * WORD;

	if (at == offset && size > GFMS_PART_HEAD && size <= GFMS_PART_SIZE &&
	    size - GFMS_PART_HEAD <= total - offset)
		return size - GFMS_PART_HEAD;
	fault_set(f, EPROTO,
		  "GFMS database: the answer has %llu bytes from %llu on, the request was for %zu to %zu",
		  (unsigned long long)size, (unsigned long long)at, offset, total);
	return 0;
}

int gfms_events(const uint8_t answer[GFMS_EVENTS_SIZE], unsigned int *left, struct fault *f)
{
	struct cursor list = { answer + 4, GFMS_EVENTS_SIZE - 4 };
	unsigned int n = le16(answer), size;
	int news = !!(le16(answer + 2) & EVENTS_LOST);
	const uint8_t *event;

	*left = le16(answer + 2) & ~EVENTS_LOST;
	/* nothing to read, and more to come, for ever */
	if (!n && *left)
		return fault_set(f, EPROTO, "GFMS events: the answer has none of %u events", *left);
	while (n--) {
		event = cursor_take(&list, EVENT_HEAD);
		size = event ? le16(event) : 0;
		if (size < EVENT_HEAD || !cursor_take(&list, size - EVENT_HEAD))
			return fault_set(f, EPROTO, "GFMS events: the length of one is wrong");
		if (event[2] != EVENT_AER)
			news = 1;
	}
	return news;
}

void gfms_put_bind(uint8_t to[GFMS_BIND_SIZE], struct gfms_port host, uint8_t log,
		   const uint16_t *pdfids, size_t n)
{
	size_t i;

	memset(to, 0, GFMS_BIND_SIZE);
	to[0] = SUB_BIND;
	to[1] = host.sw;
	to[2] = host.phys;
	to[3] = log;
	for (i = 0; i < n; i++) {
		put16(to + 4 + 4 * i, pdfids[i]);
		/* another one follows */
		to[6 + 4 * i] = i + 1 < n;
	}
}

/*
 * The last bytes are an option and a reserved one. What options there are is not public; the
 * library has none either, and sends what its stack held. 0 is sent.
 */
void gfms_put_unbind(uint8_t to[GFMS_UNBIND_SIZE], struct gfms_port host, uint8_t log,
		     uint16_t pdfid)
{
	memset(to, 0, GFMS_UNBIND_SIZE);
	to[0] = SUB_UNBIND;
	to[1] = host.sw;
	to[2] = host.phys;
	to[3] = log;
	put16(to + 4, pdfid);
}

size_t gfms_put_dump(uint8_t *to, enum gfms_dump_step step, size_t offset)
{
	memset(to, 0, GFMS_DUMP_GET_SIZE);
	to[0] = SUB_DUMP_ALL;
	put32(to + 4, step);
	put32(to + 8, (uint32_t)(offset / WORD));
	return step == GFMS_DUMP_GET ? GFMS_DUMP_GET_SIZE : GFMS_DUMP_START_SIZE;
}

void gfms_put_events(uint8_t to[4])
{
	to[0] = SUB_EVENTS_GET;
	to[1] = 0;
	put16(to + 2, EVENTS_WANTED);
}
