// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts: see text.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dra/text.h"

static void *had(void *memory)
{
	if (!memory) {
		fputs("gpufabric-dra: no memory\n", stderr);
		abort();
	}
	return memory;
}

void *zalloc(size_t n, size_t size)
{
	return had(calloc(n ? n : 1, size));
}

void *grow(void *old, size_t n, size_t size)
{
	return had(reallocarray(old, n ? n : 1, size));
}

char *copy_of(const char *text)
{
	return had(strdup(text));
}

char *format(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	return had(n < 0 ? NULL : text);
}

void buffer_add(struct buffer *buffer, const char *data, size_t len)
{
	if (buffer->max && len > buffer->max - buffer->len) {
		len = buffer->max - buffer->len;
		buffer->full = true;
	}
	buffer->data = grow(buffer->data, buffer->len + len + 1, 1);
	memcpy(buffer->data + buffer->len, data, len);
	buffer->len += len;
	buffer->data[buffer->len] = '\0';
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	buffer->data = NULL;
	buffer->len = 0;
	buffer->full = false;
}

/* Bytes of the UTF-8 character at @s, 0 if there is none. */
static size_t character(const unsigned char *s)
{
	size_t n = *s < 0x80		   ? 1 :
		   *s >= 0xc2 && *s < 0xe0 ? 2 :
		   *s >= 0xe0 && *s < 0xf0 ? 3 :
		   *s >= 0xf0 && *s < 0xf5 ? 4 :
					     0,
	       i;

	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Longer than need be, surrogates, beyond the last one, and control characters. */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f) || *s < ' ' || *s == 0x7f ||
	    (*s == 0xc2 && s[1] < 0xa0))
		return 0;
	return n;
}

void tame(char *text)
{
	unsigned char *s = (unsigned char *)text;

	while (*s) {
		size_t n = character(s);

		if (!n)
			*s = *s == '\n' || *s == '\t' || *s == '\r' ? ' ' : '?';
		s += n ? n : 1;
	}
	while (s > (unsigned char *)text && s[-1] == ' ')
		*--s = '\0';
}

bool refuse(struct reason *reason, const char *fmt, ...)
{
	char text[REASON_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tame(text);
	snprintf(reason->text, REASON_MAX, "%s", *text ? text : "no reason was given");
	return false;
}

uint64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

char *file_read(const char *path, size_t max, struct reason *reason)
{
	struct buffer buffer = { .max = max };
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = errno;
	char piece[4096];
	ssize_t n = -1;

	if (fd >= 0) {
		while ((n = read(fd, piece, sizeof(piece))) > 0 && !buffer.full)
			buffer_add(&buffer, piece, (size_t)n);
		err = errno;
		close(fd);
	}
	if (n < 0 || buffer.full) {
		refuse(reason, "cannot read %s: %s", path,
		       buffer.full ? "too long" : strerror(err));
		buffer_free(&buffer);
		return NULL;
	}
	return buffer.data ? buffer.data : copy_of("");
}
