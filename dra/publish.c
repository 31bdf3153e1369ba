// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: publishing
 *
 * One thread waits for a change of the fabric (gpuctl watch), for a change of its slices at the API
 * server (a watch), for the next renewal of a lease, and to be stopped; then it compares what
 * should be published with what is, and writes the difference under a new generation. A watch that
 * has ended, because its version is gone or for any other reason, is begun again from a new list.
 *
 * The slices of a node's own slots are written by that node. Those of a fabric manager are written
 * by one of its nodes, which has a Lease.
 */
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dra/claim.h"
#include "dra/lease.h"
#include "dra/log.h"
#include "dra/object.h"
#include "dra/publish.h"
#include "dra/slice.h"

#define BACKOFF_MIN_MS 1000
#define BACKOFF_MAX_MS 30000
#define MANAGERS_MAX 16
#define SLICES_MAX 1024
#define WATCH_SECONDS 300

/* A link is down while its GPU is off: what it had last is what it will have. */
struct link_seen {
	char device[DEVICE_NAME_MAX];
	int64_t speed, width;
};

/**
 * struct publisher - what the thread knows
 * @multi: of libcurl; it is what the thread waits with
 * @catalogue: of gpuctl -j gpus
 * @watch: of this node's slices, NULL for none; @ended: it is over
 * @follower, @changes: gpuctl watch and what it prints, -1 for none
 * @leases: of fabric managers, @n_leases of them
 * @links: of slots, @n_links of them
 * @leads: it has one of the leases
 * @due: something is due then, of clock_ms(); @look: a look at all of it
 * @earliest: nor before that: what a server makes of a slice is never written over and over
 * @backoff: of the next failure
 * @said: the last complaint, which is not repeated
 * @taints: the API server keeps taints, as far as is known
 */
struct publisher {
	struct publish_terms terms;
	pthread_t thread;
	atomic_bool stop;
	CURLM *multi;
	struct json_object *catalogue;
	struct watch *watch;
	bool ended;
	pid_t follower;
	int changes;
	struct lease leases[MANAGERS_MAX];
	size_t n_leases;
	struct link_seen *links;
	size_t n_links;
	bool leads;
	uint64_t due, look, earliest, backoff;
	struct reason said;
	bool taints;
};

static void complain_once(struct publisher *p, const struct reason *reason)
{
	if (!strcmp(p->said.text, reason->text))
		return;
	p->said = *reason;
	if (*reason->text)
		say("cannot publish: %s", reason->text);
}

static void links_remember(struct publisher *p, struct inventory *inventory)
{
	size_t i, j;

	for (i = 0; i < inventory->n_slots; i++) {
		struct inv_slot *slot = &inventory->slots[i];

		for (j = 0; j < p->n_links && strcmp(p->links[j].device, slot->device); j++)
			;
		if (slot->speed && slot->width) {
			if (j == p->n_links)
				p->links = grow(p->links, ++p->n_links, sizeof(*p->links));
			memcpy(p->links[j].device, slot->device, DEVICE_NAME_MAX);
			p->links[j].speed = slot->speed;
			p->links[j].width = slot->width;
		} else if (j < p->n_links) {
			slot->speed = p->links[j].speed;
			slot->width = p->links[j].width;
		}
	}
}

static bool publish_look(struct publisher *p, struct inventory *inventory, struct reason *reason)
{
	static const char *const words[] = { "-j", "gpus", NULL };

	memset(inventory, 0, sizeof(*inventory));
	if (!p->catalogue && gpuctl_run(&p->terms.fabric->gpuctl, words, &p->catalogue, reason))
		return false;
	if (!fabric_inventory(p->terms.fabric, true, inventory, reason))
		return false;
	inventory_kinds(inventory, p->catalogue);
	links_remember(p, inventory);
	return true;
}

static char *slices_path(const struct slice_terms *terms, const char *name)
{
	return name ? format("/apis/" RESOURCE_GROUP "/%s/resourceslices/%s", terms->version,
			     name) :
		      format("/apis/" RESOURCE_GROUP "/%s/resourceslices", terms->version);
}

/* Slices of the pool as they are, by their numbers, until the first that is not there. */
static bool slices_read(struct publisher *p, const struct slice_terms *terms,
			struct json_object *slices, struct reason *reason)
{
	size_t i;

