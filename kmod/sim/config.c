// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration space of the simulated functions.
 */

/**
 * DOC: configuration space
 *
 * A function is 512 bytes of registers and, for each bit, whether it can be
 * written. What lies above reads as zero. The masks are the same for all
 * functions of a kind, so that thousands of slots share five of them.
 *
 * A BAR's size is told by which of its bits can be written. Memory decoding
 * of a GPU can never be enabled: there is nothing at its addresses.
 *
 * Everything here works on one function under its owner's lock, which the
 * callers hold; nothing sleeps.
 */

#include "sim.h"

#define EXP(reg)	(SIM_EXP_CAP + (reg))
#define PM(reg)		(SIM_PM_CAP + (reg))
#define MSI(reg)	(SIM_MSI_CAP + (reg))
#define ACS(reg)	(SIM_EXT_CAP + (reg))
#define IOV(reg)	(SIM_IOV_CAP + (reg))

static u8 bridge_wmask[SIM_CFG_BYTES];
static u8 port_wmask[SIM_CFG_BYTES];
static u8 card_wmask[SIM_CFG_BYTES];
static u8 sriov_wmask[SIM_CFG_BYTES];

static void mask16(u8 *mask, int where, u16 value)
{
	mask[where] = value & 0xff;
	mask[where + 1] = value >> 8;
}

static void mask32(u8 *mask, int where, u32 value)
{
	mask16(mask, where, value & 0xffff);
	mask16(mask, where + 2, value >> 16);
}

/**
 * sim_get16() - read two registers, writable or not
 * @fn: function
 * @where: the first of them
 *
 * Return: their value.
 */
u16 sim_get16(const struct sim_fn *fn, int where)
{
	return fn->cfg[where] | fn->cfg[where + 1] << 8;
}

/**
 * sim_set16() - set two registers, writable or not
 * @fn: function
 * @where: the first of them
 * @value: their new value
 */
void sim_set16(struct sim_fn *fn, int where, u16 value)
{
	mask16(fn->cfg, where, value);
}

/**
 * sim_reg_written() - whether a write has to do with two registers
 * @where: first register that is written
 * @size: 1, 2 or 4 bytes
 * @reg: the first of the two
 *
 * Return: whether it has.
 */
bool sim_reg_written(int where, int size, int reg)
{
	return where < reg + 2 && reg < where + size;
}

/**
 * sim_reg_clear() - clear the bits that are written as ones
 * @fn: function
 * @reg: the first of two registers, for which sim_reg_written()
 * @bits: those of them that are cleared so
 * @where: first register that is written
 * @value: what is written
 */
void sim_reg_clear(struct sim_fn *fn, int reg, u16 bits, int where, u32 value)
{
	u64 ones = (u64)value << (8 * (where + 4 - reg)) >> 32;

	sim_set16(fn, reg, sim_get16(fn, reg) & ~(ones & bits));
}

static void set32(struct sim_fn *fn, int where, u32 value)
{
	mask32(fn->cfg, where, value);
}

static void mask_pm(u8 *mask)
{
	mask16(mask, PM(PCI_PM_CTRL), PCI_PM_CTRL_STATE_MASK);
}

static void mask_bridge(u8 *mask)
{
	mask_pm(mask);
	mask16(mask, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
	       PCI_COMMAND_PARITY | PCI_COMMAND_SERR |
	       PCI_COMMAND_INTX_DISABLE);
	mask[PCI_CACHE_LINE_SIZE] = 0xff;
	mask[PCI_PRIMARY_BUS] = 0xff;
	mask[PCI_SECONDARY_BUS] = 0xff;
	mask[PCI_SUBORDINATE_BUS] = 0xff;
	mask16(mask, PCI_MEMORY_BASE, 0xfff0);
	mask16(mask, PCI_MEMORY_LIMIT, 0xfff0);
	mask16(mask, PCI_PREF_MEMORY_BASE, 0xfff0);
	mask16(mask, PCI_PREF_MEMORY_LIMIT, 0xfff0);
	mask32(mask, PCI_PREF_BASE_UPPER32, ~0);
	mask32(mask, PCI_PREF_LIMIT_UPPER32, ~0);
	mask[PCI_INTERRUPT_LINE] = 0xff;
	mask16(mask, PCI_BRIDGE_CONTROL, PCI_BRIDGE_CTL_PARITY |
	       PCI_BRIDGE_CTL_SERR | PCI_BRIDGE_CTL_BUS_RESET);
	mask16(mask, EXP(PCI_EXP_DEVCTL), 0x7fff);
	mask16(mask, EXP(PCI_EXP_LNKCTL), PCI_EXP_LNKCTL_LD |
	       PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES);
	mask16(mask, EXP(PCI_EXP_DEVCTL2), 0xffff);
	mask16(mask, EXP(PCI_EXP_LNKCTL2), PCI_EXP_LNKCTL2_TLS);
}

