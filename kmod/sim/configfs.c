// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directories in configfs: switches and slots added at run time.
 */

/**
 * DOC: configfs
 *
 * A directory below /sys/kernel/config/gpufabric_sim/switches is a switch, one
 * below it, named by its number, a slot that has something to say about what
 * is in it; the other slots are empty. While a switch is not enabled its
 * directories describe it. While it is, writing a slot's model puts a card in
 * or pulls it out, as a hand would.
 *
 * Removing a slot's directory pulls its card, removing a switch's directory
 * the whole switch. Each directory pins the module.
 *
 * &sim.lock protects everything here; it is taken below the locks of configfs.
 */

#include "sim.h"

#include <linux/configfs.h>
#include <linux/module.h>
#include <linux/slab.h>

#define DEFAULT_SLOTS	8

struct cfg_switch;

/**
 * struct cfg_slot - a slot's directory
 * @item: the directory
 * @owner: the directory above; NULL when this one was removed
 * @number: its place in the switch
 * @spec: what is in it when the switch is enabled
 */
struct cfg_slot {
	struct config_item item;
	struct cfg_switch *owner;
	unsigned int number;
	struct sim_card_spec spec;
};

/**
 * struct cfg_switch - a switch's directory
 * @group: the directory
 * @sw: the switch
 * @plan: what it is like when it is enabled
 * @slot: directories of slots, by number
 */
struct cfg_switch {
	struct config_group group;
	struct sim_switch *sw;
	struct sim_plan plan;
	struct cfg_slot *slot[SIM_ADDED_SLOTS];
};

static struct cfg_slot *slot_of_item(struct config_item *item)
{
	return container_of(item, struct cfg_slot, item);
}

static struct cfg_switch *switch_of_item(struct config_item *item)
{
	return container_of(to_config_group(item), struct cfg_switch, group);
}

/* The slot itself, NULL while there is none. */
static struct sim_slot *live_slot(const struct cfg_slot *cfg)
{
	lockdep_assert_held(&sim.lock);

	if (!cfg->owner || !cfg->owner->sw->live)
		return NULL;
	return sim_slot_at(cfg->owner->sw, cfg->number);
}

/* What is in the slot now. */
static struct sim_card_spec card_now(const struct cfg_slot *cfg)
{
	struct sim_slot *slot = live_slot(cfg);
	struct sim_card_spec spec = cfg->spec;

	if (!slot)
		return spec;
	raw_spin_lock_irq(&slot->port.lock);
	spec.model = slot->port.present ? slot->card.model : NULL;
	spec.audio = spec.model ? slot->card.audio : 0;
	spec.bridge = spec.model && slot->card.bridged;
	spec.sriov = spec.model && slot->card.sriov;
	spec.ports = spec.model ? slot->card.ports : 0;
	spec.slotted = slot->card.slotted;
	raw_spin_unlock_irq(&slot->port.lock);
	return spec;
}

static ssize_t slot_model_show(struct config_item *item, char *page)
{
	struct sim_card_spec spec;
	const char *word;

	mutex_lock(&sim.lock);
	spec = card_now(slot_of_item(item));
	mutex_unlock(&sim.lock);
	word = sim_switch_word(spec.ports, spec.slotted);
	return sysfs_emit(page, "%s%s%s%s%s%s\n",
			  spec.model ? spec.model->name : "none",
			  sim_audio_word(spec.audio),
			  spec.bridge ? " bridge" : "",
			  spec.sriov ? " sriov" : "", word ? " " : "",
			  word ?: "");
}

/* Pulls the card, or puts one in where there is none. */
static int change_card(struct sim_slot *slot, const struct sim_card_spec *spec)
{
	int ret = 0;

	raw_spin_lock_irq(&slot->port.lock);
	if (spec->model)
		ret = sim_slot_insert(slot, spec);
	else if (slot->port.present)
		sim_port_remove(&slot->port);
	raw_spin_unlock_irq(&slot->port.lock);
	return ret;
}

static ssize_t slot_model_store(struct config_item *item, const char *page,
				size_t count)
{
	struct cfg_slot *cfg = slot_of_item(item);
	struct sim_card_spec spec;
	struct sim_slot *slot;
	int ret;

	mutex_lock(&sim.lock);
	spec = cfg->spec;
	ret = sim_parse_card(page, &spec);
	slot = live_slot(cfg);
	if (!ret && slot)
		ret = change_card(slot, &spec);
	if (!ret)
		cfg->spec = spec;
	mutex_unlock(&sim.lock);
	return ret ?: count;
}

