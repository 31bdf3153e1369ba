// SPDX-License-Identifier: GPL-2.0-or-later
/* The log is standard error: whoever runs a pod keeps that. */
#include <stdarg.h>
#include <stdio.h>

#include "dra/log.h"
#include "dra/text.h"

void say(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tame(text);
	fprintf(stderr, "gpufabric-dra: %s\n", text);
}
