/* SPDX-License-Identifier: GPL-2.0-only */
/* A file of comma separated values with quotes, line by line, by the names of its columns. */
#ifndef TESTS_BENCH_SHEET_H
#define TESTS_BENCH_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define SHEET_COLUMNS_MAX 128

/**
 * struct sheet - a line of the file by the names of the first
 * @names: of the columns, @n of them
 * @values: of the current line
 */
struct sheet {
	char *names[SHEET_COLUMNS_MAX];
	char *values[SHEET_COLUMNS_MAX];
	size_t n;
};

/* Splits a line with quotes in place; returns the number of fields. */
static inline size_t sheet_split(char *line, char **field)
{
	char *to = line, *s = line;
	size_t n = 0;
	bool quoted = false;

	field[n++] = to;
	for (; *s && *s != '\n' && *s != '\r'; s++) {
		if (*s == '"' && quoted && s[1] == '"') {
			*to++ = '"';
			s++;
		} else if (*s == '"') {
			quoted = !quoted;
		} else if (*s == ',' && !quoted) {
			*to++ = '\0';
			if (n == SHEET_COLUMNS_MAX)
				break;
			field[n++] = to;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
	return n;
}

/* "" for a column that the file does not have. */
static inline const char *sheet_get(const struct sheet *sheet, const char *name)
{
	size_t i;

	for (i = 0; i < sheet->n; i++)
		if (!strcmp(sheet->names[i], name))
			return sheet->values[i] ? sheet->values[i] : "";
	return "";
}

#endif
