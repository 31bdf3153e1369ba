/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_PICK_H
#define GPUFABRIC_PICK_H

#include <net/genetlink.h>

#include "op.h"

/* A slot that a request names. */
struct gf_pick {
	const struct nlattr *attr; /* for error texts */
	struct gf_slot *slot; /* found under the fabric's lock and valid while it is held */
	u32 generation;
	bool has_generation;
	struct gf_expect expect;
	enum gf_need need; /* what the request makes of it */
	/* Its place among those that come one after the other to their switch, 0 for any. */
	unsigned int turn;
};

/* The slots that a request names in one attribute. */
struct gf_picks {
	unsigned int count;
	struct gf_pick picks[];
};

typedef int (*gf_check_fn)(const struct gf_check *check, const char **why);

u32 gf_request_flags(struct genl_info *info);
const char *gf_request_reason(struct genl_info *info);
const char *gf_request_driver(struct genl_info *info);

unsigned int gf_picks_count(struct genl_info *info, int type);
struct gf_picks *gf_picks_alloc(struct genl_info *info, int type);
int gf_picks_parse(struct genl_info *info, int type, struct gf_picks *picks);
int gf_picks_members_of(struct genl_info *info, const struct gf_picks *picks,
			const struct gf_composition *composition);
int gf_pick_judge(struct genl_info *info, struct gf_pick *pick,
		  const struct gf_composition *ours, gf_check_fn check);
int gf_picks_check_stale(struct genl_info *info, const struct gf_picks *picks);
int gf_picks_judge(struct genl_info *info, struct gf_picks *picks,
		   const struct gf_composition *ours, gf_check_fn check);

#endif /* GPUFABRIC_PICK_H */
