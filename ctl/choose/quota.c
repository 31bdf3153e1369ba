// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: quotas
 *
 * Which slots are free is the module's to say, and it gives a slot to one composition only.
 * How many a tenant has is a sum over compositions: two requests that look at the same time
 * would both find room. So a request is decided twice. When slots are chosen, nobody waits
 * for anybody: what is refused then costs nothing. Once hooks and whatever else takes
 * time are over, a lock is taken for one more look, and for the request, which claims all
 * slots in the module before anything is powered. Who claims first has the GPUs.
 *
 * Claiming first and counting then would need no lock. But the module begins with the
 * work as it claims, and GPUs that others wait for would be powered up and down
 * for a request that is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/conf_dir.h"
#include "base/text.h"
#include "choose/quota.h"
#include "module/annotation.h"

#define TENANTS_DIR "tenants.d"
/* Only who may change the fabric may make others wait. */
#define LOCK_FILE "/run/gpuctl.lock"
#define LOCK_MODE 0600
#define LOCK_LOOK_MS 20

static int quota_parse(const char *file, const char *text, size_t len, void *arg,
		       struct fault *fault)
{
	return tenants_parse(arg, file, text, len, fault);
}

static int read_tenants(struct ctl_ctx *ctx, struct tenants *tenants)
{
	struct fault fault = { "" };
	int err;

	err = conf_dir_read(ctx->config_dir, TENANTS_DIR, false, quota_parse, tenants, &fault);
	if (!err)
		err = tenants_check(tenants, &fault);
	if (!err)
		return CTL_DONE;
	tenants_free(tenants);
	return ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
}

static void count_held(const struct session *session, const struct gf_fabric *fabric,
		       struct tenants *tenants)
{
	size_t i;

	for (i = 0; i < tenants->n; i++)
		tenants->items[i].held = 0;
	for (i = 0; i < fabric->n_compositions; i++) {
		const struct gf_composition *composition = &fabric->compositions[i];
		struct annotation note;
		struct tenant *tenant;

		annotation_of(composition, &note);
		tenant = tenants_find(tenants, note.tenant);

		if (tenant)
			tenant->held += identity_members(&session->knowledge, fabric, composition);
	}
}

int quota_load(struct session *session, struct quota *quota)
{
	int ret;

	memset(quota, 0, sizeof(*quota));
	quota->lock = -1;
	ret = read_tenants(session->ctx, &quota->tenants);
	if (!ret)
		count_held(session, &session->fabric, &quota->tenants);
	return ret;
}

static int take_lock(struct ctl_ctx *ctx, int fd)
{
	uint64_t end = text_monotonic() + QUOTA_WAIT_MS;
	const struct timespec look = { .tv_nsec = LOCK_LOOK_MS * 1000000L };

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK)
			return ctl_fail(ctx, CTL_FAILED, LOCK_FILE ": %s", strerror(errno));
		if (gfc_signalled())
			return ctl_fail(ctx, CTL_FAILED, "interrupted: nothing was changed");
		if (text_monotonic() > end)
			return ctl_fail(ctx, CTL_TIMEOUT,
					"another gpuctl is still composing: " LOCK_FILE " is held");
		ppoll(NULL, 0, &look, gfc_signal_mask());
	}
	return CTL_DONE;
}

int quota_begin(struct session *session, const char *tenant, struct quota *quota)
{
	struct fault fault = { "" };
	int ret = quota_load(session, quota);

	if (ret || !tenants_know(&quota->tenants, tenant, &fault))
		return ret;
	quota_end(quota);
	return ctl_fail(session->ctx, CTL_USAGE, "%s", fault.text);
}

void quota_end(struct quota *quota)
{
	quota_unlock(quota);
	tenants_free(&quota->tenants);
}

void quota_suppose_free(struct quota *quota)
{
	size_t i;

	for (i = 0; i < quota->tenants.n; i++)
		quota->tenants.items[i].held = 0;
}

/*
 * What others could have; that this request leaves a slot out makes it no less free. @now,
 * unless it is NULL, says what was taken since.
 */
static size_t quota_count_free(const struct pool *pool, const struct gf_fabric *now)
{
	size_t n = 0, i;

	for (i = 0; i < pool->n; i++) {
		const struct choose_slot *slot = &pool->slots[i];
		const struct gf_slot *then = now ? gf_slot_by_id(now, slot->id) : NULL;

		if (!choose_is_free(slot))
			continue;
		if (!now || (then && !then->composition && !then->operation.id))
			n += slot->gpus;
	}
	return n;
}

static int admit(struct session *session, const struct quota *quota, size_t left,
		 const char *tenant, size_t added, size_t removed)
{
	size_t more = added > removed ? added - removed : 0;
	struct fault fault = { "" };
	int err;

	left -= more < left ? more : left;
	err = tenants_admit(&quota->tenants, tenant, more, left, &fault);
	if (!err)
		return CTL_DONE;
	return ctl_fail(session->ctx, err == -EINVAL ? CTL_USAGE : CTL_NO_FIT, "%s", fault.text);
}

int quota_admit(struct session *session, const struct quota *quota, const struct pool *pool,
		const char *tenant, size_t added, size_t removed)
{
	return admit(session, quota, quota_count_free(pool, NULL), tenant, added, removed);
}

int quota_lock(struct session *session, struct quota *quota, const struct pool *pool,
	       const char *tenant, size_t added, size_t removed)
{
	struct ctl_ctx *ctx = session->ctx;
	struct gf_fabric now = { 0 };
	int ret;

	if (!quota->tenants.n)
		return CTL_DONE;
	quota->lock = open(LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, LOCK_MODE);
	if (quota->lock < 0)
		return ctl_fail(ctx, errno == EACCES ? CTL_DENIED : CTL_FAILED, LOCK_FILE ": %s",
				strerror(errno));
	ret = take_lock(ctx, quota->lock);
	/* The snapshot of the session stays: slots that were chosen are in it. */
	if (!ret)
		ret = gfc_fabric(session->client, &now, 0);
	if (!ret) {
		count_held(session, &now, &quota->tenants);
		ret = admit(session, quota, quota_count_free(pool, &now), tenant, added, removed);
	}
	gf_fabric_free(&now);
	if (ret)
		quota_unlock(quota);
	return ret;
}

void quota_unlock(struct quota *quota)
{
	if (quota->lock >= 0)
		close(quota->lock);
	quota->lock = -1;
}

size_t quota_room(const struct quota *quota, const struct pool *pool, const char *tenant)
{
	if (!quota->tenants.n)
		return ARRANGE_NO_LIMIT;
	return tenants_room(&quota->tenants, tenant, quota_count_free(pool, NULL));
}