	for (i = 0; i < SLICES_MAX; i++) {
		struct json_object *slice = NULL;
		char *name = slice_name(terms, i), *path = slices_path(terms, name);
		int status = api_request(p->terms.api, NULL, path, NULL, &slice, reason);

		free(name);
		free(path);
		if (status == API_NOT_FOUND) {
			*reason->text = '\0';
			return true;
		}
		if (status != API_OK)
			return false;
		json_object_array_add(slices, slice);
	}
	return refuse(reason, "there are more than %d slices of pool %s", SLICES_MAX, terms->pool);
}

static struct json_object *spec_of(struct json_object *slice)
{
	return json_member(slice, "spec", json_type_object);
}

/* What is kept by the server, in @answer; the caller puts it. */
static int slice_write(struct publisher *p, const struct slice_terms *terms, size_t i,
		       struct json_object *spec, int64_t generation, struct json_object *old,
		       struct json_object **answer, struct reason *reason)
{
	struct json_object *slice = slice_object(terms, i, spec, generation);
	const char *version =
		json_text(json_member(old, "metadata", json_type_object), "resourceVersion");
	char *name = slice_name(terms, i), *path = slices_path(terms, old ? name : NULL);
	int status;

	if (version)
		json_object_object_add(json_member(slice, "metadata", json_type_object),
				       "resourceVersion", json_object_new_string(version));
	status = api_request(p->terms.api, old ? "PUT" : "POST", path, slice, answer, reason);
	json_object_put(slice);
	free(name);
	free(path);
	return status;
}

/* Whoever reads a pool believes it when all slices have the newest generation. */
static bool slices_write(struct publisher *p, const struct slice_terms *terms,
			 struct json_object *specs, struct json_object *old, struct reason *reason)
{
	size_t n = json_object_array_length(specs), had = json_object_array_length(old), i;
	int64_t generation = 0;

	for (i = 0; i < had; i++) {
		struct json_object *pool = json_member(spec_of(json_object_array_get_idx(old, i)),
						       "pool", json_type_object);
		struct json_object *value = json_member(pool, "generation", json_type_int);

		if (value && json_object_get_int64(value) > generation)
			generation = json_object_get_int64(value);
	}
	generation++;
	p->earliest = clock_ms() + BACKOFF_MIN_MS;
	for (i = 0; i < n; i++) {
		struct json_object *spec = json_object_array_get_idx(specs, i), *answer = NULL;
		struct json_object *before = i < had ? json_object_array_get_idx(old, i) : NULL;
		int status = slice_write(p, terms, i, spec, generation, before, &answer, reason);

		if (status == API_OK || status == API_CREATED)
			p->taints = p->taints && !slice_lost_taints(spec, spec_of(answer));
		json_object_put(answer);
		if (status != API_OK && status != API_CREATED)
			return false;
	}
	for (i = n; i < had; i++) {
		char *name = slice_name(terms, i), *path = slices_path(terms, name);
		int status = api_request(p->terms.api, "DELETE", path, NULL, NULL, reason);

		free(name);
		free(path);
		if (status != API_OK && status != API_NOT_FOUND)
			return false;
	}
	return true;
}

static bool slices_differ(struct json_object *specs, struct json_object *old,
			  const struct slice_terms *terms)
{
	size_t n = json_object_array_length(specs), i;

	if (n != json_object_array_length(old))
		return true;
	for (i = 0; i < n; i++)
		if (!slice_same(json_object_array_get_idx(old, i),
				json_object_array_get_idx(specs, i), terms))
			return true;
	return false;
}

/* A server that drops taints is told of fewer devices, at once. */
static bool publish_pool(struct publisher *p, const struct inventory *inventory,
			 struct slice_terms *terms, struct reason *reason)
{
	bool good, taints;

	do {
		struct json_object *old = json_object_new_array(), *specs;

		taints = p->taints;
		terms->taints = taints;
		specs = slice_specs(inventory, terms);
		good = slices_read(p, terms, old, reason) &&
		       (!slices_differ(specs, old, terms) ||
			slices_write(p, terms, specs, old, reason));
		json_object_put(specs);
		json_object_put(old);
	} while (good && taints && !p->taints);
	return good;
}

/*
 * A Node that was made anew under its name has another uid, so it is asked for each time. Without a
 * Node there is nothing to publish for, and what would be published is deleted.
 */
static bool publish_node(struct publisher *p, const struct inventory *inventory,
			 const char *version, struct reason *reason)
{
	const char *name = p->terms.fabric->node;
	struct slice_terms terms = { .version = version, .pool = name, .node = name };
	char *path = format("/api/v1/nodes/%s", name);
	struct json_object *node = NULL;
	bool good = api_request(p->terms.api, NULL, path, NULL, &node, reason) == API_OK;

	terms.uid = json_text(json_member(node, "metadata", json_type_object), "uid");
	if (good && !terms.uid)
		good = refuse(reason, "the API server has no uid for node %s", name);
	good = good && publish_pool(p, inventory, &terms, reason);
	json_object_put(node);
	free(path);
	return good;
}

