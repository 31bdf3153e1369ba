// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parser of the catalogue format. It is strict, because a catalogue decides
 * whether a workload fits: a line that is not understood is an error with its
 * place, never skipped. Text is printable ASCII (comments may hold anything),
 * so that nothing of a catalogue can play with a terminal.
 */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"

#define LINE_LENGTH_MAX 1024
#define NAME_MAX_LEN 64
#define DEFAULTS_MAX 16
#define LIST_MAX 64

/**
 * struct parser - one run over one file
 * @any_case: names of sections may have capitals and underscores
 * @keys_only: there are no sections, and keys may have dashes
 * @section: name of the open section, "" before the first
 * @in_defaults: the open section is [defaults]
 * @keys: keys of [defaults], @n of them, each with its value in @values
 */
struct parser {
	const char *file;
	unsigned int line;
	bool any_case;
	bool keys_only;
	conf_fn fn;
	void *arg;
	struct fault *f;
	char section[NAME_MAX_LEN + 1];
	bool in_defaults;
	bool any_section;
	char *keys[DEFAULTS_MAX];
	char *values[DEFAULTS_MAX];
	size_t n;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static char *trim(char *s)
{
	size_t len;

	while (is_blank(*s))
		s++;
	len = strlen(s);
	while (len && is_blank(s[len - 1]))
		s[--len] = '\0';
	return s;
}

/* Lower case (or any), digits, and in the middle also the characters of @extra. */
static bool conf_is_name(const char *s, const char *extra, bool any_case)
{
	size_t i, len = strlen(s);

	if (!len || len > NAME_MAX_LEN)
		return false;
	for (i = 0; i < len; i++) {
		if (islower((unsigned char)s[i]) || isdigit((unsigned char)s[i]) ||
		    (any_case && (isupper((unsigned char)s[i]) || (i && s[i] == '_'))))
			continue;
		if (!i || i + 1 == len || !strchr(extra, s[i]))
			return false;
	}
	return true;
}

static int emit(struct parser *p, const char *key, const char *value, bool inherited)
{
	const struct conf_item item = {
		.section = p->section,
		.key = key,
		.value = value,
		.inherited = inherited,
		.file = p->file,
		.line = p->line,
	};

	return p->fn(&item, p->arg, p->f);
}

static int begin_section(struct parser *p, char *s)
{
	size_t i, len = strlen(s);
	int err;

	if (s[len - 1] != ']')
		return fault_set(p->f, EINVAL, "section without closing ]");
	s[len - 1] = '\0';
	if (!conf_is_name(s + 1, "-.", p->any_case))
		return fault_set(p->f, EINVAL,
				 "section name [%s]: use 1 to %d of %sa-z 0-9, and - . inside",
				 s + 1, NAME_MAX_LEN, p->any_case ? "A-Z _ " : "");
	p->in_defaults = !strcmp(s + 1, "defaults");
	if (p->in_defaults && p->any_section)
		return fault_set(p->f, EINVAL, "[defaults] must be the first section, and once");
	p->any_section = true;
	strcpy(p->section, s + 1);
	if (p->in_defaults)
		return 0;
	err = emit(p, NULL, NULL, false);
	for (i = 0; !err && i < p->n; i++)
		err = emit(p, p->keys[i], p->values[i], true);
	return err;
}

static int keep_default(struct parser *p, const char *key, const char *value)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (!strcmp(p->keys[i], key))
			return fault_set(p->f, EINVAL, "%s is given twice", key);
	if (p->n == DEFAULTS_MAX)
		return fault_set(p->f, E2BIG, "more than %d defaults", DEFAULTS_MAX);
	p->keys[p->n] = strdup(key);
	p->values[p->n] = strdup(value);
	p->n++;
	if (!p->keys[p->n - 1] || !p->values[p->n - 1])
		return fault_set(p->f, ENOMEM, "out of memory");
	return 0;
}

static int key_value(struct parser *p, char *s)
{
	char *eq = strchr(s, '=');
	char *key, *value;

	if (!eq)
		return fault_set(p->f, EINVAL, "neither %skey = value nor # comment",
				 p->keys_only ? "" : "[section], ");
	if (!p->any_section && !p->keys_only)
		return fault_set(p->f, EINVAL, "key before the first [section]");
	*eq = '\0';
	key = trim(s);
	value = trim(eq + 1);
	if (!conf_is_name(key, p->keys_only ? "_.-" : "_.", false))
		return fault_set(p->f, EINVAL,
				 "key \"%s\": use 1 to %d of a-z 0-9, and _ . %sinside", key,
				 NAME_MAX_LEN, p->keys_only ? "- " : "");
	if (!*value)
		return fault_set(p->f, EINVAL, "%s has no value; leave the line out instead", key);
	if (p->in_defaults)
		return keep_default(p, key, value);
	return emit(p, key, value, false);
}

/*
 * Whether a line is printable ASCII without a tab; eight characters at a time, because nearly
 * every start of gpuctl reads a whole catalogue.
 */
