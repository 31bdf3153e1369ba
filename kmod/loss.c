// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: GPUs that are away
 *
 * A link that is down is news, not a removal: resets, error recovery and firmware updates take
 * links down, and bring them up again. So a GPU that does not answer is given time. When it comes
 * back within it, or whoever reset it restores its registers, that was a flap; else it is lost.
 *
 * What a reset wipes tells whether it is as it was: the addresses in its BARs, and in Command that
 * they are decoded; drivers change the rest. A GPU that is not as it was gets the same time, which
 * does not begin anew when it goes away meanwhile: a link that blinks all the time would hide that
 * nobody restores anything. While the kernel recovers a GPU nobody looks at it. Where no driver can
 * recover it the kernel never says so, so that has an end, too, far beyond what a recovery takes.
 *
 * The file also builds in user space, for its test.
 */
#include <linux/pci_regs.h>

#include "loss.h"

/* Whether @since, set when this began, is long enough ago. */
static bool lasts(bool *began, u64 *since, u64 now, u64 ms)
{
	if (!*began) {
		*began = true;
		*since = now;
	}
	return now - *since >= ms;
}

static bool is_as_before(const struct gf_loss *loss, const struct gf_sight *sight)
{
	u16 decodes = PCI_COMMAND_IO | PCI_COMMAND_MEMORY;

	return sight->same && sight->bars &&
	       (!loss->cut || !loss->seen ||
		!(loss->command & ~sight->command & decodes));
}

static enum gf_loss_verdict judge_unknown(struct gf_loss *loss, bool frozen,
					  u64 now, unsigned int lost_ms)
{
	/* What nobody saw does not count. */
	loss->gone = false;
	loss->wiped = false;
	if (!frozen) {
		loss->frozen = false;
		return GF_LOSS_NONE;
	}
	if (!lasts(&loss->frozen, &loss->frozen_since, now,
		   (u64)lost_ms * GF_RECOVERY_TIMES) || loss->lost)
		return GF_LOSS_NONE;
	loss->cut = true;
	loss->lost = true;
	return GF_LOSS_LOST;
}

enum gf_loss_verdict gf_loss_judge(struct gf_loss *loss, const struct gf_sight *sight, u64 now,
				   unsigned int lost_ms)
{
	enum gf_loss_verdict verdict = GF_LOSS_NONE;

	/* What has begun goes on. */
	if (sight->busy)
		return GF_LOSS_NONE;
	if (!sight->known)
		return judge_unknown(loss, sight->frozen, now, lost_ms);
	loss->frozen = false;
	if (!sight->answers) {
		loss->cut = true;
		if (!lasts(&loss->gone, &loss->gone_since, now, lost_ms) || loss->lost)
			return GF_LOSS_NONE;
		loss->lost = true;
		loss->wiped = false;
		return GF_LOSS_LOST;
	}
	loss->gone = false;
	if (!is_as_before(loss, sight)) {
		if (!lasts(&loss->wiped, &loss->wiped_since, now, lost_ms))
			return GF_LOSS_NONE;
		*loss = (struct gf_loss){};
		return GF_LOSS_RESET;
	}
	if (loss->lost)
		verdict = GF_LOSS_BACK;
	else if (loss->cut)
		verdict = GF_LOSS_FLAP;
	/* What others decode does not tell what those that sleep do. */
	*loss = (struct gf_loss){
		.seen = true, .command = sight->command & (sight->partial ? loss->command : ~0),
	};
	return verdict;
}
