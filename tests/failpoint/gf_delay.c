// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Holding up a task at a function
 *
 * A race that is lost once in a million turns is lost each time when one side
 * of it is late. A task that comes to one function by way of another is held up
 * there once, for a while, without sleeping. Only for tests; see
 * tests/vm/cases/waiter.sh.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/processor.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#define DEPTH	24

static char *function = "finish_wait";
static char caller[KSYM_NAME_LEN];
static char spare[KSYM_NAME_LEN];
static unsigned int ms = 1000;
static atomic_t armed = ATOMIC_INIT(0);
static unsigned int held;
static unsigned int over;
static bool go_on;

/*
 * Where a function begins its frame is not there yet, and a trace by frame
 * pointers misses who called it: that address is on top of the stack.
 */
static bool comes_by(struct pt_regs *regs, const char *prefix)
{
	unsigned long entries[DEPTH];
	char name[KSYM_SYMBOL_LEN];
	unsigned int n, i;

	entries[0] = regs_get_kernel_stack_nth(regs, 0);
	n = 1 + stack_trace_save(entries + 1, DEPTH - 1, 0);
	for (i = 0; i < n; i++) {
		sprint_symbol(name, entries[i]);
		if (!strncmp(name, prefix, strlen(prefix)))
			return true;
	}
	return false;
}

static int on_function(struct kprobe *kprobe, struct pt_regs *regs)
{
	u64 end;

	if (!atomic_read(&armed) || !comes_by(regs, caller) ||
	    (spare[0] && comes_by(regs, spare)) || !atomic_cmpxchg(&armed, 1, 0))
		return 0;
	WRITE_ONCE(held, held + 1);
	/* On a busy host a processor is away in between: its time counts, and is no lockup. */
	end = ktime_get_mono_fast_ns() + (u64)READ_ONCE(ms) * NSEC_PER_MSEC;
	while (ktime_get_mono_fast_ns() < end && !READ_ONCE(go_on)) {
		cpu_relax();
		touch_softlockup_watchdog();
	}
	if (!READ_ONCE(go_on))
		WRITE_ONCE(over, over + 1);
	return 0;
}

NOKPROBE_SYMBOL(on_function);

static struct kprobe probe = {
	.pre_handler = on_function,
};

static int set_armed(const char *value, const struct kernel_param *param)
{
	bool on;
	int err = kstrtobool(value, &on);

	if (!err)
		atomic_set(&armed, on);
	return err;
}

static int get_armed(char *text, const struct kernel_param *param)
{
	return sprintf(text, "%d\n", atomic_read(&armed));
}

static const struct kernel_param_ops armed_ops = {
	.set = set_armed,
	.get = get_armed,
};

module_param_cb(armed, &armed_ops, NULL, 0600);
MODULE_PARM_DESC(armed, "the next task that comes there is held up");
module_param(function, charp, 0400);
MODULE_PARM_DESC(function, "where [finish_wait]");
module_param_string(caller, caller, sizeof(caller), 0600);
MODULE_PARM_DESC(caller, "by way of a function whose name begins so");
module_param_string(spare, spare, sizeof(spare), 0600);
MODULE_PARM_DESC(spare, "but not by way of this one");
module_param(ms, uint, 0600);
MODULE_PARM_DESC(ms, "for so long [1000]");
module_param(go_on, bool, 0600);
MODULE_PARM_DESC(go_on, "no longer");
module_param(held, uint, 0400);
MODULE_PARM_DESC(held, "how many were");
module_param(over, uint, 0400);
MODULE_PARM_DESC(over, "how many of them for all of that time");

static int __init gf_delay_init(void)
{
	probe.symbol_name = function;
	return register_kprobe(&probe);
}
module_init(gf_delay_init);

static void __exit gf_delay_exit(void)
{
	unregister_kprobe(&probe);
}
module_exit(gf_delay_exit);

MODULE_DESCRIPTION("Hold up a task at a function, for tests");
MODULE_LICENSE("GPL");
