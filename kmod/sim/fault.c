// SPDX-License-Identifier: GPL-2.0-only
/*
 * Knobs in debugfs: what people and hardware do to a slot.
 */

/**
 * DOC: knobs
 *
 * Each slot has a directory slotSWITCH.SLOT below
 * /sys/kernel/debug/gpufabric_sim. Reading a file shows the state; writing one
 * has the effect of a hand or of broken hardware:
 *
 *	surprise	"remove", "insert [CARD]", "flap [TIMES]", "blink MS",
 *			"contain", "fall-off", "come-back", "hide", "show",
 *			"button", "power-fault", "latch open", "latch close"
 *	fail		"power", "link", "presence", "enumerate", "bar" or
 *			"bar0" to "bar5", at the next operation, or with "@N"
 *			at the Nth; then the number of operations; "none"
 *	model		the card in a slot that is not powered
 *	bar_bytes	size of the large BAR at the next power-on
 *	link		"16GT x8": the highest speed and width from now on;
 *			"slow MS": additional time for training; "late MS": time
 *			until the card answers then; "full", which also ends
 *			flaps and blinks
 *	slot_driver	0 or 1: whether the slot driver has the port (mode=own)
 *	sleep		"cold": the port loses its power when it sleeps; "hot";
 *			"forget" resets the counts of accesses
 *	driver		orders for the companion driver
 *
 * presence, power, serial and state can be read only. Each switch has a
 * directory switchSWITCH with the files of these that apply to it: a whole
 * switch can go away. Only with uplink=1 is that noticed.
 *
 * Nothing here waits: the slot driver gets events, as from hardware.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/uaccess.h>

/* The longest time that can be asked for. */
#define SIM_MAX_MS	600000

static struct dentry *fault_root;

static const char * const fault_names[SIM_FAULT_COUNT] = {
	[SIM_FAULT_NONE] = "none",
	[SIM_FAULT_POWER] = "power",
	[SIM_FAULT_LINK] = "link",
	[SIM_FAULT_PRESENCE] = "presence",
	[SIM_FAULT_ENUMERATE] = "enumerate",
	[SIM_FAULT_BAR] = "bar",
	[SIM_FAULT_BAR0] = "bar0",
	[SIM_FAULT_BAR0 + 1] = "bar1",
	[SIM_FAULT_BAR0 + 2] = "bar2",
	[SIM_FAULT_BAR0 + 3] = "bar3",
	[SIM_FAULT_BAR0 + 4] = "bar4",
	[SIM_FAULT_BAR5] = "bar5",
};

/**
 * struct knob - a file of a port
 * @name: its name
 * @show: writes what is into @text; called with the port's lock held
 * @store: does what was written; called with the port's lock held
 * @slot: slots have it, switches do not
 *
 * A file without @store can be read only.
 */
struct knob {
	const char *name;
	void (*show)(struct sim_port *port, char *text, size_t size);
	int (*store)(struct sim_port *port, char *text);
	bool slot;
};

static bool is_slot(const struct sim_port *port)
{
	return port->ops == &sim_slot_ops;
}

/* Another card for the slot, or the one that was there if @text is NULL. */
static int insert_card(struct sim_slot *slot, const char *text)
{
	struct sim_card_spec spec = {};

	if (!text)
		return sim_slot_insert(slot, NULL);
	if (sim_parse_card(text, &spec) || !spec.model)
		return -EINVAL;
	return sim_slot_insert(slot, &spec);
}

static int flap(struct sim_port *port, const char *text)
{
	unsigned int times = 1;

	if (text && (kstrtouint(text, 10, &times) || !times))
		return -EINVAL;
	if (!port->link_up)
		return -ENOLINK;
	sim_port_flap(port, times);
	return 0;
}

static int blink(struct sim_port *port, const char *text)
{
	unsigned int ms;

	if (!text || kstrtouint(text, 10, &ms) || !ms || ms > SIM_MAX_MS)
		return -EINVAL;
	if (!port->link_up)
		return -ENOLINK;
	sim_port_blink(port, ms);
	return 0;
}

static int contain(struct sim_port *port)
{
	if (!port->link_up)
		return -ENOLINK;
	return is_slot(port) ? sim_port_contain(port) : -EOPNOTSUPP;
}