static void mask_port(u8 *mask)
{
	mask_bridge(mask);
	mask16(mask, EXP(PCI_EXP_SLTCTL), PCI_EXP_SLTCTL_ABPE |
	       PCI_EXP_SLTCTL_PFDE | PCI_EXP_SLTCTL_PDCE | PCI_EXP_SLTCTL_HPIE |
	       PCI_EXP_SLTCTL_AIC | PCI_EXP_SLTCTL_PIC |
	       PCI_EXP_SLTCTL_PCC | PCI_EXP_SLTCTL_DLLSCE);
	mask16(mask, ACS(PCI_ACS_CTRL), PCI_ACS_SV | PCI_ACS_TB | PCI_ACS_RR |
	       PCI_ACS_CR | PCI_ACS_UF | PCI_ACS_DT);
	mask16(mask, SIM_DPC_CAP + PCI_EXP_DPC_CTL, sim_dpc_writable());
}

static void mask_card(u8 *mask)
{
	mask_pm(mask);
	mask16(mask, PCI_COMMAND, PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
	       PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
	mask[PCI_CACHE_LINE_SIZE] = 0xff;
	mask[PCI_INTERRUPT_LINE] = 0xff;
	mask16(mask, EXP(PCI_EXP_DEVCTL), 0x7fff);
	mask16(mask, EXP(PCI_EXP_LNKCTL), PCI_EXP_LNKCTL_CCC |
	       PCI_EXP_LNKCTL_ES);
	mask16(mask, EXP(PCI_EXP_DEVCTL2), 0xffff);
	mask16(mask, EXP(PCI_EXP_LNKCTL2), PCI_EXP_LNKCTL2_TLS);
	mask16(mask, MSI(PCI_MSI_FLAGS), PCI_MSI_FLAGS_ENABLE);
	mask32(mask, MSI(PCI_MSI_ADDRESS_LO), ~3);
	mask32(mask, MSI(PCI_MSI_ADDRESS_HI), ~0);
	mask16(mask, MSI(PCI_MSI_DATA_64), 0xffff);
}

static void mask_sriov(u8 *mask)
{
	mask_card(mask);
	mask16(mask, IOV(PCI_SRIOV_CTRL), PCI_SRIOV_CTRL_VFE |
	       PCI_SRIOV_CTRL_MSE);
	mask16(mask, IOV(PCI_SRIOV_NUM_VF), 0xffff);
	mask32(mask, IOV(PCI_SRIOV_SYS_PGSIZE), ~0);
	mask32(mask, IOV(PCI_SRIOV_BAR), ~(SIM_VF_BYTES - 1));
	mask32(mask, IOV(PCI_SRIOV_BAR) + 4, ~0);
}

/**
 * sim_config_init() - build the tables of writable bits
 */
void sim_config_init(void)
{
	mask_bridge(bridge_wmask);
	mask_port(port_wmask);
	mask_card(card_wmask);
	mask_sriov(sriov_wmask);
}

/*
 * Each function has it, and the kernel waits for nothing after a reset where it
 * has not. It is not reset when it comes back from D3hot.
 */
static void config_pm(struct sim_fn *fn)
{
	fn->cfg[SIM_PM_CAP] = PCI_CAP_ID_PM;
	sim_set16(fn, PM(PCI_PM_PMC), 3);
	sim_set16(fn, PM(PCI_PM_CTRL), PCI_PM_CTRL_NO_SOFT_RESET);
}

/* What all functions have: ids, class and the start of the capabilities. */
static void config_head(struct sim_fn *fn, u16 device, u32 class, u8 header,
			const u8 *wmask)
{
	unsigned int woken = fn->woken;
	bool asleep = fn->asleep;

	memset(fn, 0, sizeof(*fn));
	fn->woken = woken;
	fn->asleep = asleep;
	fn->wmask = wmask;
	sim_set16(fn, PCI_VENDOR_ID, SIM_VENDOR_ID);
	sim_set16(fn, PCI_DEVICE_ID, device);
	sim_set16(fn, PCI_STATUS, PCI_STATUS_CAP_LIST);
	set32(fn, PCI_CLASS_REVISION, class << 8 | 1);
	fn->cfg[PCI_HEADER_TYPE] = header;
	fn->cfg[PCI_CAPABILITY_LIST] = SIM_EXP_CAP;
	config_pm(fn);
}

/* Speeds up to and including the given one, as Link Capabilities 2 has it. */
static u32 speed_vector(u8 speed)
{
	return GENMASK(speed, 1);
}

static void config_express(struct sim_fn *fn, u8 type, u16 flags,
			   const struct sim_link *link, u32 link_flags)
{
	fn->cfg[SIM_EXP_CAP] = PCI_CAP_ID_EXP;
	fn->cfg[SIM_EXP_CAP + PCI_CAP_LIST_NEXT] = SIM_PM_CAP;
	sim_set16(fn, EXP(PCI_EXP_FLAGS), 2 | type << 4 | flags);
	/* 256 bytes of payload, extended tags, error reporting by role. */
	set32(fn, EXP(PCI_EXP_DEVCAP), 1 | PCI_EXP_DEVCAP_EXT_TAG |
	      PCI_EXP_DEVCAP_RBER);
	set32(fn, EXP(PCI_EXP_LNKCAP), link->speed | link->width << 4 |
	      link_flags);
	set32(fn, EXP(PCI_EXP_LNKCAP2), speed_vector(link->speed));
	sim_set16(fn, EXP(PCI_EXP_LNKCTL2), link->speed);
}

static void config_bridge(struct sim_fn *fn, u16 device, u8 header,
			  const u8 *wmask)
{
	config_head(fn, device, PCI_CLASS_BRIDGE_PCI_NORMAL,
		    header | PCI_HEADER_TYPE_BRIDGE, wmask);
	/*
	 * Closed windows; the prefetchable one has 64-bit addresses. The I/O
	 * window stays closed for ever: reading as zero would be an open one
	 * to some kernels. See also bridge_added().
	 */
	fn->cfg[PCI_IO_BASE] = 0xf0;
	sim_set16(fn, PCI_MEMORY_BASE, 0xfff0);
	sim_set16(fn, PCI_PREF_MEMORY_BASE, 0xfff1);
	sim_set16(fn, PCI_PREF_MEMORY_LIMIT, 0x0001);
}

static const struct sim_link port_link = { 5, 16 };

/* Indicators off and power off, as after a reset. */
static void config_slot(struct sim_fn *fn, unsigned int number, bool control)
{
	u32 cap = number << 19 & PCI_EXP_SLTCAP_PSN;

	if (control)
		cap |= PCI_EXP_SLTCAP_HPC | PCI_EXP_SLTCAP_HPS |
		       PCI_EXP_SLTCAP_PCP | PCI_EXP_SLTCAP_NCCS |
		       PCI_EXP_SLTCAP_AIP | PCI_EXP_SLTCAP_PIP;
	if (control && sim.button)
		cap |= PCI_EXP_SLTCAP_ABP;
	if (control && sim.latch)
		cap |= PCI_EXP_SLTCAP_MRLSP;
	set32(fn, EXP(PCI_EXP_SLTCAP), cap);
	sim_set16(fn, EXP(PCI_EXP_SLTCTL), PCI_EXP_SLTCTL_ATTN_IND_OFF |
		  PCI_EXP_SLTCTL_PWR_IND_OFF | PCI_EXP_SLTCTL_PWR_OFF);
}

/**
 * sim_config_root() - make the function above a switch a root port
 * @sw: the switch
 */
void sim_config_root(struct sim_switch *sw)
{
	struct sim_fn *fn = &sw->root.fn;

	config_bridge(fn, SIM_DEVICE_ROOT, 0, port_wmask);
	config_express(fn, PCI_EXP_TYPE_ROOT_PORT,
		       sim.uplink ? PCI_EXP_FLAGS_SLOT : 0, &port_link,
		       PCI_EXP_LNKCAP_DLLLARC);
	if (sim.uplink)
		config_slot(fn, SIM_UPLINK_PSN + sw->index, true);
}

/**
 * sim_config_upstream() - make a function the upstream port of a switch
 * @fn: the function
 */
void sim_config_upstream(struct sim_fn *fn)
{
	config_bridge(fn, SIM_DEVICE_UPSTREAM, 0, bridge_wmask);
	config_express(fn, PCI_EXP_TYPE_UPSTREAM, 0, &port_link, 0);
}

static void config_acs(struct sim_fn *fn)
{
	set32(fn, SIM_EXT_CAP, PCI_EXT_CAP_ID_ACS | 1 << 16 |
	      SIM_DPC_CAP << 20);
	sim_set16(fn, ACS(PCI_ACS_CAP), PCI_ACS_SV | PCI_ACS_TB | PCI_ACS_RR |
		  PCI_ACS_CR | PCI_ACS_UF | PCI_ACS_DT);
	if (sim.acs)
		sim_set16(fn, ACS(PCI_ACS_CTRL), PCI_ACS_SV | PCI_ACS_RR |
			  PCI_ACS_CR | PCI_ACS_UF);
}

/**
 * sim_config_port() - make the function of a slot a downstream port
 * @slot: the slot
 */
void sim_config_port(struct sim_slot *slot)
{
	struct sim_fn *fn = &slot->port.fn;
	/* More ports than devices on a bus: they are functions of devices. */
	u8 header = slot->sw->nr_slots > 32 ? PCI_HEADER_TYPE_MFD : 0;

	config_bridge(fn, SIM_DEVICE_DOWNSTREAM, header, port_wmask);
	config_express(fn, PCI_EXP_TYPE_DOWNSTREAM, PCI_EXP_FLAGS_SLOT,
		       &port_link, PCI_EXP_LNKCAP_DLLLARC |
		       (slot->number & 0xff) << 24);
	sim_set16(fn, EXP(PCI_EXP_LNKSTA), PCI_EXP_LNKSTA_SLC);
	config_slot(fn, sim_slot_psn(slot), slot->port.controlled);
	config_acs(fn);
	sim_dpc_config(fn);
}

/* One message, which nothing ever sends. */
static void config_msi(struct sim_fn *fn)
{
	fn->cfg[PM(PCI_CAP_LIST_NEXT)] = SIM_MSI_CAP;
	fn->cfg[SIM_MSI_CAP] = PCI_CAP_ID_MSI;
	sim_set16(fn, MSI(PCI_MSI_FLAGS), PCI_MSI_FLAGS_64BIT);
}

static void config_bar(struct sim_fn *fn, unsigned int bar, u64 bytes)
{
	u64 mask = ~(bytes - 1);

	set32(fn, PCI_BASE_ADDRESS_0 + 4 * bar,
	      PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH);
	fn->bar_mask[bar] = lower_32_bits(mask);
	fn->bar_mask[bar + 1] = upper_32_bits(mask);
}

/*
 * Only windows below 4 GiB may hold what is not prefetchable. A large such BAR
 * cannot be assigned whatever else is in the slots, and trying to does not
 * disturb the windows of the neighbours.
 */
static void break_bar(struct sim_fn *fn, unsigned int bar)
{
	unsigned int where = PCI_BASE_ADDRESS_0 + 4 * bar;

	fn->cfg[where] &= ~PCI_BASE_ADDRESS_MEM_PREFETCH;
}

/* The BAR that a register is part of; one that is free becomes one. */
static void break_register(struct sim_fn *fn, const struct sim_model *model,
			   unsigned int bar)
{
	if (bar == model->bar || bar == model->bar + 1) {
		break_bar(fn, model->bar);
	} else if (bar == model->aux_bar || bar == model->aux_bar + 1) {
		config_bar(fn, model->aux_bar, SZ_8G);
		break_bar(fn, model->aux_bar);
	} else {
		/* Of 32 bits. */
		fn->bar_mask[bar] = ~(SZ_2G - 1);
	}
}

/* One 64-bit, prefetchable BAR for each virtual function; pages of all sizes. */
static void config_sriov(struct sim_fn *fn)
{
	fn->wmask = sriov_wmask;
	set32(fn, SIM_EXT_CAP, PCI_EXT_CAP_ID_DSN | 1 << 16 |
	      SIM_IOV_CAP << 20);
	set32(fn, SIM_IOV_CAP, PCI_EXT_CAP_ID_SRIOV | 1 << 16);
	sim_set16(fn, IOV(PCI_SRIOV_INITIAL_VF), SIM_VFS);
	sim_set16(fn, IOV(PCI_SRIOV_TOTAL_VF), SIM_VFS);
	sim_set16(fn, IOV(PCI_SRIOV_VF_OFFSET), SIM_VF_FIRST);
	sim_set16(fn, IOV(PCI_SRIOV_VF_STRIDE), 1);
	sim_set16(fn, IOV(PCI_SRIOV_VF_DID), SIM_DEVICE_VF);
	set32(fn, IOV(PCI_SRIOV_SUP_PGSIZE), 0x553);
	set32(fn, IOV(PCI_SRIOV_SYS_PGSIZE), 1);
	set32(fn, IOV(PCI_SRIOV_BAR), PCI_BASE_ADDRESS_MEM_TYPE_64 |
	      PCI_BASE_ADDRESS_MEM_PREFETCH);
}

static void config_gpu(struct sim_fn *fn, const struct sim_slot *slot,
		       unsigned int index)
{
	const struct sim_model *model = slot->card.model;
	u64 serial = slot->card.serial | (u64)index << 31;
	u64 bytes = slot->card.bar_bytes ?: model->bar_bytes;
	enum sim_fault fault = slot->port.active;

	config_head(fn, model->device, model->class,
		    slot->card.audio ? PCI_HEADER_TYPE_MFD : 0, card_wmask);
	sim_set16(fn, PCI_SUBSYSTEM_VENDOR_ID, model->sub_vendor);
	sim_set16(fn, PCI_SUBSYSTEM_ID, model->sub_device);
	config_express(fn, PCI_EXP_TYPE_ENDPOINT, 0, &model->link, 0);
	config_msi(fn);
	config_bar(fn, model->bar, bytes);
	config_bar(fn, model->aux_bar, model->aux_bytes);
	if (fault == SIM_FAULT_BAR)
		break_bar(fn, model->bar);
	else if (fault >= SIM_FAULT_BAR0 && fault <= SIM_FAULT_BAR5)
		break_register(fn, model, fault - SIM_FAULT_BAR0);
	set32(fn, SIM_EXT_CAP, PCI_EXT_CAP_ID_DSN | 1 << 16);
	set32(fn, SIM_EXT_CAP + 4, lower_32_bits(serial));
	set32(fn, SIM_EXT_CAP + 8, upper_32_bits(serial));
	if (slot->card.sriov && !index)
		config_sriov(fn);
}

/* Its vendor and device ids read as ones: a scan of the bus does not find it. */
static void config_vf(struct sim_fn *fn, const struct sim_model *model)
{
	config_head(fn, 0xffff, model->class, 0, card_wmask);
	sim_set16(fn, PCI_VENDOR_ID, 0xffff);
	sim_set16(fn, PCI_SUBSYSTEM_VENDOR_ID, model->sub_vendor);
	sim_set16(fn, PCI_SUBSYSTEM_ID, model->sub_device);
	config_express(fn, PCI_EXP_TYPE_ENDPOINT, 0, &model->link, 0);
}

static void config_audio(struct sim_fn *fn, const struct sim_slot *slot)
{
	const struct sim_model *model = slot->card.model;

	config_head(fn, SIM_DEVICE_AUDIO, PCI_CLASS_MULTIMEDIA_HD_AUDIO << 8,
		    PCI_HEADER_TYPE_MFD, card_wmask);
	sim_set16(fn, PCI_SUBSYSTEM_VENDOR_ID, model->sub_vendor);
	sim_set16(fn, PCI_SUBSYSTEM_ID, SIM_DEVICE_AUDIO);
	config_express(fn, PCI_EXP_TYPE_ENDPOINT, 0, &model->link, 0);
	config_msi(fn);
}

/* No slot driver's business: the bridge of a switch on the card. */
static void config_card_bridge(struct sim_fn *fn, const struct sim_model *model)
{
	config_bridge(fn, SIM_DEVICE_BRIDGE, 0, bridge_wmask);
	config_express(fn, PCI_EXP_TYPE_UPSTREAM, 0, &model->link, 0);
}

/* A downstream port of that switch. Nobody can turn off what is behind it. */
static void config_inner(struct sim_fn *fn, const struct sim_card *card,
			 unsigned int number)
{
	config_bridge(fn, SIM_DEVICE_INNER, 0, bridge_wmask);
	config_express(fn, PCI_EXP_TYPE_DOWNSTREAM,
		       card->slotted ? PCI_EXP_FLAGS_SLOT : 0,
		       &card->model->link,
		       PCI_EXP_LNKCAP_DLLLARC | number << 24);
	if (card->slotted)
		config_slot(fn, number + 1, false);
}

static void config_functions(struct sim_slot *slot, unsigned int index)
{
	struct sim_fn *fn = slot->card.fn[index];

	config_gpu(&fn[0], slot, index);
	if (slot->card.audio)
		config_audio(&fn[1], slot);
	else
		memset(&fn[1], 0, sizeof(fn[1]));
}

/**
 * sim_config_card() - reset the configuration space of the card in a slot
 * @slot: a slot with a model in it
 *
 * This is also what a loss of power or of the link does. Where the link is up,
 * its status has to be filled in again.
 */
void sim_config_card(struct sim_slot *slot)
{
	struct sim_card *card = &slot->card;
	unsigned int i;

	config_functions(slot, 0);
	for (i = 1; i < card->ports; i++)
		config_functions(slot, i);
	for (i = 0; i < card->ports; i++)
		config_inner(&card->inner[i], card, i);
	if (card->bridged || card->ports)
		config_card_bridge(&card->bridge, card->model);
	config_vf(&card->vf, card->model);
}

/**
 * sim_config_behind() - reset what is behind a port of the switch on a card
 * @slot: a slot with such a card in it, and its link up
 * @port: number of that port
 * @too: and the port itself
 *
 * The link there is up again before anybody can look.
 */
void sim_config_behind(struct sim_slot *slot, unsigned int port, bool too)
{
	struct sim_card *card = &slot->card;
	u16 status = sim_get16(&card->bridge, EXP(PCI_EXP_LNKSTA));

	config_functions(slot, port);
	if (too)
		config_inner(&card->inner[port], card, port);
	sim_config_link(card, status);
}

/**
 * sim_config_link() - show the card's links in its own registers
 * @card: the card
 * @status: Link Status of the slot's link, seen from the card
 *
 * Those of its switch are up when that one is.
 */
void sim_config_link(struct sim_card *card, u16 status)
{
	unsigned int i, j;

	for (i = 0; i < SIM_CARD_GPUS; i++)
		for (j = 0; j < SIM_FUNCTIONS; j++)
			sim_set16(&card->fn[i][j], EXP(PCI_EXP_LNKSTA), status);
	for (i = 0; i < card->ports; i++)
		sim_set16(&card->inner[i], EXP(PCI_EXP_LNKSTA), status |
			  (status & PCI_EXP_LNKSTA_NLW ?
			   PCI_EXP_LNKSTA_DLLLA : 0));
	sim_set16(&card->bridge, EXP(PCI_EXP_LNKSTA), status);
	sim_set16(&card->vf, EXP(PCI_EXP_LNKSTA), status);
}

/**
 * sim_config_is_awake() - whether a function is in D0
 * @fn: the function
 */
bool sim_config_is_awake(const struct sim_fn *fn)
{
	return !(READ_ONCE(fn->cfg[PM(PCI_PM_CTRL)]) & PCI_PM_CTRL_STATE_MASK);
}

/**
 * sim_config_has_vf() - whether a virtual function is enabled
 * @card: the card
 * @number: which, from 0
 */
bool sim_config_has_vf(const struct sim_card *card, unsigned int number)
{
	const struct sim_fn *fn = &card->fn[0][0];

	/* Of a card that can have none these cannot be written. */
	return sim_get16(fn, IOV(PCI_SRIOV_CTRL)) & PCI_SRIOV_CTRL_VFE &&
	       number < sim_get16(fn, IOV(PCI_SRIOV_NUM_VF)) &&
	       number < SIM_VFS;
}

/**
 * sim_config_buses() - preset the bus numbers of a bridge
 * @fn: the bridge
 * @primary: bus above it
 * @secondary: bus below it
 * @subordinate: last bus below it
 */
void sim_config_buses(struct sim_fn *fn, u8 primary, u8 secondary,
		      u8 subordinate)
{
	fn->cfg[PCI_PRIMARY_BUS] = primary;
	fn->cfg[PCI_SECONDARY_BUS] = secondary;
	fn->cfg[PCI_SUBORDINATE_BUS] = subordinate;
}

/**
 * sim_config_windows() - preset the memory windows of a bridge
 * @fn: the bridge
 * @low: below 4 GiB
 * @low_bytes: its size
 * @high: prefetchable, above 4 GiB
 * @high_bytes: its size; 0 leaves it closed
 */
void sim_config_windows(struct sim_fn *fn, u32 low, u32 low_bytes, u64 high,
			u64 high_bytes)
{
	u32 low_limit = low + low_bytes - 1;
	u64 limit = high + high_bytes - 1;

	sim_set16(fn, PCI_MEMORY_BASE, (low >> 16) & 0xfff0);
	sim_set16(fn, PCI_MEMORY_LIMIT, (low_limit >> 16) & 0xfff0);
	sim_set16(fn, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	if (!high_bytes)
		return;
	sim_set16(fn, PCI_PREF_MEMORY_BASE, ((high >> 16) & 0xfff0) | 1);
	sim_set16(fn, PCI_PREF_MEMORY_LIMIT, ((limit >> 16) & 0xfff0) | 1);
	set32(fn, PCI_PREF_BASE_UPPER32, upper_32_bits(high));
	set32(fn, PCI_PREF_LIMIT_UPPER32, upper_32_bits(limit));
}

static void preset_bar(struct sim_fn *fn, int where, u64 base)
{
	set32(fn, where, lower_32_bits(base) | fn->cfg[where]);
	set32(fn, where + 4, upper_32_bits(base));
}

/**
 * sim_config_bars() - assign the BARs of a card as firmware does
 * @slot: a slot with a powered card of usual size
 * @base: where the slot's window is; the large BAR is aligned as that is
 */
void sim_config_bars(struct sim_slot *slot, u64 base)
{
	const struct sim_model *model = slot->card.model;

	u64 bytes = model->bar_bytes + model->aux_bytes;
	struct sim_fn *fn = &slot->card.fn[0][0];

	preset_bar(fn, PCI_BASE_ADDRESS_0 + 4 * model->bar, base);
	preset_bar(fn, PCI_BASE_ADDRESS_0 + 4 * model->aux_bar,
		   base + model->bar_bytes);
	if (slot->card.sriov)
		preset_bar(fn, IOV(PCI_SRIOV_BAR),
			   base + round_up(bytes, SIM_VF_BYTES));
}

/**
 * sim_config_bytes() - how much address space sim_config_bars() uses
 * @slot: a slot with a card of usual size
 */
u64 sim_config_bytes(const struct sim_slot *slot)
{
	const struct sim_model *model = slot->card.model;

	u64 bytes = model->bar_bytes + model->aux_bytes;

	return slot->card.sriov ?
	       round_up(bytes, SIM_VF_BYTES) + SIM_VFS * (u64)SIM_VF_BYTES :
	       bytes;
}

/**
 * sim_fn_read() - read registers
 * @fn: function
 * @where: first register
 * @size: 1, 2 or 4 bytes
 *
 * Return: the value.
 */
u32 sim_fn_read(const struct sim_fn *fn, int where, int size)
{
	u32 value = 0;
	int i;

	for (i = 0; i < size && where + i < SIM_CFG_BYTES; i++)
		value |= (u32)fn->cfg[where + i] << (8 * i);
	return value;
}

static u8 write_mask(const struct sim_fn *fn, int where)
{
	int bar = (where - PCI_BASE_ADDRESS_0) / 4;

	if (where >= PCI_BASE_ADDRESS_0 && bar < PCI_STD_NUM_BARS &&
	    (fn->cfg[PCI_HEADER_TYPE] & PCI_HEADER_TYPE_MASK) ==
	    PCI_HEADER_TYPE_NORMAL)
		return fn->bar_mask[bar] >> (8 * (where % 4));
	return fn->wmask[where];
}

/**
 * sim_fn_write() - write registers
 * @fn: function
 * @where: first register
 * @size: 1, 2 or 4 bytes
 * @value: what to write; bits that cannot be written keep their value
 */
void sim_fn_write(struct sim_fn *fn, int where, int size, u32 value)
{
	int i;

	for (i = 0; i < size && where + i < SIM_CFG_BYTES; i++) {
		u8 mask = write_mask(fn, where + i);
		u8 *reg = &fn->cfg[where + i];

		*reg = (*reg & ~mask) | ((value >> (8 * i)) & mask);
	}
}
