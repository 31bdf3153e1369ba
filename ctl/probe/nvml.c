// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: NVML
 *
 * The library is looked for while we run, so that nothing of NVIDIA is needed to build or to
 * install. As long as it is open it holds the nodes of all GPUs: a process that measures opens it,
 * samples, closes it and ends.
 *
 * What is written down here is the library's binary interface: names of functions, and the layout
 * of what they take. GPM (Hopper and later) compares two samples; an older GPU has only "util".
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe/nvml.h"

#define LIBRARY "libnvidia-ml.so.1"
#define APART_MS 1000
#define GPM_VERSION 1
#define GPM_METRIC_SM 2
/* The library's own room; only the first is used. */
#define GPM_METRICS 512

struct nvml_rates {
	unsigned int gpu, memory;
};

struct nvml_gpm_support {
	unsigned int version, supported;
};

struct nvml_gpm_metric {
	unsigned int id;
	int result;
	double value;
	const char *names[3];
};

struct nvml_gpm_get {
	unsigned int version, n;
	void *before, *after;
	struct nvml_gpm_metric metrics[GPM_METRICS];
};

/**
 * struct nvml - the functions of the library that are used
 */
struct nvml {
	void *library;
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error)(int result);
	int (*device)(const char *address, void **device);
	int (*rates)(void *device, struct nvml_rates *rates);
	int (*gpm_supported)(void *device, struct nvml_gpm_support *support);
	int (*gpm_alloc)(void **sample);
	int (*gpm_free)(void *sample);
	int (*gpm_sample)(void *device, void *sample);
	int (*gpm_get)(struct nvml_gpm_get *get);
};

/**
 * struct nvml_gpu - one GPU that is sampled
 */
struct nvml_gpu {
	void *device, *before, *after;
};

/* Older libraries lack GPM, which is needed for @gpm alone. */
static int nvml_load(struct nvml *nvml, bool gpm, struct fault *f)
{
	const struct {
		const char *name;
		void *to;
		bool gpm;
	} all[] = {
		{ "nvmlInit_v2", &nvml->init, false },
		{ "nvmlShutdown", &nvml->shutdown, false },
		{ "nvmlErrorString", &nvml->error, false },
		{ "nvmlDeviceGetHandleByPciBusId_v2", &nvml->device, false },
		{ "nvmlDeviceGetUtilizationRates", &nvml->rates, false },
		{ "nvmlGpmQueryDeviceSupport", &nvml->gpm_supported, true },
		{ "nvmlGpmSampleAlloc", &nvml->gpm_alloc, true },
		{ "nvmlGpmSampleFree", &nvml->gpm_free, true },
		{ "nvmlGpmSampleGet", &nvml->gpm_sample, true },
		{ "nvmlGpmMetricsGet", &nvml->gpm_get, true },
	};
	size_t i;
	void *found;

	nvml->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!nvml->library)
		return fault_set(f, ENOENT, "%.200s", dlerror());
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].gpm && !gpm)
			continue;
		found = dlsym(nvml->library, all[i].name);
		if (!found)
			return fault_set(f, ENOSYS, LIBRARY " has no %s: its driver is too old%s",
					 all[i].name, all[i].gpm ? ": write nvml util" : "");
		memcpy(all[i].to, &found, sizeof(found));
	}
	return 0;
}

static int nvml_check(const struct nvml *nvml, int result, const char *what, struct fault *f)
{
	if (!result)
		return 0;
	return fault_set(f, EIO, "%s: %.200s", what, nvml->error(result));
}

static int nvml_util(const struct nvml *nvml, struct nvml_gpu *gpus, size_t n, double *sum,
		     struct fault *f)
{
	struct nvml_rates rates;
	int err = 0;
	size_t i;

	for (i = 0; i < n && !err; i++) {
		err = nvml_check(nvml, nvml->rates(gpus[i].device, &rates), "utilization", f);
		*sum += err ? 0 : rates.gpu;
	}
	return err;
}

/* @after: the second of the two samples. */
static int nvml_take(const struct nvml *nvml, struct nvml_gpu *gpus, size_t n, bool after,
		     struct fault *f)
{
	int err = 0;
	size_t i;

	for (i = 0; i < n && !err; i++) {
		void **sample = after ? &gpus[i].after : &gpus[i].before;

		err = nvml_check(nvml, nvml->gpm_alloc(sample), "GPM", f);
		if (!err)
			err = nvml_check(nvml, nvml->gpm_sample(gpus[i].device, *sample), "GPM", f);
	}
	return err;
}

static int nvml_compare(const struct nvml *nvml, const struct nvml_gpu *gpu, double *sum,
			struct fault *f)
{
	struct nvml_gpm_get *get = mem_zalloc(1, sizeof(*get));
	int err;

	get->version = GPM_VERSION;
	get->n = 1;
	get->before = gpu->before;
	get->after = gpu->after;
	get->metrics[0].id = GPM_METRIC_SM;
	err = nvml_check(nvml, nvml->gpm_get(get), "GPM", f);
	if (!err)
		err = nvml_check(nvml, get->metrics[0].result, "activity of multiprocessors", f);
	*sum += err ? 0 : get->metrics[0].value;
	free(get);
	return err;
}

static int nvml_sm(const struct nvml *nvml, struct nvml_gpu *gpus, size_t n, double *sum,
		   struct fault *f)
{
	struct nvml_gpm_support support;
	int err = 0;
	size_t i;

	for (i = 0; i < n && !err; i++) {
		support = (struct nvml_gpm_support){ .version = GPM_VERSION };
		err = nvml_check(nvml, nvml->gpm_supported(gpus[i].device, &support), "GPM", f);
		if (!err && !support.supported)
			err = fault_set(f, ENOTSUP,
					"this GPU does not tell how busy its multiprocessors are: write nvml util");
	}
	if (!err)
		err = nvml_take(nvml, gpus, n, false, f);
	if (!err)
		poll(NULL, 0, APART_MS);
	if (!err)
		err = nvml_take(nvml, gpus, n, true, f);
	for (i = 0; i < n && !err; i++)
		err = nvml_compare(nvml, &gpus[i], sum, f);
	for (i = 0; i < n; i++) {
		if (gpus[i].before)
			nvml->gpm_free(gpus[i].before);
		if (gpus[i].after)
			nvml->gpm_free(gpus[i].after);
	}
	return err;
}

static int nvml_ask(const struct nvml *nvml, const char *what, char *const *addresses, size_t n,
		    double *sum, struct fault *f)
{
	struct nvml_gpu *gpus = mem_zalloc(n, sizeof(*gpus));
	int err = 0;
	size_t i;

	for (i = 0; i < n && !err; i++)
		err = nvml_check(nvml, nvml->device(addresses[i], &gpus[i].device), addresses[i],
				 f);
	if (!err)
		err = strcmp(what, "sm") ? nvml_util(nvml, gpus, n, sum, f) :
					   nvml_sm(nvml, gpus, n, sum, f);
	free(gpus);
	return err;
}

int nvml_busy(const char *what, char *const *addresses, size_t n, double *percent, struct fault *f)
{
	struct nvml nvml = { 0 };
	double sum = 0;
	int err = nvml_load(&nvml, !strcmp(what, "sm"), f);

	if (!err)
		err = nvml_check(&nvml, nvml.init(), "NVML", f);
	if (!err) {
		err = nvml_ask(&nvml, what, addresses, n, &sum, f);
		nvml.shutdown();
	}
	if (nvml.library)
		dlclose(nvml.library);
	*percent = n ? sum / (double)n : 0;
	return err;
}