static ssize_t slot_off_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(slot_of_item(item)->spec.off));
}

static ssize_t slot_off_store(struct config_item *item, const char *page,
			      size_t count)
{
	struct cfg_slot *cfg = slot_of_item(item);
	bool off;
	int ret = kstrtobool(page, &off);

	if (ret)
		return ret;
	mutex_lock(&sim.lock);
	if (live_slot(cfg))
		ret = -EBUSY;
	else
		cfg->spec.off = off;
	mutex_unlock(&sim.lock);
	return ret ?: count;
}

static ssize_t slot_hotplug_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n",
			  !READ_ONCE(slot_of_item(item)->spec.nohp));
}

static ssize_t slot_hotplug_store(struct config_item *item, const char *page,
				  size_t count)
{
	struct cfg_slot *cfg = slot_of_item(item);
	bool hotplug;
	int ret = kstrtobool(page, &hotplug);

	if (ret)
		return ret;
	mutex_lock(&sim.lock);
	if (live_slot(cfg))
		ret = -EBUSY;
	else
		cfg->spec.nohp = !hotplug;
	mutex_unlock(&sim.lock);
	return ret ?: count;
}

static ssize_t slot_window_show(struct config_item *item, char *page)
{
	unsigned int mib = READ_ONCE(slot_of_item(item)->spec.window_mib);

	if (mib == SIM_NO_WINDOW)
		return sysfs_emit(page, "none\n");
	return sysfs_emit(page, "%u\n", mib);
}

static ssize_t slot_window_store(struct config_item *item, const char *page,
				 size_t count)
{
	unsigned int mib = SIM_NO_WINDOW;
	int ret = sysfs_streq(page, "none") ? 0 : kstrtouint(page, 10, &mib);

	if (ret)
		return ret;
	mutex_lock(&sim.lock);
	if (live_slot(slot_of_item(item)))
		ret = -EBUSY;
	else
		slot_of_item(item)->spec.window_mib = mib;
	mutex_unlock(&sim.lock);
	return ret ?: count;
}

CONFIGFS_ATTR(slot_, window);
CONFIGFS_ATTR(slot_, model);
CONFIGFS_ATTR(slot_, off);
CONFIGFS_ATTR(slot_, hotplug);

static struct configfs_attribute *slot_attrs[] = {
	&slot_attr_model,
	&slot_attr_off,
	&slot_attr_hotplug,
	&slot_attr_window,
	NULL
};

static void slot_release(struct config_item *item)
{
	kfree(slot_of_item(item));
}

static struct configfs_item_operations slot_item_ops = {
	.release = slot_release,
};

static const struct config_item_type slot_type = {
	.ct_owner = THIS_MODULE,
	.ct_item_ops = &slot_item_ops,
	.ct_attrs = slot_attrs,
};

/* A number without anything else, so that no slot has two names. */
static int parse_number(const char *name, unsigned int *number)
{
	int ret = kstrtouint(name, 10, number);

	if (ret)
		return ret;
	return name[0] == '+' || (name[0] == '0' && name[1]) ? -EINVAL : 0;
}

/* A switch that is enabled has the slots that it has. */
static bool has_slot(const struct cfg_switch *cfg, unsigned int number)
{
	return number < (cfg->sw->live ? cfg->sw->nr_slots : cfg->plan.nr_slots);
}

static struct config_item *switch_make_item(struct config_group *group,
					    const char *name)
{
	struct cfg_switch *owner = switch_of_item(&group->cg_item);
	struct cfg_slot *cfg;
	unsigned int number;
	int ret = parse_number(name, &number);

	if (ret)
		return ERR_PTR(-EINVAL);
	cfg = kzalloc(sizeof(*cfg), GFP_KERNEL);
	if (!cfg)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&sim.lock);
	if (has_slot(owner, number)) {
		cfg->owner = owner;
		cfg->number = number;
		owner->slot[number] = cfg;
	} else {
		ret = -EINVAL;
	}
	mutex_unlock(&sim.lock);
	if (ret) {
		kfree(cfg);
		return ERR_PTR(ret);
	}
	config_item_init_type_name(&cfg->item, name, &slot_type);
	return &cfg->item;
}

static void switch_drop_item(struct config_group *group,
			     struct config_item *item)
{
	const struct sim_card_spec none = {};
	struct cfg_slot *cfg = slot_of_item(item);
	struct sim_slot *slot;

	mutex_lock(&sim.lock);
	slot = live_slot(cfg);
	if (slot)
		change_card(slot, &none);
	cfg->owner->slot[cfg->number] = NULL;
	cfg->owner = NULL;
	mutex_unlock(&sim.lock);
	config_item_put(item);
}

