// SPDX-License-Identifier: GPL-2.0-only
/* DOC: the documents that gpuctl and this program exchange; managers/program.c has them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jread.h"
#include "base/text.h"
#include "driver/job.h"

static int take_verb(struct jread *r, struct job *job)
{
	static const char *const verbs[] = {
		[JOB_INVENTORY] = "inventory", [JOB_BIND] = "bind",   [JOB_UNBIND] = "unbind",
		[JOB_EVICT] = "evict",	       [JOB_RENEW] = "renew", [JOB_RELEASE] = "release",
	};
	const char *verb = NULL;
	size_t i;
	int err = jread_word(r, r->root, "verb", &verb);

	for (i = 0; !err && verb && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verb, verbs[i]))
			continue;
		job->verb = (enum job_verb)i;
		return 0;
	}
	return err ? err :
		     jread_refuse(r, "verb: inventory, bind, unbind, evict, renew or release");
}

static int take_wish(struct jread *r, struct job *job, struct json_object *from, size_t i)
{
	static const char *const keys[] = { "gpu", "port", NULL };
	struct wish *wish = &job->wishes[i];
	size_t j;
	int err;

	jread_index(r, i);
	err = jread_object(r, from, keys);
	if (!err)
		err = jread_word(r, from, "gpu", &wish->id);
	if (!err)
		err = jread_word(r, from, "port", &wish->port);
	if (!err && (!wish->id || !manager_is_id(wish->id)))
		err = jread_refuse(r, "\"gpu\" is an Id");
	for (j = 0; j < i && !err; j++)
		if (!strcmp(job->wishes[j].id, wish->id))
			err = jread_refuse(r, "%s is there twice", wish->id);
	if (!err)
		jread_up(r);
	return err;
}

int job_read(const char *text, size_t len, struct job *job, struct fault *f)
{
	static const char *const keys[] = { "verb", "file",	   "timeout", "gpus",
					    "host", "credentials", NULL };
	struct json_object *list = NULL;
	struct jread r;
	bool changes, named;
	size_t i;
	int err;

	memset(job, 0, sizeof(*job));
	err = jread_open(&r, "request", text, len, f);
	if (!err)
		err = jread_object(&r, r.root, keys);
	if (!err)
		err = take_verb(&r, job);
	if (!err)
		err = jread_word(&r, r.root, "file", &job->file);
	if (!err && !job->file)
		err = jread_refuse(&r, "file is missing");
	if (!err)
		err = jread_whole(&r, r.root, "timeout", MANAGER_TIMEOUT_MAX_MS, &job->timeout_ms);
	named = job->verb == JOB_EVICT;
	if (!err)
		err = jread_word(&r, r.root, "host", &job->host);
	if (!err)
		err = jread_word(&r, r.root, "credentials", &job->credentials);
	if (!err && named != (job->host && manager_is_id(job->host)))
		err = jread_refuse(&r, "host: an Id, of evict alone");
	if (!err)
		err = jread_array(&r, r.root, "gpus", CHANGE_MAX, &list);
	job->n = !err && list ? json_object_array_length(list) : 0;
	changes = job->verb == JOB_BIND || job->verb == JOB_UNBIND;
	if (!err && changes != !!job->n)
		err = jread_refuse(&r, "gpus: of bind and unbind alone, and not empty");
	job->wishes = mem_zalloc(job->n + 1, sizeof(*job->wishes));
	if (job->n)
		jread_key(&r, "gpus");
	for (i = 0; i < job->n && !err; i++)
		err = take_wish(&r, job, json_object_array_get_idx(list, i), i);
	job->document = json_object_get(r.root);
	jread_close(&r);
	return err;
}

void job_free(struct job *job)
{
	free(job->wishes);
	json_object_put(job->document);
	memset(job, 0, sizeof(*job));
}

static void add_text(struct json_object *to, const char *key, const char *text)
{
	if (text)
		json_object_object_add(to, key, json_object_new_string(text));
}

static void add_number(struct json_object *to, const char *key, unsigned int number)
{
	if (number)
		json_object_object_add(to, key, json_object_new_int64(number));
}

struct json_object *job_inventory(const struct manager_conf *conf, const struct job_port *ports)
{
	struct json_object *all = json_object_new_object(), *list = json_object_new_array();
	size_t i;

	json_object_object_add(all, "gpus", json_object_new_array());
	for (i = 0; ports && i < conf->n_ports; i++) {
		struct json_object *one = json_object_new_object();

		add_text(one, "port", conf->ports[i].port);
		add_text(one, "host", ports[i].host);
		add_text(one, "link", ports[i].link);
		json_object_object_add(one, "missing", json_object_new_boolean(ports[i].missing));
		json_object_array_add(list, one);
	}
	json_object_object_add(all, "ports", list);
	return all;
}

void job_inventory_add(struct json_object *inventory, const struct job_gpu *gpu)
{
	static const char *const states[] = {
		[GPU_FREE] = "free",
		[GPU_BOUND] = "bound",
		[GPU_CHANGING] = "changing",
		[GPU_UNUSABLE] = "unusable",
	};
	struct json_object *one = json_object_new_object();

	add_text(one, "id", gpu->id);
	add_number(one, "vendor", gpu->vendor);
	add_number(one, "device", gpu->device);
	add_number(one, "subsystem_vendor", gpu->subsystem_vendor);
	add_number(one, "subsystem_device", gpu->subsystem_device);
	add_text(one, "model", gpu->model);
	add_text(one, "serial", gpu->serial);
	add_text(one, "state", states[gpu->state]);
	add_text(one, "host", gpu->host);
	add_text(one, "port", gpu->port);
	add_text(one, "why", gpu->why);
	json_object_array_add(json_object_object_get(inventory, "gpus"), one);
}

static struct json_object *answer_begin(int ret, const struct fault *f)
{
	struct json_object *all = json_object_new_object();
	char *words = mem_strdup(f->text);

	/* The words of a manager may be among ours. */
	text_tame(words, false);
	json_object_object_add(all, "exit", json_object_new_int(ret));
	add_text(all, "error", ret ? words : NULL);
	free(words);
	return all;
}

static void answer_end(struct json_object *all)
{
	printf("%s\n", json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN));
	fflush(stdout);
	json_object_put(all);
}

void job_print(int ret, const struct fault *f, const struct job_outcome *outcome,
	       struct json_object *inventory)
{
	static const char *const outcomes[] = {
		[CHANGE_NONE] = "none",
		[CHANGE_DONE] = "done",
		[CHANGE_PARTLY] = "partly",
		[CHANGE_UNKNOWN] = "unknown",
	};
	struct json_object *all = answer_begin(ret, f);

	if (outcome) {
		add_text(all, "outcome", outcomes[outcome->outcome]);
		add_text(all, "taken", outcome->taken);
		add_text(all, "taker", outcome->taker);
	}
	if (inventory)
		json_object_object_add(all, "inventory", inventory);
	answer_end(all);
}

void job_print_action(int ret, const struct fault *f, uint32_t lease_ms)
{
	struct json_object *all = answer_begin(ret, f);

	add_number(all, "lease", lease_ms);
	answer_end(all);
}