static bool conf_is_plain(const char *text, size_t len)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t word, odd = 0;

	for (; len >= sizeof(word); text += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		/* The high bit of a byte: it is one of its own, below 0x20, or above 0x7e. */
		odd |= word | (word - 0x20 * ones) | (word + ones);
	}
	for (; len; text++, len--)
		odd |= (unsigned char)(*text - 0x20) > 0x7e - 0x20 ? 0x80 : 0;
	return !(odd & (0x80 * ones));
}

static int conf_one_line(struct parser *p, const char *text, size_t len)
{
	char buf[LINE_LENGTH_MAX + 1];
	size_t i;
	char *s;

	for (i = 0; i < len && is_blank(text[i]); i++)
		;
	if (i == len || text[i] == '#')
		return 0;
	if (len > LINE_LENGTH_MAX)
		return fault_set(p->f, EINVAL, "line longer than %d characters", LINE_LENGTH_MAX);
	for (i = conf_is_plain(text, len) ? len : 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c != '\t' && (c < 0x20 || c > 0x7e))
			return fault_set(p->f, EINVAL,
					 "character 0x%02x at column %zu; outside comments only printable ASCII is allowed",
					 c, i + 1);
	}
	memcpy(buf, text, len);
	buf[len] = '\0';
	s = trim(buf);
	return *s == '[' && !p->keys_only ? begin_section(p, s) : key_value(p, s);
}

static int parse_lines(struct parser *p, const char *text, size_t len)
{
	const char *end = text + len;
	int err = 0;

	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((nl ? nl : end) - text);

		p->line++;
		err = conf_one_line(p, text, n);
		if (err) {
			fault_prefix(p->f, "%s:%u", p->file, p->line);
			break;
		}
		text += n + (nl ? 1 : 0);
	}
	while (p->n) {
		p->n--;
		free(p->keys[p->n]);
		free(p->values[p->n]);
	}
	return err;
}

int conf_parse(const char *file, const char *text, size_t len, conf_fn fn, void *arg,
	       struct fault *f)
{
	struct parser p = { .file = file, .fn = fn, .arg = arg, .f = f };

	return parse_lines(&p, text, len);
}

int conf_parse_names(const char *file, const char *text, size_t len, conf_fn fn, void *arg,
		     struct fault *f)
{
	struct parser p = { .file = file, .any_case = true, .fn = fn, .arg = arg, .f = f };

	return parse_lines(&p, text, len);
}

int conf_parse_keys(const char *file, const char *text, size_t len, conf_fn fn, void *arg,
		    struct fault *f)
{
	struct parser p = { .file = file, .keys_only = true, .fn = fn, .arg = arg, .f = f };

	return parse_lines(&p, text, len);
}

int conf_whole(const char *value, unsigned long long min, unsigned long long max,
	       unsigned long long *out, struct fault *f)
{
	unsigned long long n = 0;
	const char *s;

	for (s = value; isdigit((unsigned char)*s); s++) {
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (unsigned int)(*s - '0'), &n))
			return fault_set(f, ERANGE, "%.40s is too large", value);
	}
	if (s == value || *s)
		return fault_set(f, EINVAL, "\"%.40s\" is not a whole number", value);
	if (n < min || n > max)
		return fault_set(f, ERANGE, "%llu is outside %llu to %llu", n, min, max);
	*out = n;
	return 0;
}

int conf_decimal(const char *value, double min, double max, double *out, struct fault *f)
{
	double n = 0, unit = 1;
	const char *s = value;
	int decimals = 0;

	/* no strtod(): it takes inf, nan, hex, exponents and a locale's comma */
	for (; isdigit((unsigned char)*s); s++)
		n = n * 10 + (*s - '0');
	if (s != value && *s == '.' && isdigit((unsigned char)s[1])) {
		for (s++; isdigit((unsigned char)*s) && decimals < 6; s++) {
			n = n * 10 + (*s - '0');
			unit *= 10;
			decimals++;
		}
	}
	if (s == value || *s)
		return fault_set(f, EINVAL, "\"%.40s\" is not a number with at most 6 decimals",
				 value);
	n /= unit;
	if (n < min || n > max)
		return fault_set(f, ERANGE, "%.40s is outside %g to %g", value, min, max);
	*out = n;
	return 0;
}

int conf_bool(const char *value, bool *out, struct fault *f)
{
	if (!strcmp(value, "yes"))
		*out = true;
	else if (!strcmp(value, "no"))
		*out = false;
	else
		return fault_set(f, EINVAL, "\"%.40s\" is neither yes nor no", value);
	return 0;
}

void conf_list_free(char **list, size_t n)
{
	while (n)
		free(list[--n]);
	free(list);
}

int conf_list(const char *value, char ***out, size_t *n, struct fault *f)
{
	char **list = NULL;
	size_t count = 0;

	while (*value) {
		size_t len = strcspn(value, " \t");
		char **more;

		if (!len) {
			value++;
			continue;
		}
		if (count == LIST_MAX) {
			conf_list_free(list, count);
			return fault_set(f, E2BIG, "more than %d words", LIST_MAX);
		}
		more = realloc(list, (count + 1) * sizeof(*list));
		if (more) {
			list = more;
			list[count] = strndup(value, len);
		}
		if (!more || !list[count]) {
			conf_list_free(list, count);
			return fault_set(f, ENOMEM, "out of memory");
		}
		count++;
		value += len;
	}
	*out = list;
	*n = count;
	return 0;
}
