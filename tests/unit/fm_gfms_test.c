// SPDX-License-Identifier: GPL-2.0-only
// sources: fm/gfms.c fm/site.c ctl/base/text.c ctl/base/fault.c
/* The database of a PAX switch: what is read from it, and what is refused. The bytes are made here; none came from hardware. */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "fm/gfms.h"
#include "fm/site.h"
#include "tap.h"

#define GENERAL 80
#define SIZE_MAX_DUMP 4096

/* A database that grows. */
struct dump {
	uint8_t data[SIZE_MAX_DUMP];
	size_t len;
};

static void put(struct dump *d, size_t n, uint64_t value)
{
	while (n--) {
		d->data[d->len++] = (uint8_t)value;
		value >>= 8;
	}
}

static size_t head(struct dump *d, uint8_t sw)
{
	size_t at = d->len;

	put(d, 1, 0);
	put(d, 1, sw);
	put(d, 2, 0);
	put(d, 8, 0);
	return at;
}

/* The size of what has begun at @at, in words, 4 bytes behind that. */
static void close_section(struct dump *d, size_t at)
{
	size_t words = (d->len - at) / 4;

	d->data[at + 4] = (uint8_t)words;
	d->data[at + 5] = (uint8_t)(words >> 8);
}

static void general(struct dump *d, uint8_t sw)
{
	head(d, sw);
	while (d->len < GENERAL)
		put(d, 1, 0);
}

/* A host with two ports; function @pdfid is in port 1 where it is not 0. */
static void host(struct dump *d, uint8_t phys, uint16_t pdfid)
{
	unsigned int function, port;

	put(d, 2, (uint64_t)phys << 8);
	put(d, 2, 0);
	put(d, 4, 2);
	for (function = 0; function < 8; function++)
		for (port = 0; port < 2; port++) {
			bool in = pdfid && port == 1 && function == 0;

			put(d, 1, port);
			put(d, 1, in);
			put(d, 2, in ? pdfid : 0xffff);
		}
}

/* @bound: switch, port and logical port of its host, or 0. */
static void function(struct dump *d, uint16_t id, uint16_t pdfid, bool physical, const uint8_t *bound)
{
	put(d, 2, id);
	put(d, 2, pdfid);
	put(d, 4, physical);
	put(d, 1, !!bound);
	put(d, 3, bound ? (uint64_t)bound[0] | (uint64_t)bound[1] << 8 | (uint64_t)bound[2] << 16 : 0);
	put(d, 8, 0x162610de233110deULL);
	put(d, 4, 0x06030200);
	put(d, 8, 0);
	put(d, 4, 0);
}

static void device_head(struct dump *d, uint16_t functions)
{
	put(d, 4, functions);
	put(d, 4, 2 + 9 * functions);
}

static size_t port_head(struct dump *d, uint8_t kind, uint8_t phys)
{
	size_t at = d->len;

	put(d, 2, (uint64_t)phys << 8 | kind);
	put(d, 6, 0);
	return at;
}

static const uint8_t in_host[3] = { 0, 8, 0 };

/*
 * Switch 0: a host at 8 with 0x201 in its port 1; a device of three functions (the last one virtual) at
 * 24, whose second one is bound to 8 by its own account; nothing at 26; a switch with two devices at 28.
 */
static void sample(struct dump *d)
{
	size_t section, port;

	d->len = 0;
	general(d, 0);
	section = head(d, 0);
	host(d, 8, 0x201);
	close_section(d, section);
	section = head(d, 0);
	port = port_head(d, 0, 24);
	device_head(d, 3);
	function(d, 1, 0x102, true, in_host);
	function(d, 0, 0x101, true, NULL);
	function(d, 2, 0x110, false, NULL);
	close_section(d, port);
	port = port_head(d, 2, 26);
	close_section(d, port);
	port = port_head(d, 1, 28);
	put(d, 8, 1);
	put(d, 8, 0);
	put(d, 8, 0);
	put(d, 8, 0);
	put(d, 8, 0);
	put(d, 4, 0);
	device_head(d, 1);
	function(d, 0, 0x201, true, NULL);
	device_head(d, 1);
	function(d, 0, 0x202, true, NULL);
	close_section(d, port);
	close_section(d, section);
}

/* From an allocation of its own, so that reading behind its end is seen. */
static int read_all(const uint8_t *data, size_t len, struct gfms *g, struct fault *f)
{
	uint8_t *copy = malloc(len ? len : 1);
	int err;

	memcpy(copy, data, len);
	f->text[0] = '\0';
	err = gfms_read(g, 0, copy, len, f);
	free(copy);
	return err;
}