static struct lease *lease_of(struct publisher *p, const char *manager)
{
	char pool[DEVICE_NAME_MAX], *name;
	size_t i;

	pool_name(manager, pool);
	name = format("gpufabric-dra-%s", pool);
	for (i = 0; i < p->n_leases && strcmp(p->leases[i].name, name); i++)
		;
	if (i < p->n_leases || i == MANAGERS_MAX) {
		free(name);
		return i < p->n_leases ? &p->leases[i] : NULL;
	}
	p->leases[i] = (struct lease){ .namespace = p->terms.namespace,
				       .holder = p->terms.fabric->node,
				       .name = name,
				       .ms = p->terms.lease_ms };
	p->n_leases++;
	return &p->leases[i];
}

static bool publish_managers(struct publisher *p, const struct inventory *inventory,
			     const char *version, struct reason *reason)
{
	char pool[DEVICE_NAME_MAX];
	bool good = true;
	size_t i, j;

	p->leads = false;
	for (i = 0; i < inventory->n_gpus; i++) {
		const char *manager = inventory->gpus[i].manager;
		struct slice_terms terms = { .version = version, .pool = pool, .manager = manager };
		struct lease *lease;

		for (j = 0; j < i && strcmp(inventory->gpus[j].manager, manager); j++)
			;
		if (j < i)
			continue;
		pool_name(manager, pool);
		lease = lease_of(p, manager);
		if (lease && lease_hold(p->terms.api, lease, reason)) {
			p->leads = true;
			good = publish_pool(p, inventory, &terms, reason) && good;
		} else if (*reason->text) {
			good = false;
		}
	}
	return good;
}

/* Who has no lease asks no fabric manager, and only whether a lease is over. */
static void leases_try(struct publisher *p)
{
	struct reason other = { "" };
	size_t i;

	for (i = 0; i < p->n_leases; i++)
		if (lease_hold(p->terms.api, &p->leases[i], &other))
			p->look = 0;
}

/* Each event is a reason to look; what it says is read anew. */
static void watch_event(void *arg, const char *text, size_t len)
{
	struct publisher *p = arg;

	(void)text;
	(void)len;
	p->look = 0;
}

static void watch_end(struct publisher *p)
{
	if (!p->watch)
		return;
	curl_multi_remove_handle(p->multi, api_watch_handle(p->watch));
	api_unwatch(p->watch);
	p->watch = NULL;
	p->ended = false;
}

/* From a list of what is there now, so that nothing between the two is missed. */
static bool watch_begin(struct publisher *p, const char *version, struct reason *reason)
{
	char *list =
		format("/apis/" RESOURCE_GROUP
		       "/%s/resourceslices?fieldSelector=spec.nodeName%%3D%s%%2Cspec.driver%%3D" DRIVER_NAME,
		       version, p->terms.fabric->node);
	struct json_object *root = NULL;
	const char *from;
	bool good = api_request(p->terms.api, NULL, list, NULL, &root, reason) == API_OK;
	char *path;

	from = json_text(json_member(root, "metadata", json_type_object), "resourceVersion");
	if (good && from && strspn(from, "0123456789") == strlen(from)) {
		path = format("%s&watch=1&timeoutSeconds=%d&resourceVersion=%s", list,
			      WATCH_SECONDS, from);
		p->watch = api_watch(p->terms.api, path, watch_event, p, reason);
		if (p->watch)
			curl_multi_add_handle(p->multi, api_watch_handle(p->watch));
		free(path);
	} else if (good) {
		refuse(reason, "the API server has no version of its list of slices");
	}
	json_object_put(root);
	free(list);
	return p->watch;
}

static void follow_begin(struct publisher *p)
{
	static const char *const words[] = { "-j", "watch", "changes", "--changes", NULL };
	struct reason other = { "" };

	if (p->changes < 0)
		p->changes = gpuctl_follow(&p->terms.fabric->gpuctl, words, &p->follower, &other);
}

static void follow_end(struct publisher *p)
{
	if (p->changes >= 0)
		gpuctl_unfollow(p->follower, p->changes);
	p->changes = -1;
}

/* Take what it has printed; true if there was anything. */
static bool follow_read(struct publisher *p)
{
	char piece[4096];
	bool some = false;
	ssize_t n;

	while (p->changes >= 0) {
		n = read(p->changes, piece, sizeof(piece));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return some;
		if (n > 0)
			some = true;
		else
			follow_end(p);
	}
	return some;
}

