// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: what the kubelet asks
 *
 * To prepare may take longer than the kubelet waits. It is answered in time in any case: with
 * devices if they are there, else with an error that says that it is under way. The kubelet then
 * asks again, and joins what goes on.
 *
 * Services of v1 and v1beta1 differ in their names alone.
 */
#include <stdlib.h>
#include <string.h>

#include "dra/log.h"
#include "dra/message.h"
#include "dra/plugin.h"
#include "plugin.pb-c.h"
#include "registration.pb-c.h"

#define CLAIMS_MAX 1024
#define SERVICE "k8s.io.kubelet.pkg.apis.dra."
/* The kubelet takes what it was told longer ago than 30 s for unknown. */
#define HEALTH_AGAIN_MS 10000

static void get_info(void *arg, const unsigned char *message, size_t len, uint64_t until,
		     struct rpc_answer *answer)
{
	static const char *const versions[] = { "v1.DRAPlugin", "v1beta1.DRAPlugin",
						"v1.DRAResourceHealth",
						"v1alpha1.DRAResourceHealth" };
	Registration__PluginInfo info = REGISTRATION__PLUGIN_INFO__INIT;
	const struct plugin *plugin = arg;

	(void)message;
	(void)len;
	(void)until;
	info.type = "DRAPlugin";
	info.name = DRIVER_NAME;
	info.endpoint = (char *)plugin->endpoint;
	info.supported_versions = (char **)versions;
	info.n_supported_versions = sizeof(versions) / sizeof(*versions);
	if (plugin->quiet)
		info.n_supported_versions -= 2;
	message_answer(answer, &info.base);
}

static void notify(void *arg, const unsigned char *message, size_t len, uint64_t until,
		   struct rpc_answer *answer)
{
	Registration__RegistrationStatusResponse none =
		REGISTRATION__REGISTRATION_STATUS_RESPONSE__INIT;
	Registration__RegistrationStatus *status =
		registration__registration_status__unpack(NULL, len, message);

	(void)arg;
	(void)until;
	if (!status)
		return;
	if (status->plugin_registered)
		say("the kubelet has registered " DRIVER_NAME);
	else
		say("the kubelet refuses " DRIVER_NAME ": %s", status->error);
	registration__registration_status__free_unpacked(status, NULL);
	message_answer(answer, &none.base);
}

/**
 * struct asked - the claims of a call
 * @jobs: one for each
 * @until: when to answer
 */
struct asked {
	Plugin__ClaimsRequest *request;
	struct job **jobs;
	uint64_t until;
};

/* Start all of them before the first is waited for. */
static bool asked_start(struct plugin *plugin, enum work_kind kind, const unsigned char *message,
			size_t len, uint64_t until, struct asked *asked, struct rpc_answer *answer)
{
	uint64_t limit = clock_ms() + plugin->answer_ms;
	char name[CLAIM_NAME_MAX];
	size_t i;

	asked->request = plugin__claims_request__unpack(NULL, len, message);
	if (!asked->request)
		return false;
	if (asked->request->n_claims > CLAIMS_MAX)
		return refuse(&answer->reason, "more than %d claims", CLAIMS_MAX);
	asked->jobs = zalloc(asked->request->n_claims, sizeof(*asked->jobs));
	asked->until = until < limit ? until : limit;
	for (i = 0; i < asked->request->n_claims; i++) {
		const Plugin__Claim *claim = asked->request->claims[i];

		if (claim_composition(claim->uid, name))
			asked->jobs[i] = work_start(&plugin->work, kind, claim->namespace_,
						    claim->name, claim->uid);
	}
	return true;
}

/* False, with the reason in the result, if it has not ended well. */
static bool asked_wait(struct plugin *plugin, const struct asked *asked, size_t i, const char *what,
		       struct work_result *result)
{
	const Plugin__Claim *claim = asked->request->claims[i];

	if (!asked->jobs[i]) {
		memset(result, 0, sizeof(*result));
		return refuse(&result->reason, "the uid of claim %s/%s is none", claim->namespace_,
			      claim->name);
	}
	if (!work_wait(&plugin->work, asked->jobs[i], asked->until, result))
		refuse(&result->reason, "%s", what);
	if (!result->good)
		say("claim %s/%s (%s): %s", claim->namespace_, claim->name, claim->uid,
		    result->reason.text);
	return result->good;
}

static void asked_free(struct asked *asked)
{
	if (asked->request)
		plugin__claims_request__free_unpacked(asked->request, NULL);
	free(asked->jobs);
}

/**
 * struct prepared - a claim's part of the answer; messages with what they point to
 */
struct prepared {
	Plugin__PreparedEntry entry;
	Plugin__Prepared result;
	Plugin__Device devices[CLAIM_DEVICES_MAX], *pointers[CLAIM_DEVICES_MAX];
	char *request[CLAIM_DEVICES_MAX];
	struct work_result work;
};

