// SPDX-License-Identifier: GPL-2.0-only
/* DOC: requests to a Liqid director: liqid/change.c says which, liqid/read.c what is read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "liqid/director.h"

const struct client_dialect liqid_dialect = {
	.complaint = liqid_complaint,
};

int director_fault(const struct client *client, int ret, struct fault *f)
{
	fault_prefix(f, "fabric manager %s", client->conf->name);
	return ret;
}

/* A list; @answer has it. */
static int list_read(struct client *client, const char *path, struct answer *answer,
		     struct json_object **list, struct fault *f)
{
	char *whole = mem_printf("%s%s", LIQID_API, path);
	int ret = client_get(client, whole, NULL, answer, f);

	*list = ret ? NULL : liqid_data(answer->body, f);
	if (!ret && !*list) {
		fault_prefix(f, "%s", whole);
		ret = director_fault(client, CTL_FAILED, f);
	}
	free(whole);
	return ret;
}

static int machine_read(struct client *client, struct liqid_seen *seen, struct fault *f)
{
	char *path = mem_printf("/machine?mach_name=%s", client->conf->host);
	struct answer answer = { 0 };
	struct json_object *list;
	int ret = list_read(client, path, &answer, &list, f);

	if (!ret && liqid_take_machine(seen, list, client->conf->host, f)) {
		fault_add(f, ": host in %s", client->conf->file);
		ret = director_fault(client, CTL_FAILED, f);
	}
	answer_free(&answer);
	free(path);
	if (ret || seen->group)
		return ret;
	ret = list_read(client, "/group", &answer, &list, f);
	if (!ret && liqid_take_group(seen, list, f))
		ret = director_fault(client, CTL_FAILED, f);
	answer_free(&answer);
	return ret;
}

static int pending_read(struct client *client, struct liqid_seen *seen, struct fault *f)
{
	char *path = mem_printf("/state/%u/%u/%u", seen->fabric, seen->group_id, seen->machine_id);
	struct answer answer = { 0 };
	struct json_object *list;
	int ret = list_read(client, path, &answer, &list, f);

	if (!ret)
		liqid_take_pending(seen, list);
	answer_free(&answer);
	free(path);
	return ret;
}

static int gpus_read(struct client *client, struct liqid_seen *seen, struct fault *f)
{
	struct answer devices = { 0 }, members = { 0 };
	struct json_object *list;
	int ret = list_read(client, "/status", &devices, &list, f);

	if (!ret && liqid_take_devices(seen, list, f))
		ret = director_fault(client, CTL_FAILED, f);
	if (!ret)
		ret = list_read(client, "/predevice?dev_type=gpu", &members, &list, f);
	if (!ret)
		liqid_take_members(seen, list, client->conf->host);
	answer_free(&devices);
	answer_free(&members);
	return ret;
}

/*
 * What is pending is read before and after: a command that began or ended between two lists would
 * make GPUs look bound that are not connected yet.
 */
int director_read(struct client *client, struct liqid_seen *seen, struct fault *f)
{
	struct liqid_seen now = { 0 };
	bool before;
	int ret = machine_read(client, &now, f);

	if (!ret)
		ret = pending_read(client, &now, f);
	before = now.pending;
	if (!ret)
		ret = gpus_read(client, &now, f);
	if (!ret && !before) {
		ret = pending_read(client, &now, f);
		/* Nothing that is there now is sure. */
		if (!ret && now.pending)
			ret = gpus_read(client, &now, f);
	}
	if (ret) {
		liqid_seen_clear(&now);
		return ret;
	}
	liqid_seen_clear(seen);
	*seen = now;
	return CTL_DONE;
}

static enum step step_judge(struct client *client, const char *path, const struct answer *answer,
			    int *ret, struct fault *f)
{
	struct json_object *code;

	if (answer->status / 100 != 2) {
		*ret = client_refused(client, path, answer, f);
		/* A fault in the manager may have come behind the step. */
		return answer->status >= 500 ? STEP_LOST : STEP_REFUSED;
	}
	if (liqid_data(answer->body, f))
		return STEP_DONE;
	fault_prefix(f, "%s", path);
	*ret = director_fault(client, CTL_FAILED, f);
	if (!json_object_object_get_ex(doc_object(answer->body, "response"), "code", &code))
		return STEP_LOST;
	/* It did as it was told, and says nothing more of it. */
	if (json_object_is_type(code, json_type_int) && !json_object_get_int64(code)) {
		*ret = CTL_DONE;
		return STEP_DONE;
	}
	return STEP_REFUSED;
}

enum step director_step(struct client *client, const char *method, const char *path,
			struct json_object *body, int *ret, struct fault *f)
{
	char *whole = mem_printf("%s%s", LIQID_API, path);
	struct answer answer = { 0 };
	enum step step;

	*ret = client_change(client, method, whole, NULL, body, &answer, f);
	if (*ret)
		step = answer.lost ? STEP_LOST : STEP_REFUSED;
	else
		step = step_judge(client, path, &answer, ret, f);
	answer_free(&answer);
	json_object_put(body);
	free(whole);
	return step;
}
