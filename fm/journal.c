// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the record of what happened
 *
 * Under systemd standard error is the journal: then lines are sent with their fields. Anybody else
 * gets them as text. Words of others are made harmless before.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <systemd/sd-journal.h>

#include "base/text.h"
#include "fm/journal.h"

/* JOURNAL_STREAM names the device and inode of what the journal reads. */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
}

void journal_say(int priority, const char *who, const char *host, const char *gpu, const char *fmt,
		 ...)
{
	struct text line = { 0 };
	va_list args;
	char *text;

	va_start(args, fmt);
	text = mem_vprintf(fmt, args);
	va_end(args);
	text_tame(text, false);
	if (is_journal()) {
		sd_journal_send("PRIORITY=%i", priority, "MESSAGE=%s%s%s", who ? who : "",
				who ? ": " : "", text, "GPUFABRIC_WHO=%s", who ? who : "",
				"GPUFABRIC_HOST=%s", host ? host : "", "GPUFABRIC_GPU=%s",
				gpu ? gpu : "", NULL);
	} else {
		text_add(&line, "gpufabric-fm: %s%s%s\n", who ? who : "", who ? ": " : "", text);
		/* in one piece, as several threads write */
		if (write(STDERR_FILENO, line.text, line.len) < 0)
			(void)0;
		free(line.text);
	}
	free(text);
}