static void prepared_fill(struct prepared *prepared, char *uid)
{
	size_t i;

	plugin__prepared_entry__init(&prepared->entry);
	plugin__prepared__init(&prepared->result);
	prepared->entry.uid = uid;
	prepared->entry.result = &prepared->result;
	if (!prepared->work.good) {
		prepared->result.error = prepared->work.reason.text;
		return;
	}
	for (i = 0; i < prepared->work.n; i++) {
		struct work_device *from = &prepared->work.devices[i];
		Plugin__Device *device = &prepared->devices[i];

		plugin__device__init(device);
		prepared->request[i] = from->request;
		device->request_names = &prepared->request[i];
		device->n_request_names = 1;
		device->pool_name = from->pool;
		device->device_name = from->device;
		device->cdi_device_ids = &from->cdi;
		device->n_cdi_device_ids = from->cdi ? 1 : 0;
		prepared->pointers[i] = device;
	}
	prepared->result.devices = prepared->pointers;
	prepared->result.n_devices = prepared->work.n;
}

static void node_prepare(void *arg, const unsigned char *message, size_t len, uint64_t until,
			 struct rpc_answer *answer)
{
	Plugin__PrepareResponse response = PLUGIN__PREPARE_RESPONSE__INIT;
	Plugin__PreparedEntry **entries;
	struct prepared *prepared;
	struct asked asked = { 0 };
	size_t i, n;

	if (!asked_start(arg, WORK_PREPARE, message, len, until, &asked, answer)) {
		asked_free(&asked);
		return;
	}
	n = asked.request->n_claims;
	prepared = zalloc(n, sizeof(*prepared));
	entries = zalloc(n, sizeof(*entries));
	for (i = 0; i < n; i++) {
		asked_wait(arg, &asked, i,
			   "its GPUs are still being attached: the kubelet asks again",
			   &prepared[i].work);
		prepared_fill(&prepared[i], asked.request->claims[i]->uid);
		entries[i] = &prepared[i].entry;
	}
	response.claims = entries;
	response.n_claims = n;
	message_answer(answer, &response.base);
	for (i = 0; i < n; i++)
		work_result_free(&prepared[i].work);
	free(prepared);
	free(entries);
	asked_free(&asked);
}

/**
 * struct unprepared - the same for a claim that is given back
 */
struct unprepared {
	Plugin__UnpreparedEntry entry;
	Plugin__Unprepared result;
	struct work_result work;
};

static void node_unprepare(void *arg, const unsigned char *message, size_t len, uint64_t until,
			   struct rpc_answer *answer)
{
	Plugin__UnprepareResponse response = PLUGIN__UNPREPARE_RESPONSE__INIT;
	Plugin__UnpreparedEntry **entries;
	struct unprepared *unprepared;
	struct asked asked = { 0 };
	size_t i, n;

	if (!asked_start(arg, WORK_RELEASE, message, len, until, &asked, answer)) {
		asked_free(&asked);
		return;
	}
	n = asked.request->n_claims;
	unprepared = zalloc(n, sizeof(*unprepared));
	entries = zalloc(n, sizeof(*entries));
	for (i = 0; i < n; i++) {
		struct unprepared *one = &unprepared[i];

		plugin__unprepared_entry__init(&one->entry);
		plugin__unprepared__init(&one->result);
		one->entry.uid = asked.request->claims[i]->uid;
		one->entry.result = &one->result;
		if (!asked_wait(arg, &asked, i,
				"its GPUs are still being given back: the kubelet asks again",
				&one->work))
			one->result.error = one->work.reason.text;
		entries[i] = &one->entry;
	}
	response.claims = entries;
	response.n_claims = n;
	message_answer(answer, &response.base);
	free(unprepared);
	free(entries);
	asked_free(&asked);
}

static bool watch_health(void *arg, uint64_t *seen, struct rpc_answer *answer)
{
	struct plugin *plugin = arg;

	return health_next(&plugin->health, seen, answer);
}

const struct rpc_method plugin_methods[] = {
	{ .path = "/pluginregistration.Registration/GetInfo", .call = get_info },
	{ .path = "/pluginregistration.Registration/NotifyRegistrationStatus", .call = notify },
	{ .path = "/" SERVICE "v1.DRAPlugin/NodePrepareResources", .call = node_prepare },
	{ .path = "/" SERVICE "v1.DRAPlugin/NodeUnprepareResources", .call = node_unprepare },
	{ .path = "/" SERVICE "v1beta1.DRAPlugin/NodePrepareResources", .call = node_prepare },
	{ .path = "/" SERVICE "v1beta1.DRAPlugin/NodeUnprepareResources", .call = node_unprepare },
	{ .path = "/v1.DRAResourceHealth/NodeWatchResources",
	  .next = watch_health,
	  .again_ms = HEALTH_AGAIN_MS },
	{ .path = "/v1alpha1.DRAResourceHealth/NodeWatchResources",
	  .next = watch_health,
	  .again_ms = HEALTH_AGAIN_MS },
	{ .path = NULL },
};
