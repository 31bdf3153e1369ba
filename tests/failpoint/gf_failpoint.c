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
 * It hooks should_failslab(), which every slab allocation asks, and
 * should_fail_alloc_page(), which what is too large for that asks; both are
 * meant for it. Memory that need not be in one piece is asked for twice, in one
 * piece and in several: when the first fails, so does the second. Only for
 * tests; see tests/vm/cases/allocations.sh.
 */
#include <linux/gfp.h>
#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched/task_stack.h>
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
static unsigned int every = 1;
static unsigned int nr_failed;
/* Who has been refused memory in one piece, and from where in the module. */
static struct task_struct *refused;
static unsigned long refused_from;
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
 * that another subsystem makes on the way is spared when its name begins so, and
 * so are pages that the slab allocator asks for.
 */
static int find_caller(const unsigned long *entries, unsigned int n, char *name,
		       bool *in_pieces)
{
	unsigned int i;

	*in_pieces = false;
	for (i = 0; i < n; i++) {
		sprint_symbol(name, entries[i]);
		if (strstr(name, target))
			return i;
		if (spare[0] && !strncmp(name, spare, strlen(spare)))
			return -1;
		if (strstr(name, "slab_alloc") || strstr(name, "allocate_slab"))
			return -1;
		*in_pieces |= !strncmp(name, "__vmalloc", strlen("__vmalloc"));
	}
	return -1;
}

/* Names are looked up at length, and most allocations come from no other module. */
static bool comes_from_module(const unsigned long *entries, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (entries[i] >= MODULES_VADDR && entries[i] < MODULES_END &&
		    !within_module(entries[i], THIS_MODULE))
			return true;
	}
	return false;
}

/*
 * To walk a stack takes an emulated processor long, and hardly any allocation comes from
 * a module. Whatever the stack holds from here on includes all addresses that somebody
 * returns to. An interrupt has a stack of its own, with another one below.
 */
static bool may_come_from_module(struct pt_regs *regs)
{
	const unsigned long *word = (const unsigned long *)kernel_stack_pointer(regs);
	const unsigned long *end = task_stack_page(current) + THREAD_SIZE;

	if (!object_is_on_stack(word))
		return true;
	for (; word < end; word++) {
		unsigned long value = READ_ONCE_NOCHECK(*word);

		if (value >= MODULES_VADDR && value < MODULES_END)
			return true;
	}
	return false;
}

static bool refuse(const unsigned long *entries, int caller, bool in_pieces,
		   const char *name)
{
	u32 key = jhash(entries, (caller + 1) * sizeof(entries[0]), 0);

	if (in_pieces)
		return refused == current && refused_from == entries[caller];
	refused = NULL;
	if (!armed || nr_keys == KEYS || is_known(key))
		return false;
	keys[nr_keys++] = key;
	if (every > 1 && nr_keys % every)
		return false;
	armed = false;
	nr_failed++;
	strscpy(last, name, sizeof(last));
	refused = current;
	refused_from = entries[caller];
	return true;
}

static int on_entry(gfp_t gfp, struct pt_regs *regs)
{
	unsigned long entries[DEPTH], flags;
	char name[KSYM_SYMBOL_LEN];
	bool in_pieces, fails;
	unsigned int n;
	int caller;

	if ((!READ_ONCE(armed) && READ_ONCE(refused) != current) || gfp & __GFP_NOFAIL)
		return 1;
	if (!may_come_from_module(regs))
		return 1;
	n = stack_trace_save(entries, DEPTH, 0);
	if (!comes_from_module(entries, n))
		return 1;
	caller = find_caller(entries, n, name, &in_pieces);
	if (caller < 0)
		return 1;
	raw_spin_lock_irqsave(&lock, flags);
	fails = refuse(entries, caller, in_pieces, name);
	raw_spin_unlock_irqrestore(&lock, flags);
	return !fails;
}

NOKPROBE_SYMBOL(on_entry);

static int on_slab(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	return on_entry(regs->si, regs);
}

NOKPROBE_SYMBOL(on_slab);

static int on_pages(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	return on_entry(regs->di, regs);
}

NOKPROBE_SYMBOL(on_pages);

static int slab_fails(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	regs->ax = (unsigned long)-ENOMEM;
	return 0;
}

NOKPROBE_SYMBOL(slab_fails);

static int pages_fail(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	regs->ax = true;
	return 0;
}

NOKPROBE_SYMBOL(pages_fail);

static struct kretprobe slab = {
	.kp.symbol_name	= "should_failslab",
	.entry_handler	= on_slab,
	.handler	= slab_fails,
	.maxactive	= 64,
};

static struct kretprobe pages = {
	.kp.symbol_name	= "should_fail_alloc_page",
	.entry_handler	= on_pages,
	.handler	= pages_fail,
	.maxactive	= 64,
};

static struct kretprobe *probes[] = { &slab, &pages };

module_param(armed, bool, 0600);
MODULE_PARM_DESC(armed, "the next allocation that has not failed yet does");
module_param(every, uint, 0600);
MODULE_PARM_DESC(every, "of those that have not failed yet each of this number does, the others never");
module_param_string(target, target, sizeof(target), 0600);
MODULE_PARM_DESC(target, "whose allocations: [MODULE]");
module_param_string(spare, spare, sizeof(spare), 0600);
MODULE_PARM_DESC(spare, "but not those made by functions whose name begins so");
module_param_string(last, last, sizeof(last), 0400);
MODULE_PARM_DESC(last, "where the last one was asked for");
module_param_named(failed, nr_failed, uint, 0400);
MODULE_PARM_DESC(failed, "how many have failed");

static int __init gf_failpoint_init(void)
{
	return register_kretprobes(probes, ARRAY_SIZE(probes));
}
module_init(gf_failpoint_init);

static void __exit gf_failpoint_exit(void)
{
	unregister_kretprobes(probes, ARRAY_SIZE(probes));
}
module_exit(gf_failpoint_exit);

MODULE_DESCRIPTION("Fail each allocation of a module once, for tests");
MODULE_LICENSE("GPL");
