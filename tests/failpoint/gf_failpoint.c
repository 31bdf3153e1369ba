// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Failing each allocation of a module once
 *
 * failslab fails allocations by chance or by count. To fail every one that a
 * module makes, and none of anybody else, this looks at who asks: an allocation
 * belongs to the module when one of the callers is in it. Two allocations are
 * the same when they were reached the same way from the module's code. Each
 * write to "armed" makes the next one that has not failed yet fail, so a test
 * that repeats its work until nothing fails any more has failed them all.
 *
 * It hooks should_failslab(), which every slab allocation asks, and which is
 * meant for that. Only for tests; see tests/vm/cases/allocations.sh.
 */
#include <linux/gfp.h>
#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>

#define DEPTH	24
#define KEYS	1024

/*
 * Protects everything below. Taken in the probe, from any context; nothing is
 * taken within it.
 */
static DEFINE_RAW_SPINLOCK(lock);
static u32 keys[KEYS];
static unsigned int nr_keys;
static bool armed;
static char target[32] = "[gpufabric]";
static char spare[32] = "pci_";
static char last[2 * KSYM_SYMBOL_LEN];

static bool is_known(u32 key)
{
	unsigned int i;

	for (i = 0; i < nr_keys; i++) {
		if (keys[i] == key)
			return true;
	}
	return false;
}

/*
 * Whose allocation this is: index of the first caller in the target, or -1. One
 * that another subsystem makes on the way is spared when its name begins so.
 */
static int find_caller(const unsigned long *entries, unsigned int n, char *name)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		sprint_symbol(name, entries[i]);
		if (strstr(name, target))
			return i;
		if (spare[0] && !strncmp(name, spare, strlen(spare)))
			return -1;
	}
	return -1;
}

static int on_entry(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	unsigned long entries[DEPTH], flags;
	char name[KSYM_SYMBOL_LEN];
	unsigned int n;
	int caller;
	u32 key;
	int ret = 1;

	if (!READ_ONCE(armed) || regs->si & __GFP_NOFAIL)
		return 1;
	n = stack_trace_save(entries, DEPTH, 0);
	caller = find_caller(entries, n, name);
	if (caller < 0)
		return 1;
	key = jhash(entries, (caller + 1) * sizeof(entries[0]), 0);
	raw_spin_lock_irqsave(&lock, flags);
	if (armed && nr_keys < KEYS && !is_known(key)) {
		keys[nr_keys++] = key;
		armed = false;
		strscpy(last, name, sizeof(last));
		ret = 0;
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	return ret;
}

NOKPROBE_SYMBOL(on_entry);

static int on_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	regs->ax = (unsigned long)-ENOMEM;
	return 0;
}

NOKPROBE_SYMBOL(on_return);

static struct kretprobe probe = {
	.kp.symbol_name	= "should_failslab",
	.entry_handler	= on_entry,
	.handler	= on_return,
	.maxactive	= 64,
};

module_param(armed, bool, 0600);
MODULE_PARM_DESC(armed, "the next allocation that has not failed yet does");
module_param_string(target, target, sizeof(target), 0600);
MODULE_PARM_DESC(target, "whose allocations: [MODULE]");
module_param_string(spare, spare, sizeof(spare), 0600);
MODULE_PARM_DESC(spare, "but not those made by functions whose name begins so");
module_param_string(last, last, sizeof(last), 0400);
MODULE_PARM_DESC(last, "where the last one was asked for");
module_param_named(failed, nr_keys, uint, 0400);
MODULE_PARM_DESC(failed, "how many have failed");

static int __init gf_failpoint_init(void)
{
	return register_kretprobe(&probe);
}
module_init(gf_failpoint_init);

static void __exit gf_failpoint_exit(void)
{
	unregister_kretprobe(&probe);
}
module_exit(gf_failpoint_exit);

MODULE_DESCRIPTION("Fail each slab allocation of a module once, for tests");
MODULE_LICENSE("GPL");