static void reads(void)
{
	static const struct gfms_port at = { 0, 8 };
	struct gfms g = { 0 };
	struct fault f = { "" };
	struct dump d;

	sample(&d);
	is_int(read_all(d.data, d.len, &g, &f), 0, "a database is read");
	ok(g.host_count == 1 && gfms_find_host(&g, at) && gfms_find_host(&g, at)->log_count == 2, "its host");
	ok(!gfms_find_host(&g, (struct gfms_port){ 1, 8 }), "no host of another switch");
	ok(g.function_count == 5 && g.devices == 3, "its functions and devices");
	ok(g.functions[0].pdfid == 0x102 && g.functions[0].id == 1 && g.functions[0].pci[0] == 0x10de &&
	   g.functions[0].pci[1] == 0x2331 && g.functions[0].pci[3] == 0x1626 && g.functions[0].class_code == 0x30200 &&
	   g.functions[0].physical && !g.functions[2].physical, "and what they are");
	ok(g.functions[3].at.phys == 28 && g.functions[3].device != g.functions[4].device, "devices behind a switch are two");
	ok(g.binding_count == 2 && g.bindings[0].pdfid == 0x201 && g.bindings[0].log == 1 && g.bindings[1].pdfid == 0x102 &&
	   g.bindings[1].log == 0 && g.bindings[1].host.phys == 8, "bindings that only one of the two accounts has");
	gfms_free(&g);
	is_int(gfms_read(&g, 1, d.data, d.len, &f), -EPROTO, "another switch than the one that was asked");
	gfms_free(&g);
}

static void is_cut(void)
{
	struct gfms g = { 0 };
	struct fault f;
	struct dump d;
	size_t len, good = 0, silent = 0;

	sample(&d);
	for (len = 0; len < d.len; len++) {
		good += !read_all(d.data, len, &g, &f);
		silent += !*f.text;
		gfms_free(&g);
	}
	ok(!good && !silent, "no beginning of it is taken for the whole, and each has a reason");
	put(&d, 4, 0);
	is_int(read_all(d.data, d.len, &g, &f), -EPROTO, "nor more than the whole");
	gfms_free(&g);
}

static void lies(void)
{
	enum { HOSTS = GENERAL, HOST = HOSTS + 12, PORTS = HOST + 8 + 64, PORT = PORTS + 12, DEVICE = PORT + 8 };
	static const struct {
		size_t at;
		uint32_t value;
		const char *what;
	} bad[] = {
		{ HOSTS + 4, 0, "a section without a size" },
		{ HOSTS + 4, 2, "a section that is smaller than its head" },
		{ HOSTS + 4, 0x40000003, "a section whose size wraps around" },
		{ HOSTS + 4, 0xffffffff, "a section of 16 GiB" },
		{ HOSTS + 4, 22, "a section that takes a part of the next one" },
		{ HOST + 4, 0, "a host with fewer ports than it lists" },
		{ HOST + 4, 3, "a host with more ports than it lists" },
		{ HOST + 4, 0xffff, "a host with 65535 ports" },
		{ PORTS + 4, 4, "a section that ends in a port" },
		{ PORT, 0x1803, "a port of no kind" },
		{ PORT + 4, 1, "a port that is smaller than its head" },
		{ PORT + 4, 0xffffff, "a port of 64 MiB" },
		{ DEVICE, 4, "a device with more functions than it lists" },
		{ DEVICE, 0xffff, "a device with 65535 functions" },
		{ DEVICE + 4, 1, "a device that is smaller than its head" },
		{ DEVICE + 4, 0xffffff, "a device of 64 MiB" },
	};
	struct gfms g = { 0 };
	struct fault f;
	struct dump d;
	size_t i, k, refused = 0;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		sample(&d);
		for (k = 0; k < 4; k++)
			d.data[bad[i].at + k] = (uint8_t)(bad[i].value >> (8 * k));
		is_int(read_all(d.data, d.len, &g, &f), -EPROTO, bad[i].what);
		gfms_free(&g);
	}
	sample(&d);
	for (i = 0; i < d.len; i++) {
		uint8_t was = d.data[i];

		d.data[i] = 0xff;
		refused += read_all(d.data, d.len, &g, &f) == -EPROTO && *f.text;
		gfms_free(&g);
		d.data[i] = was;
	}
	ok(refused > 20, "%zu of %zu bytes are no 0xff, and none does harm", refused, d.len);
	d.len = 0;
	general(&d, 0);
	i = head(&d, 0);
	host(&d, 8, 0);
	host(&d, 8, 0);
	close_section(&d, i);
	close_section(&d, head(&d, 0));
	is_int(read_all(d.data, d.len, &g, &f), -EPROTO, "a host that stands twice");
	ok(strstr(f.text, "appears twice"), "which is said");
	gfms_free(&g);
}

