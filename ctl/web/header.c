// SPDX-License-Identifier: GPL-2.0-only
/* Lines of the head of an answer. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "web/header.h"

void web_header_line(char text[WEB_HEADER_MAX], const char *line, size_t len)
{
	while (len && isspace((unsigned char)line[len - 1]))
		len--;
	snprintf(text, WEB_HEADER_MAX, "%.*s",
		 (int)(len < WEB_HEADER_MAX ? len : WEB_HEADER_MAX - 1), line);
}

long web_header_status(const char *text)
{
	const char *value;
	long status = 0;

	if (strncmp(text, "HTTP/", 5))
		return -1;
	value = strchr(text, ' ');
	return value && sscanf(value, " %3ld", &status) == 1 ? status : 0;
}

const char *web_header_value(const char *line, const char *name)
{
	size_t len = strlen(name);

	if (strncasecmp(line, name, len) || line[len] != ':')
		return NULL;
	line += len + 1;
	return line + strspn(line, " \t");
}
