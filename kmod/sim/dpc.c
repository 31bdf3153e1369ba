// SPDX-License-Identifier: GPL-2.0-only
/*
 * Downstream Port Containment: the registers of a port that contains errors.
 */

/**
 * DOC: containment
 *
 * A port whose trigger is enabled takes its link down when the card below says
 * that it has met a fatal error, and keeps it down until software has cleared
 * the trigger's status. A cycle of power does not clear it. Who enables the
 * trigger is firmware or the kernel's driver, and it may be that nobody clears
 * the status then.
 *
 * The link itself is the port's, see port.c; here are the registers alone.
 */

#include "sim.h"

#define CTL	(SIM_DPC_CAP + PCI_EXP_DPC_CTL)
#define STATUS	(SIM_DPC_CAP + PCI_EXP_DPC_STATUS)
#define SOURCE	(SIM_DPC_CAP + PCI_EXP_DPC_SOURCE_ID)

#define TRIGGERS	(PCI_EXP_DPC_CTL_EN_FATAL | PCI_EXP_DPC_CTL_EN_NONFATAL)
/* Cleared by writing ones. */
#define EVENTS		(PCI_EXP_DPC_STATUS_TRIGGER | \
			 PCI_EXP_DPC_STATUS_INTERRUPT)
/* The reason: a message of the card, that an error is fatal. */
#define ERR_FATAL	(2 << 1)

/**
 * sim_dpc_config() - give a port the capability
 * @fn: the downstream port; those of root ports have more registers
 */
void sim_dpc_config(struct sim_fn *fn)
{
	sim_set16(fn, SIM_DPC_CAP, PCI_EXT_CAP_ID_DPC);
	sim_set16(fn, SIM_DPC_CAP + 2, 1);
}

/**
 * sim_dpc_writable() - which bits of Control can be written
 *
 * Return: them.
 */
u16 sim_dpc_writable(void)
{
	return TRIGGERS | PCI_EXP_DPC_CTL_INT_EN;
}

/**
 * sim_dpc_holds() - whether a port has contained an error
 * @fn: the port
 *
 * Return: whether it has, and nobody has cleared that.
 */
bool sim_dpc_holds(const struct sim_fn *fn)
{
	return sim_get16(fn, STATUS) & PCI_EXP_DPC_STATUS_TRIGGER;
}

/**
 * sim_dpc_interrupts() - whether a port wants an interrupt for that
 * @fn: the port
 *
 * Return: whether it does.
 */
bool sim_dpc_interrupts(const struct sim_fn *fn)
{
	return sim_get16(fn, CTL) & PCI_EXP_DPC_CTL_INT_EN &&
	       sim_get16(fn, STATUS) & PCI_EXP_DPC_STATUS_INTERRUPT;
}

/**
 * sim_dpc_trigger() - the card below says that it has met a fatal error
 * @fn: the port
 *
 * Return: 0, or -EOPNOTSUPP if nobody has enabled the trigger.
 */
int sim_dpc_trigger(struct sim_fn *fn)
{
	if (!(sim_get16(fn, CTL) & TRIGGERS))
		return -EOPNOTSUPP;
	sim_set16(fn, SOURCE, fn->cfg[PCI_SECONDARY_BUS] << 8);
	sim_set16(fn, STATUS, EVENTS | ERR_FATAL);
	return 0;
}

/**
 * sim_dpc_write() - software writes registers of a port
 * @fn: the port, which has them already
 * @where: first register
 * @size: 1, 2 or 4 bytes
 * @value: what is written
 *
 * Return: whether Status is among them, and ones were written to it.
 */
bool sim_dpc_write(struct sim_fn *fn, int where, int size, u32 value)
{
	u16 before = sim_get16(fn, STATUS);

	if (!sim_reg_written(where, size, STATUS))
		return false;
	sim_reg_clear(fn, STATUS, EVENTS, where, value);
	return before != sim_get16(fn, STATUS);
}
