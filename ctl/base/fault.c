// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why something failed, in words for the user. A text that is too long is cut
 * at the end: the beginning says where and what, the end lists alternatives.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "fault.h"

int fault_set(struct fault *f, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	text_tame(f->text, false);
	return -err;
}

void fault_prefix(struct fault *f, const char *fmt, ...)
{
	char old[FAULT_TEXT_MAX];
	va_list ap;
	size_t used;

	memcpy(old, f->text, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	used = strlen(f->text);
	snprintf(f->text + used, sizeof(f->text) - used, ": %s", old);
	text_tame(f->text, false);
}

void fault_add(struct fault *f, const char *fmt, ...)
{
	size_t used = strlen(f->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->text + used, sizeof(f->text) - used, fmt, ap);
	va_end(ap);
	text_tame(f->text + used, false);
}