static int fall_silent(struct sim_port *port, bool silent)
{
	if (!port->link_up)
		return -ENOLINK;
	sim_port_silence(port, silent);
	return 0;
}

static int latch(struct sim_port *port, const char *text)
{
	if (!text || (strcmp(text, "open") && strcmp(text, "close")))
		return -EINVAL;
	return sim_port_latch(port, !strcmp(text, "open"));
}

static int surprise_store(struct sim_port *port, char *text)
{
	char *what = strsep(&text, " ");

	if (!strcmp(what, "remove") && !text) {
		if (!port->present)
			return -ENODEV;
		sim_port_remove(port);
		return 0;
	}
	if (!strcmp(what, "flap"))
		return flap(port, text);
	if (!strcmp(what, "blink"))
		return blink(port, text);
	if (!strcmp(what, "contain") && !text)
		return contain(port);
	if (!strcmp(what, "fall-off") && !text)
		return fall_silent(port, true);
	if (!strcmp(what, "come-back") && !text)
		return fall_silent(port, false);
	if (!strcmp(what, "hide") && !text)
		return sim_port_hide(port, true);
	if (!strcmp(what, "show") && !text)
		return sim_port_hide(port, false);
	if (!strcmp(what, "button") && !text)
		return sim_port_press(port);
	if (!strcmp(what, "power-fault") && !text)
		return sim_port_cut_power(port);
	if (!strcmp(what, "latch"))
		return latch(port, text);
	if (strcmp(what, "insert") || (text && !is_slot(port)))
		return -EINVAL;
	if (is_slot(port))
		return insert_card(sim_slot_of(port), text);
	if (port->present)
		return -EBUSY;
	sim_port_insert(port);
	return 0;
}

static void fail_show(struct sim_port *port, char *text, size_t size)
{
	char skip[16] = "";

	if (port->armed_skip)
		scnprintf(skip, sizeof(skip), "@%u", port->armed_skip + 1);
	scnprintf(text, size, "%s%s %u\n", fault_names[port->armed], skip,
		  port->armed_count);
}

static int fail_store(struct sim_port *port, char *text)
{
	char *which = strsep(&text, " ");
	char *name = strsep(&which, "@");
	int fault = match_string(fault_names, SIM_FAULT_COUNT, name);
	unsigned int first = 1, count = 1;

	if (fault < 0 || (text && kstrtouint(text, 10, &count)) || !count ||
	    (which && kstrtouint(which, 10, &first)) || !first)
		return -EINVAL;
	if (fault >= SIM_FAULT_BAR && !is_slot(port))
		return -EINVAL;
	port->armed = fault;
	port->armed_skip = fault == SIM_FAULT_NONE ? 0 : first - 1;
	port->armed_count = fault == SIM_FAULT_NONE ? 0 : count;
	return 0;
}

static const char *what_is_in(struct sim_port *port)
{
	if (!port->present)
		return "empty";
	if (!is_slot(port))
		return "switch";
	return sim_slot_of(port)->card.model->name;
}

static void model_show(struct sim_port *port, char *text, size_t size)
{
	const struct sim_card *card = &sim_slot_of(port)->card;
	const char *word = port->present ?
		sim_switch_word(card->ports, card->slotted) : NULL;

	scnprintf(text, size, "%s%s%s%s%s%s\n", what_is_in(port),
		  port->present ? sim_audio_word(card->audio) : "",
		  port->present && card->bridged ? " bridge" : "",
		  port->present && card->sriov ? " sriov" : "",
		  word ? " " : "", word ?: "");
}

static int model_store(struct sim_port *port, char *text)
{
	struct sim_card_spec spec = {};

	if (!port->present)
		return -ENODEV;
	if (port->power)
		return -EBUSY;
	if (sim_parse_card(text, &spec) || !spec.model)
		return -EINVAL;
	sim_slot_fill(sim_slot_of(port), &spec);
	return 0;
}

static void bar_bytes_show(struct sim_port *port, char *text, size_t size)
{
	scnprintf(text, size, "%llu\n", sim_slot_of(port)->bar_bytes);
}