static void put_words(uint8_t *to, uint32_t a, uint32_t b)
{
	struct dump d = { .len = 0 };

	put(&d, 4, a);
	put(&d, 4, b);
	memcpy(to, d.data, 8);
}

static void parts(void)
{
	static const struct {
		uint32_t at, size;
		size_t offset, total, length;
	} cases[] = {
		{ 0, 256, 0, 2048, 1012 }, { 0, 4, 0, 4, 4 }, { 253, 10, 1012, 1040, 28 },
		{ 0, 3, 0, 2048, 0 }, { 0, 0, 0, 2048, 0 }, { 0, 257, 0, 2048, 0 }, { 1, 4, 0, 2048, 0 },
		{ 0, 5, 0, 4, 0 }, { 0x40000000, 4, 0, 2048, 0 }, { 0, 0x40000004, 0, 2048, 0 },
	};
	uint8_t part[GFMS_PART_SIZE] = { 0 }, answer[8] = { 0 };
	struct fault f;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_words(part, cases[i].at, cases[i].size);
		ok(gfms_part_length(part, cases[i].offset, cases[i].total, &f) == cases[i].length,
		   "%u words from %u on: %zu bytes", cases[i].size, cases[i].at, cases[i].length);
	}
	put_words(answer, 0, 1);
	is_int((intmax_t)gfms_dump_length(answer, &f), 0, "no dump has no bytes");
	put_words(answer, 0x40000001, 1);
	is_int((intmax_t)gfms_dump_length(answer, &f), 0, "nor 4 GiB");
	put_words(answer, GFMS_DUMP_MAX / 4, 1);
	is_int((intmax_t)gfms_dump_length(answer, &f), GFMS_DUMP_MAX, "the largest one");
	put_words(answer, GFMS_DUMP_MAX / 4 + 1, 1);
	is_int((intmax_t)gfms_dump_length(answer, &f), 0, "and one word more");
}

/* @n events of this code and size, with @flags. */
static int events(unsigned int n, unsigned int flags, unsigned int code, unsigned int size, unsigned int *left)
{
	struct dump d = { .len = 0 };
	struct fault f = { "" };
	unsigned int i, k;
	int ret;

	put(&d, 2, n);
	put(&d, 2, flags);
	for (i = 0; i < n && d.len + 36 < GFMS_EVENTS_SIZE; i++) {
		put(&d, 2, size);
		put(&d, 2, code);
		for (k = 4; k < size && k < 32; k++)
			put(&d, 1, 0);
	}
	ret = gfms_events(d.data, left, &f);
	if (ret < 0)
		ok(*f.text, "refused: %s", f.text);
	return ret;
}

static void event_lists(void)
{
	unsigned int left;

	is_int(events(0, 0, 0, 0, &left), 0, "no events");
	is_int(events(1, 0, 6, 10, &left), 1, "a bind is news");
	is_int(events(3, 7, 13, 32, &left), 0, "errors of devices are none");
	is_int((int)left, 7, "and others wait");
	is_int(events(0, 0x8000, 0, 0, &left), 1, "events that were lost are");
	is_int((int)left, 0, "which is no number");
	is_int(events(0, 3, 0, 0, &left), -EPROTO, "none, and more to come");
	is_int(events(1, 0, 6, 3, &left), -EPROTO, "one that is smaller than its head");
	is_int(events(1, 0, 6, 0xffff, &left), -EPROTO, "one that is larger than the answer");
	is_int(events(2000, 0, 6, 8, &left), -EPROTO, "more than there is room for");
}