/* Needs no API server. */
static void publish_health(struct publisher *p, const struct inventory *inventory,
			   const struct reason *reason)
{
	if (health_take(p->terms.health, p->terms.fabric->node, inventory, reason))
		rpc_news(p->terms.rpc);
}

static bool publish_watch(struct publisher *p, const char **version, struct reason *reason)
{
	*version = object_version(p->terms.api, reason);
	if (!*version)
		return false;
	if (p->ended)
		watch_end(p);
	return p->watch || watch_begin(p, *version, reason);
}

static bool publish_all(struct publisher *p, struct reason *reason)
{
	const char *version = NULL;
	struct inventory inventory;
	bool good, seen;

	/* Before the look: what changes after it wakes us. */
	follow_begin(p);
	seen = publish_look(p, &inventory, reason);
	publish_health(p, seen ? &inventory : NULL, reason);
	good = seen && publish_watch(p, &version, reason);
	/* Which slots have GPUs of a manager that does not answer is not known; others have said all of theirs. */
	if (good && inventory.partial)
		good = publish_managers(p, &inventory, version, reason) &&
		       refuse(reason,
			      "a fabric manager does not answer: its pool and the slots of this node stay as they are");
	else if (good)
		good = publish_node(p, &inventory, version, reason) &&
		       publish_managers(p, &inventory, version, reason);
	inventory_free(&inventory);
	return good;
}

static void publish_wait(struct publisher *p)
{
	struct curl_waitfd fds = { .fd = p->changes, .events = CURL_WAIT_POLLIN };
	uint64_t now = clock_ms();
	int running = 0, left;
	CURLMsg *message;

	curl_multi_perform(p->multi, &running);
	if (p->look < p->due)
		p->due = p->look < p->earliest ? p->earliest : p->look;
	if (p->due > now && !atomic_load(&p->stop))
		curl_multi_poll(p->multi, &fds, p->changes >= 0 ? 1 : 0, (int)(p->due - now), NULL);
	curl_multi_perform(p->multi, &running);
	while ((message = curl_multi_info_read(p->multi, &left)))
		if (message->msg == CURLMSG_DONE)
			p->ended = true;
	if (follow_read(p))
		p->look = 0;
}

static void publish_step(struct publisher *p)
{
	struct reason reason = { "" };
	bool good = publish_all(p, &reason);
	/* A lease that it has just got is to be renewed, too. */
	uint64_t pause = p->leads ? p->terms.lease_ms / 3 : p->terms.pause_ms;

	if (good) {
		p->look = clock_ms() + pause;
		p->backoff = BACKOFF_MIN_MS;
	} else {
		p->look = clock_ms() + (p->backoff < pause ? p->backoff : pause);
		p->backoff = p->backoff * 2 > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : p->backoff * 2;
	}
	complain_once(p, &reason);
}

static void *publish_thread(void *arg)
{
	struct publisher *p = arg;
	uint64_t renew = 0;

	while (!atomic_load(&p->stop)) {
		if (clock_ms() >= p->look && clock_ms() >= p->earliest) {
			publish_step(p);
		} else if (!p->leads && clock_ms() >= renew) {
			leases_try(p);
			renew = clock_ms() + p->terms.lease_ms / 3;
		}
		p->due = p->look < p->earliest ? p->earliest : p->look;
		if (p->n_leases && !p->leads && renew < p->due)
			p->due = renew;
		publish_wait(p);
		/* Not at once, if it ends again and again. */
		if (p->ended && p->look > clock_ms() + BACKOFF_MIN_MS)
			p->look = clock_ms() + BACKOFF_MIN_MS;
	}
	return NULL;
}

struct publisher *publish_start(const struct publish_terms *terms)
{
	struct publisher *p = zalloc(1, sizeof(*p));

	p->terms = *terms;
	p->changes = -1;
	p->backoff = BACKOFF_MIN_MS;
	p->taints = true;
	p->multi = curl_multi_init();
	if (!p->multi || pthread_create(&p->thread, NULL, publish_thread, p))
		abort();
	return p;
}

void publish_stop(struct publisher *p)
{
	if (!p)
		return;
	atomic_store(&p->stop, true);
	curl_multi_wakeup(p->multi);
	pthread_join(p->thread, NULL);
	watch_end(p);
	follow_end(p);
	curl_multi_cleanup(p->multi);
	json_object_put(p->catalogue);
	while (p->n_leases)
		free(p->leases[--p->n_leases].name);
	free(p->links);
	free(p);
}
