/* SPDX-License-Identifier: GPL-2.0-only */
/* What happened, for the journal, or for standard error where there is none. */
#ifndef FM_JOURNAL_H
#define FM_JOURNAL_H

#include <stdbool.h>
#include <syslog.h>

/*
 * One line. @who asked for it, NULL for nobody; @host and @gpu it is about, NULL for none. With
 * the journal these are fields: GPUFABRIC_WHO, GPUFABRIC_HOST, GPUFABRIC_GPU.
 */
void journal_say(int priority, const char *who, const char *host, const char *gpu, const char *fmt,
		 ...) __attribute__((format(printf, 5, 6)));

#endif /* FM_JOURNAL_H */