static void requests(void)
{
	static const uint8_t two[GFMS_BIND_SIZE] = { 1, 1, 16, 3, 0x01, 0x0f, 1, 0, 0x02, 0x0f },
			     unbind[GFMS_UNBIND_SIZE] = { 2, 1, 16, 3, 0x01, 0x0f },
			     get[GFMS_DUMP_GET_SIZE] = { 1, 0, 0, 0, 2, 0, 0, 0, 0xfd };
	static const uint16_t ids[8] = { 0xf01, 0xf02, 3, 4, 5, 6, 7, 8 };
	const struct gfms_port at = { 1, 16 };
	uint8_t to[GFMS_BIND_SIZE];

	memset(to, 0xaa, sizeof(to));
	gfms_put_bind(to, at, 3, ids, 2);
	ok(!memcmp(to, two, sizeof(two)), "a bind of two functions: the first one says that another one follows");
	gfms_put_bind(to, at, 3, ids, 8);
	ok(to[30] == 1 && to[32] == 8 && to[34] == 0, "one of eight fills it");
	memset(to, 0xaa, sizeof(to));
	gfms_put_unbind(to, at, 3, 0xf01);
	ok(!memcmp(to, unbind, sizeof(unbind)), "an unbind: the function, option 0, and nothing that was there before");
	is_int((intmax_t)gfms_put_dump(to, GFMS_DUMP_GET, 1012), GFMS_DUMP_GET_SIZE, "a part of a dump");
	ok(!memcmp(to, get, sizeof(get)), "by words");
	is_int((intmax_t)gfms_put_dump(to, GFMS_DUMP_FINISH, 0), GFMS_DUMP_START_SIZE, "its end");
}

static struct config_gpu gpu_at(int phys, int pdfid)
{
	return (struct config_gpu){ .endpoint = { phys < 0 ? -1 : 0, phys }, .pdfid = pdfid, .pci = { -1, -1, -1, -1 } };
}

static void sites(void)
{
	const struct gfms_port at = { 0, 8 }, other = { 1, 8 };
	struct config_gpu gpu = gpu_at(24, -1);
	struct gfms_binding place;
	struct gfms g = { 0 };
	struct fault f;
	struct site site;
	struct dump d;

	sample(&d);
	read_all(d.data, d.len, &g, &f);
	site_find(&g, &gpu, &site);
	ok(site.count == 2 && site.pdfids[0] == 0x102 && site.pdfids[1] == 0x101 && site.first->pdfid == 0x101 && !site.several,
	   "by its port: its physical functions, and the lowest one says what it is");
	ok(site_bound(&g, &gpu, &site, NULL, &place) && place.pdfid == 0x102 && site_bound(&g, &gpu, &site, &at, &place) &&
	   !site_bound(&g, &gpu, &site, &other, &place), "a part of it is bound");
	ok(!site_is_whole(&g, &site, at, 0), "but not all");
	ok(site_port_taken(&g, at, 0) && site_port_taken(&g, at, 1) && !site_port_taken(&g, at, 2) && !site_port_taken(&g, other, 0),
	   "ports with something in them");
	ok(site_matches(&gpu, &site), "nothing is said of it");
	gpu.pci[1] = 0x2331;
	ok(site_matches(&gpu, &site), "what is said is right");
	gpu.pci[3] = 1;
	ok(!site_matches(&gpu, &site), "or wrong");
	gpu = gpu_at(28, -1);
	site_find(&g, &gpu, &site);
	ok(site.several && site_bound(&g, &gpu, &site, &at, &place), "two devices at a port: none of them, and what is bound is bound");
	gpu = gpu_at(-1, 0x201);
	site_find(&g, &gpu, &site);
	ok(site.count == 1 && !site.several && site_is_whole(&g, &site, at, 1) && !site_is_whole(&g, &site, at, 0), "by the id of a function");
	gpu = gpu_at(-1, 0x110);
	site_find(&g, &gpu, &site);
	ok(site.count == 2 && site_bound(&g, &gpu, &site, &at, &place), "by that of a virtual one: its device");
	gpu = gpu_at(26, -1);
	site_find(&g, &gpu, &site);
	ok(site.device == SITE_NONE && !site.count && !site_is_whole(&g, &site, at, 0) && !site_bound(&g, &gpu, &site, NULL, &place), "an empty port");
	g.function_count = 0;
	gpu = gpu_at(-1, 0x201);
	site_find(&g, &gpu, &site);
	ok(site.device == SITE_NONE && site_bound(&g, &gpu, &site, &at, &place), "a device that is off stays bound by its id");
	gfms_free(&g);
}

int main(void)
{
	reads();
	is_cut();
	lies();
	parts();
	event_lists();
	requests();
	sites();
	return tap_done();
}
