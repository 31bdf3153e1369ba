// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the programs of the drivers
 *
 * A program for each driver speaks to managers, see driver/program.c. It gets one document,
 *
 *	{"verb": "bind", "file": "/etc/gpuctl/fabric.d/rack1.conf", "gpus": [{"gpu": "gpu3",
 *	"port": "sw0/dn1"}]}
 *
 * and answers with one, which is read in managers/inventory.c:
 *
 *	{"exit": 3, "error": "gpu3 belongs to host hostb", "outcome": "none", "taken": "gpu3",
 *	 "taker": "hostb", "inventory": {"gpus": [{"id": "gpu3", "state": "bound", "host":
 *	 "hostb", ...}], "ports": []}}
 *
 * The program is given time to find out what became of a request when it is told to stop.
 */
#include <stdlib.h>
#include <string.h>

#include "base/program.h"
#include "base/text.h"
#include "managers/manager.h"
#include "module/nl.h"

#define OUTPUT_MAX (4u << 20)
/* Longer than it asks a manager what became of a request. */
#define GRACE_MS 75000
#define PATH "PATH=/usr/sbin:/usr/bin:/sbin:/bin"

static const char *const verbs[] = {
	[MANAGER_INVENTORY] = "inventory", [MANAGER_BIND] = "bind",   [MANAGER_UNBIND] = "unbind",
	[MANAGER_EVICT] = "evict",	   [MANAGER_RENEW] = "renew", [MANAGER_RELEASE] = "release",
};

/* The document; the caller frees. */
static char *program_document(const struct manager_conf *conf,
			      const struct manager_request *request)
{
	struct json_object *all = json_object_new_object(), *list;
	char *text;
	size_t i;

	json_object_object_add(all, "verb", json_object_new_string(verbs[request->verb]));
	json_object_object_add(all, "file", json_object_new_string(conf->file));
	if (request->host)
		json_object_object_add(all, "host", json_object_new_string(request->host));
	if (request->credentials)
		json_object_object_add(all, "credentials",
				       json_object_new_string(request->credentials));
	if (request->timeout_ms)
		json_object_object_add(all, "timeout", json_object_new_int64(request->timeout_ms));
	list = request->n ? json_object_new_array() : NULL;
	for (i = 0; i < request->n; i++) {
		struct json_object *one = json_object_new_object();

		json_object_object_add(one, "gpu", json_object_new_string(request->gpus[i].id));
		if (request->gpus[i].port)
			json_object_object_add(one, "port",
					       json_object_new_string(request->gpus[i].port));
		json_object_array_add(list, one);
	}
	if (list)
		json_object_object_add(all, "gpus", list);
	text = mem_strdup(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN));
	json_object_put(all);
	return text;
}

/* No answer, or one that is none: what became of a change nobody knows. */
static int program_failed(struct ctl_ctx *ctx, const struct manager_conf *conf,
			  const struct program *program, const struct program_limits *limits,
			  const struct fault *fault)
{
	char *why;
	int ret;

	if (program->end == PROGRAM_NOT_STARTED)
		return ctl_fail(ctx, CTL_FAILED,
				"%s, which speaks to fabric managers, cannot be started (%s): install gpuctl as a whole",
				program->argv[0], strerror(program->status));
	why = program_complaint(program, limits);
	ret = ctl_fail(ctx, program->end == PROGRAM_TIMED_OUT ? CTL_TIMEOUT : CTL_FAILED,
		       "fabric manager %s: %s: %s", conf->name, program->argv[0],
		       program->end == PROGRAM_EXITED ? fault->text : why);
	free(why);
	return ret;
}

/**
 * struct asking - a program that asks a manager, and what it was given
 */
struct asking {
	char *path, *input;
	char *argv[2], *env[2];
};

static void asking_begin(struct asking *asking, struct program *program, const struct ctl_ctx *ctx,
			 const struct manager_conf *conf, const struct manager_request *request)
{
	asking->path =
		mem_printf("%s/fabric-%s", ctx->libexec_dir, manager_driver_text(conf->driver));
	asking->input = program_document(conf, request);
	asking->argv[0] = asking->path;
	asking->env[0] = (char *)(uintptr_t)PATH;
	*program = (struct program){
		.argv = asking->argv,
		.env = asking->env,
		.input = asking->input,
		.output_max = OUTPUT_MAX,
	};
}

/* The error of the answer is the context's. */
static int asking_end(struct asking *asking, struct program *program, struct ctl_ctx *ctx,
		      const struct program_limits *limits, struct manager_asked *asked)
{
	struct manager_reply *reply = &asked->reply;
	const char *text = program->output ? program->output : "";
	struct fault fault = { "" };
	int ret;

	memset(reply, 0, sizeof(*reply));
	if (program->end == PROGRAM_NOT_STARTED ||
	    manager_reply_read(text, strlen(text), asked->conf, reply, &fault)) {
		manager_reply_free(reply);
		reply->outcome = program->end == PROGRAM_NOT_STARTED ? MANAGER_UNCHANGED :
								       MANAGER_UNKNOWN;
		ret = program_failed(ctx, asked->conf, program, limits, &fault);
	} else {
		ret = reply->exit ? ctl_fail(ctx, (enum ctl_exit)reply->exit, "%s", reply->error) :
				    CTL_DONE;
	}
	program_free(program);
	free(asking->input);
	free(asking->path);
	return ret;
}

/* Of the manager that may take longest: each program keeps the time of its own. */
static struct program_limits limits_of(const struct manager_request *request,
				       const struct manager_asked *asked, size_t n)
{
	struct program_limits limits = {
		.timeout_ms = request->timeout_ms,
		.signals = request->patient ? NULL : gfc_signal_mask(),
		.stop = request->patient ? NULL : gfc_signalled,
		.grace_ms = request->timeout_ms ? 0 : GRACE_MS,
	};
	size_t i;

	for (i = 0; i < n && !request->timeout_ms; i++)
		if (limits.timeout_ms < asked[i].conf->timeout_ms + GRACE_MS)
			limits.timeout_ms = asked[i].conf->timeout_ms + GRACE_MS;
	return limits;
}

void managers_ask(struct ctl_ctx *ctx, const struct manager_request *request,
		  struct manager_asked *asked, size_t n)
{
	const struct program_limits limits = limits_of(request, asked, n);
	struct program *programs = mem_zalloc(n, sizeof(*programs));
	struct asking *asking = mem_zalloc(n, sizeof(*asking));
	char *before = ctx->error;
	size_t i;

	for (i = 0; i < n; i++)
		asking_begin(&asking[i], &programs[i], ctx, asked[i].conf, request);
	programs_run(programs, n, &limits);
	for (i = 0; i < n; i++) {
		ctx->error = NULL;
		asked[i].ret = asking_end(&asking[i], &programs[i], ctx, &limits, &asked[i]);
		asked[i].why = ctx->error;
	}
	ctx->error = before;
	free(asking);
	free(programs);
}

int manager_ask(struct ctl_ctx *ctx, const struct manager_conf *conf,
		const struct manager_request *request, struct manager_reply *reply)
{
	struct manager_asked asked = { .conf = conf };

	managers_ask(ctx, request, &asked, 1);
	*reply = asked.reply;
	if (asked.ret)
		ctl_fail(ctx, (enum ctl_exit)asked.ret, "%s", asked.why);
	free(asked.why);
	return asked.ret;
}