static ssize_t switch_slots_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n",
			  READ_ONCE(switch_of_item(item)->plan.nr_slots));
}

static int set_slots(struct cfg_switch *cfg, unsigned int nr_slots)
{
	unsigned int i;

	lockdep_assert_held(&sim.lock);

	if (nr_slots < 1 || nr_slots > SIM_ADDED_SLOTS)
		return -ERANGE;
	if (cfg->sw->live)
		return -EBUSY;
	for (i = nr_slots; i < SIM_ADDED_SLOTS; i++)
		if (cfg->slot[i])
			return -EBUSY;
	cfg->plan.nr_slots = nr_slots;
	return 0;
}

static ssize_t switch_slots_store(struct config_item *item, const char *page,
				  size_t count)
{
	unsigned int nr_slots;
	int ret = kstrtouint(page, 10, &nr_slots);

	if (ret)
		return ret;
	mutex_lock(&sim.lock);
	ret = set_slots(switch_of_item(item), nr_slots);
	mutex_unlock(&sim.lock);
	return ret ?: count;
}

/* Sets one number of the plan, while the switch is not enabled. */
static int set_plan(struct cfg_switch *cfg, unsigned int *number,
		    unsigned int value)
{
	int ret = 0;

	mutex_lock(&sim.lock);
	if (cfg->sw->live)
		ret = -EBUSY;
	else
		WRITE_ONCE(*number, value);
	mutex_unlock(&sim.lock);
	return ret;
}

static ssize_t switch_host_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n",
			  READ_ONCE(switch_of_item(item)->plan.host));
}

static ssize_t switch_host_store(struct config_item *item, const char *page,
				 size_t count)
{
	struct cfg_switch *cfg = switch_of_item(item);
	unsigned int host;
	int ret = kstrtouint(page, 10, &host);

	if (!ret && host >= SIM_ADDED_SWITCHES)
		ret = -ERANGE;
	return ret ?: set_plan(cfg, &cfg->plan.host, host) ?: count;
}

static ssize_t switch_window_gib_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n",
			  READ_ONCE(switch_of_item(item)->plan.window_gib));
}

static ssize_t switch_window_gib_store(struct config_item *item,
				       const char *page, size_t count)
{
	struct cfg_switch *cfg = switch_of_item(item);
	unsigned int window;
	int ret = kstrtouint(page, 10, &window);

	if (!ret && (!is_power_of_2(window) || window > SIM_MAX_WINDOW_GIB))
		ret = -ERANGE;
	return ret ?: set_plan(cfg, &cfg->plan.window_gib, window) ?: count;
}

static const char *const sizers[] = { "kernel", "firmware" };

static ssize_t switch_bridges_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s\n",
			  sizers[READ_ONCE(switch_of_item(item)->plan.firmware)]);
}

static ssize_t switch_bridges_store(struct config_item *item, const char *page,
				    size_t count)
{
	struct cfg_switch *cfg = switch_of_item(item);
	int sizer = sysfs_match_string(sizers, page);

	if (sizer < 0)
		return sizer;
	return set_plan(cfg, &cfg->plan.firmware, sizer) ?: count;
}

static ssize_t switch_enabled_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n",
			  READ_ONCE(switch_of_item(item)->sw->live));
}

static int enable(struct cfg_switch *cfg)
{
	struct sim_card_spec *specs;
	unsigned int i;
	int ret;

	lockdep_assert_held(&sim.lock);

	specs = kcalloc(cfg->plan.nr_slots, sizeof(*specs), GFP_KERNEL);
	if (!specs)
		return -ENOMEM;
	for (i = 0; i < cfg->plan.nr_slots; i++)
		if (cfg->slot[i])
			specs[i] = cfg->slot[i]->spec;
	ret = sim_place_enable(cfg->sw, &cfg->plan, specs);
	kfree(specs);
	return ret;
}

static ssize_t switch_enabled_store(struct config_item *item, const char *page,
				    size_t count)
{
	struct cfg_switch *cfg = switch_of_item(item);
	bool on;
	int ret = kstrtobool(page, &on);

	if (ret)
		return ret;
	mutex_lock(&sim.lock);
	if (on)
		ret = enable(cfg);
	else
		sim_place_disable(cfg->sw);
	mutex_unlock(&sim.lock);
	return ret ?: count;
}

static ssize_t switch_index_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", switch_of_item(item)->sw->index);
}

