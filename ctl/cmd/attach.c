// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl attach: power and enumerate single slots. */
#include <stdlib.h>

#include "ctl.h"
#include "lib/arrival.h"
#include "lib/driver.h"
#include "lib/out.h"
#include "lib/placement.h"
#include "lib/render.h"
#include "lib/session.h"
#include "lib/wait.h"

static struct nl_msg *build(struct session *session, struct gf_slot *const *slots, size_t n,
			    const struct placement *placement)
{
	struct nl_msg *msg = gfc_message(session->client, GPUFABRIC_CMD_ATTACH);
	struct identity identity;
	uint32_t flags = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		/* A declaration is verified; a card that was swapped is no error here. */
		identity_of(&session->knowledge, slots[i], &identity);
		gfc_put_member(msg, GPUFABRIC_A_MEMBER, slots[i], NULL,
			       identity.source == GPUFABRIC_IDENTITY_SOURCE_DECLARED &&
					       identity.ids.vendor
				       ? &identity.ids
				       : NULL,
			       placement->order[i]);
	}
	nla_put_u32(msg, GPUFABRIC_A_DRIVER_TIMEOUT,
		    session_driver_timeout(session, slots, n, ctl_flag(session->ctx, "driver")));
	if (session->ctx->dry_run)
		/* The module judges the request without carrying it out. */
		flags |= GPUFABRIC_ATTACH_FLAG_CHECK;
	if (ctl_flag(session->ctx, "no-fit-check"))
		flags |= GPUFABRIC_ATTACH_FLAG_HARM;
	if (flags)
		nla_put_u32(msg, GPUFABRIC_A_ATTACH_FLAGS, flags);
	placement_put(msg, placement);
	driver_put(session->ctx, msg);
	if (session_put_options(session->ctx, msg)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/* Whether the request says something of a GPU, which takes the catalogue. */
static bool any_known(const struct session *session, struct gf_slot *const *slots, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (slots[i]->vendor)
			return true;
	return knowledge_has_declarations(session->ctx);
}

static int attach(struct session *session, struct gf_slot *const *slots, size_t n)
{
	struct placement placement;
	struct arrival arrival;
	struct nl_msg *msg;
	struct wait wait;
	size_t i;
	int ret = CTL_DONE, tries = 0;

	/* Of slots that nobody knows anything of, it can wait until they train. */
	if (any_known(session, slots, n))
		ret = session_know(session);
again:
	if (!ret)
		ret = placement_judge(session, slots, n,
				      ctl_flag(session->ctx, "no-fit-check"), &placement);
	if (ret)
		return ret;
	msg = build(session, slots, n, &placement);
	placement_free(&placement);
	if (!msg)
		return CTL_USAGE;
	if (session->ctx->dry_run) {
		ret = gfc_request(session->client, msg, NULL, NULL);
		for (i = 0; i < n && !ret; i++)
			out_note(session->ctx->out, "would", "would attach ", "%s", slots[i]->name);
		if (!ret && !arrival_begin(session, &arrival, slots, n))
			arrival_free(&arrival);
		return ret;
	}
	ret = arrival_begin(session, &arrival, slots, n);
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	ret = wait_start(session, msg, slots, n, &wait);
	if (ret) {
		arrival_abort(session, &arrival);
		arrival_free(&arrival);
		if (!placement_stale(session) || ++tries == PLACEMENT_TRIES)
			return ret;
		ret = CTL_DONE;
		goto again;
	}
	/* The request is on its way: from here the catalogue only gives names. */
	session->use = SESSION_CHANGE;
	ret = session_know(session);
	if (!ret)
		ret = wait_all(session, &wait, 1);
	if (!ret) {
		wait_render(session, &wait, 1);
		arrival_finish(session, &arrival);
		for (i = 0; i < wait.n_slots; i++)
			driver_warn(session, gf_slot_by_name(&session->fabric, wait.slots[i]));
		ret = wait_outcome(session, &wait,
				   n > 1 ? "not attached, all slots are as before"
					 : "not attached");
	}
	arrival_free(&arrival);
	wait_free(&wait);
	return ret;
}

/* Cards that the fabric has to bring first are there when the module is asked. */
static int attach_named(struct session *session, int argc, char **argv)
{
	struct gf_slot **slots;
	bool changed;
	int ret;

	ret = session_slots(session, argc, argv, &slots);
	if (ret)
		return ret;
	ret = session_managed(session, slots, (size_t)argc);
	if (!ret)
		ret = arrival_assign(session, slots, (size_t)argc, &changed);
	if (!ret && changed) {
		free(slots);
		ret = session_slots(session, argc, argv, &slots);
		if (ret)
			return ret;
	}
	if (!ret)
		ret = attach(session, slots, (size_t)argc);
	free(slots);
	return ret;
}

static int run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	int ret;

	ret = ctl_operands(ctx, argc, 1, GPUFABRIC_MEMBERS_MAX);
	if (!ret)
		ret = driver_check(ctx);
	if (!ret)
		ret = session_open_slots(ctx, &session, SESSION_CHOOSE);
	if (ret)
		return ret;
	ret = attach_named(&session, argc, argv);
	session_close(&session);
	return ret;
}

static const struct ctl_option options[] = {
	DRIVER_OPTION,
	{ "no-fit-check", 0, NULL, "try although the bridge windows cannot take the GPU" },
	{ NULL },
};

const struct ctl_command cmd_attach = {
	.name = "attach",
	.args = "SLOT...",
	.summary = "power slots and bring their GPUs up, all or none",
	.help =
		"The GPUs belong to no composition afterwards; gpuctl compose both claims and attaches.\n"
		"A slot that is ready already stays as it is. An empty slot gets its card from the fabric, if\n"
		"there is an assign hook: see gpuctl-hooks(5).\n"
		"A GPU that the windows of the bridges above cannot take is refused before it is powered,\n"
		"exit code 3. --no-fit-check tries nevertheless; that can take the addresses of GPUs beside\n"
		"it away, which then fail.\n"
		"--driver has one driver bind and keeps all others off, from the moment that the GPU appears:\n"
		"vfio-pci for a guest. It has to be loaded. The choice (driver_override) is for the GPU's display or\n"
		"accelerator function and for the sound and USB functions beside it, and lasts until the GPU is\n"
		"detached. A slot that is ready with another driver is refused, exit code 4.",
	.options = { options, session_options },
	.run = run,
};