/* Beyond 8 TiB some kernels drop a BAR instead of failing to assign it. */
static int bar_bytes_store(struct sim_port *port, char *text)
{
	u64 bytes;

	if (kstrtou64(text, 0, &bytes))
		return -EINVAL;
	if (bytes && (!is_power_of_2(bytes) || bytes < SZ_1M ||
		      bytes > BIT_ULL(43)))
		return -ERANGE;
	sim_slot_of(port)->bar_bytes = bytes;
	return 0;
}

static void link_show(struct sim_port *port, char *text, size_t size)
{
	u16 status = sim_get16(&port->fn, SIM_EXP_CAP + PCI_EXP_LNKSTA);

	if (!port->link_up)
		scnprintf(text, size, "%s\n",
			  port->training ? "training" : "down");
	else
		scnprintf(text, size, "%s x%u\n",
			  sim_link_speed_name(status & PCI_EXP_LNKSTA_CLS),
			  (status & PCI_EXP_LNKSTA_NLW) >>
			  PCI_EXP_LNKSTA_NLW_SHIFT);
}

static int link_store(struct sim_port *port, char *text)
{
	bool late = !strncmp(text, "late ", 5);
	unsigned int ms = 0;

	if (late || !strncmp(text, "slow ", 5)) {
		if (kstrtouint(text + 5, 10, &ms) || ms > SIM_MAX_MS)
			return -EINVAL;
		if (late)
			port->late_ms = ms;
		else
			port->slow_ms = ms;
		return 0;
	}
	if (!strcmp(text, "full"))
		sim_port_calm(port);
	return sim_parse_link(text, &sim_slot_of(port)->limit);
}

static void presence_show(struct sim_port *port, char *text, size_t size)
{
	scnprintf(text, size, "%d\n", port->present);
}

static void power_show(struct sim_port *port, char *text, size_t size)
{
	scnprintf(text, size, "%d\n", port->power);
}

static void slot_driver_show(struct sim_port *port, char *text, size_t size)
{
	if (port->unguarded && !port->bare)
		scnprintf(text, size, "unguarded\n");
	else
		scnprintf(text, size, "%d\n",
			  sim.mode != SIM_MODE_BARE && !port->bare);
}

static int slot_driver_store(struct sim_port *port, char *text)
{
	bool guarded = strcmp(text, "unguarded");
	bool claim = true;
	int ret = guarded ? kstrtobool(text, &claim) : 0;

	return ret ?: sim_own_claim(sim_slot_of(port), claim, guarded);
}

/* A switch is one function that sleeps: its upstream port. */
static struct sim_fn *sleeper(struct sim_port *port)
{
	return is_slot(port) ? &port->fn : &sim_switch_of(port)->upstream;
}

static const char *depth(struct sim_port *port)
{
	if (port->cold)
		return "D3cold";
	return sim_config_is_awake(sleeper(port)) ? "D0" : "D3hot";
}

static void sleep_show(struct sim_port *port, char *text, size_t size)
{
	const struct sim_fn *fn = sleeper(port);

	scnprintf(text, size, "%s%s, woken %u, disturbed %u\n", depth(port),
		  fn->asleep ? " asleep" : "", fn->woken, port->disturbed);
}

static int sleep_store(struct sim_port *port, char *text)
{
	if (!strcmp(text, "forget")) {
		sleeper(port)->woken = 0;
		port->disturbed = 0;
		return 0;
	}
	if (!is_slot(port) || (strcmp(text, "cold") && strcmp(text, "hot")))
		return -EINVAL;
	port->can_be_cold = !strcmp(text, "cold");
	return 0;
}

static void serial_show(struct sim_port *port, char *text, size_t size)
{
	scnprintf(text, size, "%016llx\n", sim_slot_of(port)->card.serial);
}

static void state_show(struct sim_port *port, char *text, size_t size)
{
	scnprintf(text, size, "%s, power %s, link %s, fault %s%s\n",
		  what_is_in(port), port->power ? "on" : "off",
		  port->link_up ? "up" : port->training ? "training" : "down",
		  fault_names[port->active], port->silent ? ", silent" : "");
}