static ssize_t switch_domain_show(struct config_item *item, char *page)
{
	struct sim_switch *sw = switch_of_item(item)->sw;
	ssize_t len;

	mutex_lock(&sim.lock);
	if (sw->live)
		len = sysfs_emit(page, "%04x\n", sw->domain->sysdata.domain);
	else
		len = sysfs_emit(page, "none\n");
	mutex_unlock(&sim.lock);
	return len;
}

static ssize_t switch_window_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n",
			  READ_ONCE(switch_of_item(item)->sw->window_mib));
}

static ssize_t switch_window_store(struct config_item *item, const char *page,
				   size_t count)
{
	struct sim_switch *sw = switch_of_item(item)->sw;
	unsigned int mib;
	int ret = kstrtouint(page, 10, &mib);

	if (ret)
		return ret;
	mutex_lock(&sim.lock);
	if (sw->live)
		ret = -EBUSY;
	else
		sw->window_mib = mib;
	mutex_unlock(&sim.lock);
	return ret ?: count;
}

CONFIGFS_ATTR(switch_, window);
CONFIGFS_ATTR(switch_, slots);
CONFIGFS_ATTR(switch_, host);
CONFIGFS_ATTR(switch_, window_gib);
CONFIGFS_ATTR(switch_, bridges);
CONFIGFS_ATTR(switch_, enabled);
CONFIGFS_ATTR_RO(switch_, index);
CONFIGFS_ATTR_RO(switch_, domain);

static struct configfs_attribute *switch_attrs[] = {
	&switch_attr_slots,
	&switch_attr_host,
	&switch_attr_window_gib,
	&switch_attr_bridges,
	&switch_attr_enabled,
	&switch_attr_index,
	&switch_attr_domain,
	&switch_attr_window,
	NULL
};

static void switch_release(struct config_item *item)
{
	kfree(switch_of_item(item));
}

static struct configfs_item_operations switch_item_ops = {
	.release = switch_release,
};

static struct configfs_group_operations switch_group_ops = {
	.make_item = switch_make_item,
	.drop_item = switch_drop_item,
};

static const struct config_item_type switch_type = {
	.ct_owner = THIS_MODULE,
	.ct_item_ops = &switch_item_ops,
	.ct_group_ops = &switch_group_ops,
	.ct_attrs = switch_attrs,
};

static struct config_group *switches_make_group(struct config_group *group,
						const char *name)
{
	struct cfg_switch *cfg = kzalloc(sizeof(*cfg), GFP_KERNEL);
	struct sim_switch *sw;

	if (!cfg)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&sim.lock);
	sw = sim_place_take();
	mutex_unlock(&sim.lock);
	if (IS_ERR(sw)) {
		kfree(cfg);
		return ERR_CAST(sw);
	}
	cfg->sw = sw;
	cfg->plan.nr_slots = DEFAULT_SLOTS;
	cfg->plan.host = sw->index - sim.switches;
	cfg->plan.window_gib = sim.window_gib;
	cfg->plan.firmware = sim.firmware;
	config_group_init_type_name(&cfg->group, name, &switch_type);
	return &cfg->group;
}

/* No file of the directory is in use, nor will be: configfs sees to that. */
static void switches_drop_item(struct config_group *group,
			       struct config_item *item)
{
	mutex_lock(&sim.lock);
	sim_place_put(switch_of_item(item)->sw);
	mutex_unlock(&sim.lock);
	config_item_put(item);
}

static struct configfs_group_operations switches_group_ops = {
	.make_group = switches_make_group,
	.drop_item = switches_drop_item,
};

static const struct config_item_type switches_type = {
	.ct_owner = THIS_MODULE,
	.ct_group_ops = &switches_group_ops,
};

static const struct config_item_type root_type = {
	.ct_owner = THIS_MODULE,
};

static struct config_group switches_group;

static struct configfs_subsystem subsystem = {
	.su_group = {
		.cg_item = {
			.ci_namebuf = KBUILD_MODNAME,
			.ci_type = &root_type,
		},
	},
};

/**
 * sim_configfs_init() - make the directory that users work in
 *
 * Return: 0 or an error.
 */
int sim_configfs_init(void)
{
	config_group_init(&subsystem.su_group);
	mutex_init(&subsystem.su_mutex);
	config_group_init_type_name(&switches_group, "switches",
				    &switches_type);
	configfs_add_default_group(&switches_group, &subsystem.su_group);
	return configfs_register_subsystem(&subsystem);
}

/**
 * sim_configfs_exit() - remove it; users have removed what they made there
 */
void sim_configfs_exit(void)
{
	configfs_unregister_subsystem(&subsystem);
}
