/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of expected values: comma separated, no quoting, comments begin with #.
 * They are kept apart from the catalogue, so that a slip of the hand in a
 * catalogue file is found.
 */
#ifndef TESTS_UNIT_CSV_H
#define TESTS_UNIT_CSV_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CSV_FIELDS_MAX 16
#define CSV_LINE_MAX 512

/*
 * Next line as fields in @field, which point into @line; returns how many, 0
 * at the end of the file.
 */
static inline int csv_next(FILE *file, char line[CSV_LINE_MAX],
			   char *field[CSV_FIELDS_MAX])
{
	int n = 0;
	char *s;

	do {
		if (!fgets(line, CSV_LINE_MAX, file))
			return 0;
	} while (line[0] == '#');
	line[strcspn(line, "\n")] = '\0';
	for (s = line; s && n < CSV_FIELDS_MAX; n++)
		field[n] = strsep(&s, ",");
	return n;
}

/* Number in a field, 0 for an empty one. */
static inline unsigned long long csv_number(const char *s)
{
	return strtoull(s, NULL, 10);
}

#endif