static const struct knob knobs[] = {
	{ "surprise", state_show, surprise_store, false },
	{ "fail", fail_show, fail_store, false },
	{ "presence", presence_show, NULL, false },
	{ "power", power_show, NULL, false },
	{ "state", state_show, NULL, false },
	{ "sleep", sleep_show, sleep_store, false },
	{ "model", model_show, model_store, true },
	{ "bar_bytes", bar_bytes_show, bar_bytes_store, true },
	{ "link", link_show, link_store, true },
	{ "slot_driver", slot_driver_show, slot_driver_store, true },
	{ "serial", serial_show, NULL, true },
};

/* Longest text that is read or written. */
#define KNOB_TEXT	128

/* The file's private data is the port; its name says which knob it is. */
static const struct knob *knob_of(struct file *file)
{
	const char *name = file->f_path.dentry->d_name.name;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(knobs); i++)
		if (!strcmp(knobs[i].name, name))
			return &knobs[i];
	return NULL;
}

static ssize_t knob_read(struct file *file, char __user *to, size_t count,
			 loff_t *pos)
{
	const struct knob *knob = knob_of(file);
	struct sim_port *port = file->private_data;
	char text[KNOB_TEXT] = "";

	if (knob) {
		raw_spin_lock_irq(&port->lock);
		knob->show(port, text, sizeof(text));
		raw_spin_unlock_irq(&port->lock);
	} else {
		sim_driver_show(sim_slot_of(port), text, sizeof(text));
	}
	return simple_read_from_buffer(to, count, pos, text, strlen(text));
}

static ssize_t knob_write(struct file *file, const char __user *from,
			  size_t count, loff_t *pos)
{
	const struct knob *knob = knob_of(file);
	struct sim_port *port = file->private_data;
	char text[KNOB_TEXT];
	char *order;
	int ret;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	text[count] = '\0';
	order = strim(text);

	if (knob) {
		raw_spin_lock_irq(&port->lock);
		ret = knob->store(port, order);
		raw_spin_unlock_irq(&port->lock);
	} else {
		ret = sim_driver_order(sim_slot_of(port), order);
	}
	return ret ?: count;
}

static const struct file_operations knob_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = knob_read,
	.write = knob_write,
	.llseek = default_llseek,
};

static struct dentry *add_port(struct sim_port *port, const char *name)
{
	struct dentry *dir = debugfs_create_dir(name, fault_root);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(knobs); i++)
		if (is_slot(port) || !knobs[i].slot)
			debugfs_create_file(knobs[i].name,
					    knobs[i].store ? 0600 : 0400, dir,
					    port, &knob_fops);
	return dir;
}

/**
 * sim_fault_add() - make the files of a switch and its slots
 * @sw: the switch
 */
void sim_fault_add(struct sim_switch *sw)
{
	struct sim_slot *slot;
	unsigned int i;
	char name[32];

	if (!fault_root)
		return;
	snprintf(name, sizeof(name), "switch%u", sw->index);
	sw->files = add_port(&sw->root, name);
	for (i = 0; (slot = sim_slot_at(sw, i)); i++) {
		snprintf(name, sizeof(name), "slot%u.%u", sw->index,
			 slot->number);
		slot->files = add_port(&slot->port, name);
		debugfs_create_file("driver", 0600, slot->files, &slot->port,
				    &knob_fops);
	}
}

/**
 * sim_fault_remove() - remove them, after whoever is in one of them
 * @sw: the switch
 */
void sim_fault_remove(struct sim_switch *sw)
{
	struct sim_slot *slot;
	unsigned int i;

	for (i = 0; (slot = sim_slot_at(sw, i)); i++) {
		debugfs_remove_recursive(slot->files);
		slot->files = NULL;
	}
	debugfs_remove_recursive(sw->files);
	sw->files = NULL;
}

/**
 * sim_fault_init() - make the files of all switches there are
 */
void sim_fault_init(void)
{
	struct sim_switch *sw;
	unsigned int i;

	fault_root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	for (i = 0; (sw = sim_switch_at(i)); i++)
		sim_fault_add(sw);
}

/**
 * sim_fault_exit() - remove all files, after whoever is in one of them
 */
void sim_fault_exit(void)
{
	debugfs_remove_recursive(fault_root);
	fault_root = NULL;
}
