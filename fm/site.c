// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: GPUs in the database
 *
 * fm.conf names a GPU by the port where it is, or by the id of one of its functions (PDFID).
 * All physical functions of the device are bound together. An id without a device is still the
 * GPU's: its host keeps it while the device is off.
 */
#include "fm/site.h"

struct gfms_port site_port(const int pair[2])
{
	return (struct gfms_port){ (uint8_t)pair[0], (uint8_t)pair[1] };
}

static bool gpu_names(const struct config_gpu *gpu, const struct gfms_function *function)
{
	return gpu->pdfid >= 0 ? function->pdfid == gpu->pdfid :
				 gfms_port_is(function->at, site_port(gpu->endpoint));
}

void site_find(const struct gfms *g, const struct config_gpu *gpu, struct site *site)
{
	const struct gfms_function *function;
	size_t i;

	*site = (struct site){ .device = SITE_NONE };
	for (i = 0; i < g->function_count; i++) {
		function = &g->functions[i];
		if (!gpu_names(gpu, function))
			continue;
		if (site->device == SITE_NONE)
			site->device = (int)function->device;
		else if (site->device != (int)function->device)
			site->several = true;
	}
	for (i = 0; i < g->function_count; i++) {
		function = &g->functions[i];
		if ((int)function->device != site->device || !function->physical)
			continue;
		if (site->count < GFMS_FUNCTIONS_MAX)
			site->pdfids[site->count] = function->pdfid;
		site->count++;
		if (!site->first || function->id < site->first->id)
			site->first = function;
	}
}

bool site_has(const struct gfms *g, const struct config_gpu *gpu, const struct site *site,
	      uint16_t pdfid)
{
	size_t i;

	if (gpu->pdfid == pdfid)
		return true;
	for (i = 0; i < g->function_count; i++)
		if (g->functions[i].pdfid == pdfid &&
		    ((int)g->functions[i].device == site->device ||
		     gpu_names(gpu, &g->functions[i])))
			return true;
	return false;
}

bool site_bound(const struct gfms *g, const struct config_gpu *gpu, const struct site *site,
		const struct gfms_port *host, struct gfms_binding *place)
{
	size_t i;

	for (i = 0; i < g->binding_count; i++) {
		if (host && !gfms_port_is(g->bindings[i].host, *host))
			continue;
		if (!site_has(g, gpu, site, g->bindings[i].pdfid))
			continue;
		*place = g->bindings[i];
		return true;
	}
	return false;
}

static bool is_bound_to(const struct gfms *g, uint16_t pdfid, struct gfms_port host, uint8_t log)
{
	size_t i;

	for (i = 0; i < g->binding_count; i++)
		if (g->bindings[i].pdfid == pdfid && g->bindings[i].log == log &&
		    gfms_port_is(g->bindings[i].host, host))
			return true;
	return false;
}

bool site_is_whole(const struct gfms *g, const struct site *site, struct gfms_port host,
		   uint8_t log)
{
	size_t i;

	if (!site->count || site->count > GFMS_FUNCTIONS_MAX)
		return false;
	for (i = 0; i < site->count; i++)
		if (!is_bound_to(g, site->pdfids[i], host, log))
			return false;
	return true;
}

bool site_port_taken(const struct gfms *g, struct gfms_port host, uint8_t log)
{
	size_t i;

	for (i = 0; i < g->binding_count; i++)
		if (g->bindings[i].log == log && gfms_port_is(g->bindings[i].host, host))
			return true;
	return false;
}

bool site_matches(const struct config_gpu *gpu, const struct site *site)
{
	size_t i;

	for (i = 0; i < 4; i++)
		if (gpu->pci[i] >= 0 && site->first && gpu->pci[i] != site->first->pci[i])
			return false;
	return true;
}
