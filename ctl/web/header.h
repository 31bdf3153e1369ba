/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of the head of an answer. Pure. */
#ifndef GPUCTL_WEB_HEADER_H
#define GPUCTL_WEB_HEADER_H

#include <stddef.h>

#define WEB_HEADER_MAX 512

/* One line without its end, cut to the room that there is. */
void web_header_line(char text[WEB_HEADER_MAX], const char *line, size_t len);

/* The status of "HTTP/1.1 200 OK"; 0 where there is none, -1 for another line. */
long web_header_status(const char *text);

/* "Name: value": the value, NULL if it is another header. */
const char *web_header_value(const char *text, const char *name);

#endif /* GPUCTL_WEB_HEADER_H */
