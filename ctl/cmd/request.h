/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that say which GPUs are wanted and for whom, and reading them. */
#ifndef GPUCTL_CMD_REQUEST_H
#define GPUCTL_CMD_REQUEST_H

#include "catalogue/catalogue.h"
#include "cmd/options.h"
#include "op/compose.h"
#include "op/resize.h"
#include "size/need.h"

/* --gpus, --gpu, --memory, --same-switch, ...: for compose and resize. */
extern const struct ctl_option pool_options[];

/* --tenant, --label, --job, --for, ...: for commands that compose. */
extern const struct ctl_option compose_options[];

/* --remove, --for, ...: for commands that resize. */
extern const struct ctl_option resize_options[];

/**
 * struct asked - the GPUs of a command line, with what they point to
 * @gpus: the request
 * @size: the workload, where there is one
 */
struct asked {
	struct gpu_request gpus;
	struct size_request size;
};

/*
 * Read pool_options, compose_options and size_workload_options into a request for a
 * composition of this name, which was checked. @cat gets models where a workload is given.
 * @asked lives as long as the request, and what it borrows from @cat as well. Returns enum
 * ctl_exit; asked_free() in any case.
 */
int compose_read(struct ctl_ctx *ctx, struct catalogue *cat, const char *name, struct asked *asked,
		 struct compose_request *request);

/* Read pool_options and resize_options; otherwise the same. */
int resize_read(struct ctl_ctx *ctx, const char *name, struct asked *asked,
		struct resize_request *request);
void resize_request_free(struct resize_request *request);
void asked_free(struct asked *asked);

#endif /* GPUCTL_CMD_REQUEST_H */
