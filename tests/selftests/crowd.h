/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many workers at once, each a process that does what its line says, again and again:
 *
 *   attach sim0-0 ; detach sim0-0
 *   write /sys/bus/pci/slots/100/power 0 ; any -f detach 100
 *
 *   try compose a sim0-0 sim0-1 ; release a
 *
 * Commands are those of gfclient, with their options in front. A worker stops at the first one
 * that is refused or fails, except after "any"; after "try" it leaves out the rest of its line.
 * "write FILE TEXT" may always fail. A kernel that watches itself takes a long time to start a
 * program; none is started here.
 */
#ifndef SELFTESTS_CROWD_H
#define SELFTESTS_CROWD_H

int crowd(unsigned int rounds, int (*command)(int argc, char **argv));

#endif /* SELFTESTS_CROWD_H */
