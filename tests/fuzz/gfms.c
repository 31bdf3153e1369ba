// SPDX-License-Identifier: GPL-2.0-only
// sources: fm/gfms.c fm/site.c ctl/base/text.c ctl/base/fault.c
/* What a PAX switch tells the fabric manager: its database, parts of one, events. The first byte says which. */
#include "fm/gfms.h"
#include "fm/site.h"
#include "fuzz.h"

/* Whatever the database says, a GPU is found and asked about without harm. */
static void fuzz_site(const struct gfms *g, struct config_gpu gpu)
{
	struct gfms_binding place;
	struct site site;

	site_find(g, &gpu, &site);
	must((site.device == SITE_NONE) == !site.count || !site.first);
	must(site.count <= g->function_count);
	site_matches(&gpu, &site);
	if (site_bound(g, &gpu, &site, NULL, &place)) {
		must(site_port_taken(g, place.host, place.log));
		must(site_has(g, &gpu, &site, place.pdfid));
	} else {
		must(!site_is_whole(g, &site, (struct gfms_port){ 0, 8 }, 0));
	}
}

static void fuzz_database(const uint8_t *data, size_t size)
{
	struct config_gpu gpu = { .endpoint = { 0, 24 }, .pdfid = -1, .pci = { 0x10de, -1, -1, -1 } };
	struct gfms g = { 0 };
	struct fault f = { "" };
	size_t i;

	if (gfms_read(&g, 0, data, size, &f)) {
		must(fuzz_is_line(f.text));
	} else {
		/* nothing is there that the bytes have no room for */
		must(g.host_count * 8 + g.function_count * 36 + (size_t)g.devices * 8 <= size);
		for (i = 0; i < g.function_count; i++)
			must(g.functions[i].device < g.devices && !g.functions[i].at.sw);
		for (i = 0; i < g.host_count; i++)
			must(gfms_find_host(&g, g.hosts[i].at) == &g.hosts[i]);
		fuzz_site(&g, gpu);
		gpu.endpoint[0] = -1;
		gpu.pdfid = g.function_count ? g.functions[g.function_count - 1].pdfid : 1;
		fuzz_site(&g, gpu);
	}
	gfms_free(&g);
}

static void fuzz_part_of(const uint8_t *data, size_t size)
{
	uint8_t *part = calloc(1, GFMS_PART_SIZE);
	struct fault f = { "" };
	size_t n, offset = 1012, total = 1012 + size;

	memcpy(part, data, size < GFMS_PART_SIZE ? size : GFMS_PART_SIZE);
	n = gfms_part_length(part, offset, total, &f);
	must(n ? n <= total - offset && n <= GFMS_PART_SIZE - GFMS_PART_HEAD : fuzz_is_line(f.text));
	n = gfms_dump_length(part, &f);
	must(n ? n <= GFMS_DUMP_MAX && n % 4 == 0 : fuzz_is_line(f.text));
	free(part);
}

static void fuzz_events(const uint8_t *data, size_t size)
{
	uint8_t *answer = calloc(1, GFMS_EVENTS_SIZE);
	struct fault f = { "" };
	unsigned int left;

	memcpy(answer, data, size < GFMS_EVENTS_SIZE ? size : GFMS_EVENTS_SIZE);
	must(gfms_events(answer, &left, &f) >= 0 || fuzz_is_line(f.text));
	must(left < 0x8000);
	free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (!size)
		return 0;
	copy = fuzz_behind(data, size--);
	if (*data == 'p')
		fuzz_part_of(copy, size);
	else if (*data == 'e')
		fuzz_events(copy, size);
	else
		fuzz_database(copy, size);
	free(copy);
	return 0;
}
