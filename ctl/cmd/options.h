/* SPDX-License-Identifier: GPL-2.0-only */
/* Options that several commands have, and what is made of them. */
#ifndef GPUCTL_CMD_OPTIONS_H
#define GPUCTL_CMD_OPTIONS_H

#include "cli/ctl.h"
#include "module/annotation.h"
#include "op/terms.h"

/* --timeout, --reason: for commands that start an operation. */
extern const struct ctl_option session_options[];

/* --wait, --signal, --force: for commands that take GPUs away. */
extern const struct ctl_option remove_options[];

/* A row for commands that bring GPUs; they have --no-fit-check as well. */
#define DRIVER_OPTION                                                                              \
	{                                                                                          \
		"driver", 0, "DRIVER",                                                             \
			"have this driver bind to the GPUs and no other, such as vfio-pci",        \
			"@drivers"                                                                 \
	}

/* A row for commands that give GPUs to somebody. */
#define DIRTY_OPTION                                                                               \
	{                                                                                          \
		"dirty", 0, NULL,                                                                  \
			"take GPUs as they are, with the data that another tenant left in them"    \
	}

/* What a command does with GPUs, and so which options it has beside session_options. */
enum terms_of {
	TERMS_ADD = 1, /* DRIVER_OPTION, --no-fit-check */
	TERMS_REMOVE = 2, /* remove_options */
	TERMS_GIVE = 4, /* DIRTY_OPTION */
};

/*
 * The terms that were asked for, checked; @of: enum terms_of. @wait_ms is what holders have
 * where --wait does not say. Texts are those of the command line. Returns enum ctl_exit.
 */
int terms_read(struct ctl_ctx *ctx, unsigned int of, uint64_t wait_ms, struct op_terms *terms);

/* --reason, which has its limit; NULL when it was not given. */
int reason_read(struct ctl_ctx *ctx, const char **reason);

/* A time in milliseconds, between @min and @max; @fallback when it was not given. */
int duration_read(struct ctl_ctx *ctx, const char *option, uint64_t fallback, uint64_t min,
		  uint64_t max, uint64_t *ms);

/* --for: how long a lease lasts in milliseconds, 0 when none was asked for. */
int lease_read(struct ctl_ctx *ctx, uint64_t *ms);

/* Change in @note what --label, --job and, with @tenant, --tenant say. */
int note_read(struct ctl_ctx *ctx, bool tenant, struct annotation *note);

#endif /* GPUCTL_CMD_OPTIONS_H */
