// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: formulas of families
 *
 * A recursive descent that computes while it reads: formulas are short and
 * each is read once or a few times. Numbers are doubles, which are exact for
 * whole numbers up to 2^53, more than any tensor has.
 *
 * Branches that are not taken are read all the same, with @dead set, so that a
 * slip in them is found.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr.h"

/* Of parentheses and of formulas that wait for others, together. */
#define DEPTH_MAX 160
#define ARGS_MAX 3
#define LIST_SEARCH_MAX 4096
/* Of all lists: each layer may look for itself in one, whose length a file chooses. */
#define SEARCHED_MAX 1000000

/**
 * struct reader - one formula
 * @s: what is left of it
 * @stops: characters that end it
 * @nested: open parentheses, in which nothing ends it
 * @dead: branches around that are not taken
 */
struct reader {
	struct expr_scope *scope;
	const char *text;
	const char *s;
	const char *stops;
	unsigned int nested;
	unsigned int dead;
	struct fault *f;
};

static const struct expr_value absent = { EXPR_ABSENT, 0, NULL, NULL };

static struct expr_value from_number(double n)
{
	return (struct expr_value){ isfinite(n) ? EXPR_NUMBER : EXPR_ABSENT, n, NULL, NULL };
}

static int alternatives(struct reader *r, struct expr_value *out);
static int unary(struct reader *r, struct expr_value *out);

static int expr_broken(struct reader *r, const char *what)
{
	return fault_set(r->f, EINVAL, "formula \"%.60s\": %s at \"%.20s\"", r->text, what, r->s);
}

/* Is @word next? Passes over it; operators are matched by their length. */
static bool next(struct reader *r, const char *word)
{
	size_t n;

	while (*r->s == ' ' || *r->s == '\t')
		r->s++;
	if (*r->s != *word)
		return false;
	n = strlen(word);
	if (!r->nested && *r->s && strchr(r->stops, *r->s))
		return false;
	if (strncmp(r->s, word, n))
		return false;
	/* "|" is not the begin of "||", "is" not that of a longer word */
	if (n == 1 && strchr("|<>=&", *word) && (r->s[1] == '=' || r->s[1] == *word))
		return false;
	if (isalpha((unsigned char)*word) && (isalnum((unsigned char)r->s[n]) || r->s[n] == '_'))
		return false;
	r->s += n;
	return true;
}

/* The next character that is no blank, if it is one of @set: most often none is. */
static bool ahead(struct reader *r, const char *set)
{
	while (*r->s == ' ' || *r->s == '\t')
		r->s++;
	while (*set && *set != *r->s)
		set++;
	return *set;
}

/* The number of "path=" in @list. */
static void take_default(const char *list, const char *path, struct expr_value *out)
{
	size_t len = strlen(path), n;

	for (; *list; list += n) {
		list += strspn(list, " \t");
		n = strcspn(list, " \t");
		if (n > len + 1 && list[len] == '=' && !strncmp(list, path, len)) {
			*out = from_number(strtod(list + len + 1, NULL));
			return;
		}
	}
}

void expr_fact(const struct expr_facts *facts, const char *path, struct expr_value *out)
{
	while (facts && !strncmp(path, "outer.", 6)) {
		facts = facts->outer;
		path += 6;
	}
	*out = absent;
	if (facts && facts->get)
		facts->get(facts->node, path, out);
	if (facts && facts->defaults && out->kind == EXPR_ABSENT)
		take_default(facts->defaults, path, out);
}

static void look_up(struct reader *r, const char *path, struct expr_value *out)
{
	*out = absent;
	if (r->dead)
		return;
	expr_fact(r->scope->facts, path, out);
	if (out->kind != EXPR_ABSENT)
		memcpy(r->scope->path, path, strlen(path) + 1);
}

/* "a.b[formula].c"; @path gets "a.b.3.c", or "" if the formula is absent. */
static int path_of(struct reader *r, char path[EXPR_PATH_MAX])
{
	struct expr_value at, list;
	size_t n = 0;
	bool known = true, saw = r->scope->saw_layer;
	int err;

	while (isalnum((unsigned char)*r->s) || *r->s == '_' || *r->s == '.' || *r->s == '[') {
		if (n + 16 >= EXPR_PATH_MAX)
			return expr_broken(r, "a name that is too long");
		if (*r->s != '[') {
			path[n++] = *r->s++;
			continue;
		}
		r->s++;
		r->nested++;
		path[n] = '\0';
		look_up(r, path, &list);
		err = alternatives(r, &at);
		if (err)
			return err;
		if (!next(r, "]"))
			return expr_broken(r, "] is missing");
		r->nested--;
		if (list.kind == EXPR_LIST && list.number && at.kind == EXPR_NUMBER &&
		    r->scope->saw_layer && at.number >= list.number && !*r->scope->short_list)
			memcpy(r->scope->short_list, path, n + 1);
		/* what is in no layer differs in none */
		if (list.kind == EXPR_ABSENT)
			r->scope->saw_layer = saw;
		known &= at.kind == EXPR_NUMBER && at.number >= 0 && at.number < 1e6;
		n += (size_t)snprintf(path + n, EXPR_PATH_MAX - n, ".%d",
				      known ? (int)at.number : 0);
	}
	path[known ? n : 0] = '\0';
	return n ? 0 : expr_broken(r, "a name is missing behind @");
}

/* --- functions ----------------------------------------------------------------- */

/* "4,5,6": numbers of a text that equal @want. */
static double count_in_text(const char *text, double want)
{
	double found = 0;
	char *end;

	for (; *text; text = *end ? end + 1 : end) {
		found += strtod(text, &end) == want && end > text;
		end += strcspn(end, ",");
	}
	return found;
}

/* Entries of a list that equal @want; -1 if @path is no list. */
static double count_in(struct reader *r, const char *path, const struct expr_value *want)
{
	struct expr_value list, each;
	char entry[EXPR_PATH_MAX + 16];
	double found = 0;
	int i;

	look_up(r, path, &list);
	if (list.kind != EXPR_LIST && list.kind != EXPR_TEXT)
		return -1;
	if (list.kind == EXPR_TEXT && want->kind == EXPR_NUMBER) {
		r->scope->searched += (unsigned int)fmin(list.number, SEARCHED_MAX);
		return r->scope->searched > SEARCHED_MAX ? -1 :
							   count_in_text(list.text, want->number);
	}
	for (i = 0; i < LIST_SEARCH_MAX && i < list.number; i++) {
		if (r->scope->searched++ >= SEARCHED_MAX)
			return -1;
		snprintf(entry, sizeof(entry), "%s.%d", path, i);
		expr_fact(r->scope->facts, entry, &each);
		if (each.kind != want->kind)
			continue;
		found += each.kind == EXPR_TEXT ? !strcmp(each.text, want->text) :
						  each.number == want->number;
	}
	return found;
}

/* A number, or the largest of a list: what differs by layer still has a width. */
static void largest_of(struct reader *r, const char *path, struct expr_value *out)
{
	struct expr_value list, each;
	char entry[EXPR_PATH_MAX + 16];
	int i;

	look_up(r, path, out);
	if (out->kind != EXPR_LIST)
		return;
	list = *out;
	*out = absent;
	for (i = 0; i < LIST_SEARCH_MAX && i < list.number; i++) {
		snprintf(entry, sizeof(entry), "%s.%d", path, i);
		expr_fact(r->scope->facts, entry, &each);
		if (each.kind == EXPR_NUMBER &&
		    (out->kind == EXPR_ABSENT || each.number > out->number))
			*out = each;
	}
}

/* Functions that ask about a fact: has(@x), length(@x), largest(@x), count(@x, 3). */
static int ask(struct reader *r, const char *name, struct expr_value *out)
{
	char path[EXPR_PATH_MAX];
	struct expr_value value = absent;
	double n;
	int err;

	if (!next(r, "@"))
		return expr_broken(r, "@ is missing");
	err = path_of(r, path);
	if (err)
		return err;
	if (!strcmp(name, "count")) {
		if (!next(r, ","))
			return expr_broken(r, "what to count is missing");
		err = alternatives(r, &value);
		if (err)
			return err;
		n = r->dead || value.kind == EXPR_ABSENT ? -1 : count_in(r, path, &value);
		if (r->scope->searched > SEARCHED_MAX)
			return fault_set(r->f, E2BIG, "%s: too long to search for each layer",
					 path);
		*out = n < 0 ? absent : from_number(n);
	} else if (!strcmp(name, "largest")) {
		largest_of(r, path, out);
	} else {
		look_up(r, path, &value);
		if (!strcmp(name, "has"))
			*out = from_number(value.kind != EXPR_ABSENT);
		else
			*out = value.kind == EXPR_LIST || value.kind == EXPR_TEXT ?
				       from_number(value.number) :
				       absent;
	}
	return next(r, ")") ? 0 : expr_broken(r, ") is missing");
}

static double compute(const char *name, const double *a, unsigned int n)
{
	if (!strcmp(name, "min") && n == 2)
		return fmin(a[0], a[1]);
	if (!strcmp(name, "max") && n == 2)
		return fmax(a[0], a[1]);
	if (!strcmp(name, "floor") && n == 1)
		return floor(a[0]);
	if (!strcmp(name, "ceil") && n == 1)
		return ceil(a[0]);
	if (!strcmp(name, "round_up") && n == 2)
		return a[1] > 0 ? ceil(a[0] / a[1]) * a[1] : INFINITY;
	return NAN;
}

static bool is_function(const char *name)
{
	static const char *const names[] = {
		"min", "max", "floor", "ceil", "round_up", "has", "length", "count", "largest",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int expr_call(struct reader *r, const char *name, struct expr_value *out)
{
	struct expr_value value;
	double args[ARGS_MAX], result;
	unsigned int n = 0;
	bool whole = true;
	int err = 0;

	r->nested++;
	if (!strcmp(name, "has") || !strcmp(name, "length") || !strcmp(name, "count") ||
	    !strcmp(name, "largest")) {
		err = ask(r, name, out);
		r->nested--;
		return err;
	}
	do {
		if (n == ARGS_MAX)
			return expr_broken(r, "too many arguments");
		err = alternatives(r, &value);
		if (err)
			return err;
		whole &= value.kind == EXPR_NUMBER;
		args[n++] = value.number;
	} while (next(r, ","));
	if (!next(r, ")"))
		return expr_broken(r, ") is missing");
	r->nested--;
	result = compute(name, args, n);
	if (whole && isnan(result))
		return expr_broken(r, "wrong number of arguments");
	*out = whole ? from_number(result) : absent;
	return 0;
}

/* --- values -------------------------------------------------------------------- */

static int name_of(struct reader *r, struct expr_value *out)
{
	const char *start = r->s;
	char name[32];
	size_t n;

	while (isalnum((unsigned char)*r->s) || *r->s == '_')
		r->s++;
	n = (size_t)(r->s - start);
	if (n >= sizeof(name))
		return expr_broken(r, "a name that is too long");
	memcpy(name, start, n);
	name[n] = '\0';
	if (*r->s == '(' && is_function(name)) {
		r->s++;
		return expr_call(r, name, out);
	}
	*out = absent;
	if (!strcmp(name, "i")) {
		r->scope->saw_layer |= !r->dead;
		*out = from_number(r->scope->layer);
		return 0;
	}
	if (r->dead && !r->scope->checks)
		return 0;
	if (r->scope->variable(r->scope->arg, start, n, out, r->f) == -ENOENT)
		return fault_set(r->f, EINVAL, "formula \"%.60s\": nothing is called %s", r->text,
				 name);
	return *r->f->text ? -EINVAL : 0;
}

static int number_of(struct reader *r, struct expr_value *out)
{
	double n = 0, unit = 1;
	int digits = 0;

	for (; isdigit((unsigned char)*r->s) && digits < 18; r->s++, digits++)
		n = n * 10 + (*r->s - '0');
	if (*r->s == '.' && isdigit((unsigned char)r->s[1]))
		for (r->s++; isdigit((unsigned char)*r->s) && digits < 18; r->s++, digits++) {
			n = n * 10 + (*r->s - '0');
			unit *= 10;
		}
	*out = from_number(n / unit);
	return isdigit((unsigned char)*r->s) ? expr_broken(r, "too many digits") : 0;
}

static int primary(struct reader *r, struct expr_value *out)
{
	char path[EXPR_PATH_MAX];
	int err;

	if (next(r, "@")) {
		err = path_of(r, path);
		if (!err && *path)
			look_up(r, path, out);
		else
			*out = absent;
		return err;
	}
	if (next(r, "(")) {
		r->nested++;
		err = alternatives(r, out);
		if (err)
			return err;
		if (!next(r, ")"))
			return expr_broken(r, ") is missing");
		r->nested--;
		return 0;
	}
	if (isdigit((unsigned char)*r->s))
		return number_of(r, out);
	if (isalpha((unsigned char)*r->s))
		return name_of(r, out);
	return expr_broken(r, "a value is missing");
}

static int unary(struct reader *r, struct expr_value *out)
{
	bool minus, inverts;
	int err;

	if (++r->scope->depth > DEPTH_MAX)
		return expr_broken(r, "nested too deeply");
	minus = ahead(r, "-!") && next(r, "-");
	inverts = !minus && ahead(r, "!") && next(r, "!");
	err = minus || inverts ? unary(r, out) : primary(r, out);
	r->scope->depth--;
	if (err || out->kind != EXPR_NUMBER)
		return err;
	if (minus)
		out->number = -out->number;
	if (inverts)
		out->number = !out->number;
	return 0;
}

/* --- operators ----------------------------------------------------------------- */

/* Both sides must be numbers; a text where a number belongs is a broken file. */
static int numbers(struct reader *r, const struct expr_value *a, const struct expr_value *b)
{
	if (a->kind == EXPR_TEXT || b->kind == EXPR_TEXT)
		return fault_set(r->f, EINVAL, "%s: not a whole number; copy the file again",
				 r->scope->path);
	return a->kind == EXPR_NUMBER && b->kind == EXPR_NUMBER;
}

static int product(struct reader *r, struct expr_value *out)
{
	struct expr_value b;
	int err = unary(r, out), both;

	while (!err && ahead(r, "*/%")) {
		char op = next(r, "*") ? '*' : next(r, "/") ? '/' : next(r, "%") ? '%' : '\0';

		if (!op)
			return 0;
		err = unary(r, &b);
		if (err)
			return err;
		both = numbers(r, out, &b);
		if (both < 0)
			return both;
		if (!both || (op != '*' && !b.number))
			*out = absent;
		else
			*out = from_number(op == '*' ? out->number * b.number :
					   op == '/' ? out->number / b.number :
						       fmod(out->number, b.number));
	}
	return err;
}

static int sum(struct reader *r, struct expr_value *out)
{
	struct expr_value b;
	int err = product(r, out), both;

	while (!err && ahead(r, "+-")) {
		char op = next(r, "+") ? '+' : next(r, "-") ? '-' : '\0';

		if (!op)
			return 0;
		err = product(r, &b);
		if (err)
			return err;
		both = numbers(r, out, &b);
		if (both < 0)
			return both;
		*out = both ? from_number(op == '+' ? out->number + b.number :
						      out->number - b.number) :
			      absent;
	}
	return err;
}

/* "@layer_types[i] is full_attention", or a word with other characters in quotes. */
static int expr_is_word(struct reader *r, struct expr_value *out)
{
	char word[64];
	size_t n = 0;
	bool quoted = next(r, "\"");

	/* next() passes over blanks */
	if (!quoted)
		next(r, " ");
	while (n + 1 < sizeof(word) && *r->s &&
	       (quoted ? *r->s != '"' : isalnum((unsigned char)*r->s) || *r->s == '_'))
		word[n++] = *r->s++;
	word[n] = '\0';
	if (!n || (quoted && *r->s != '"'))
		return expr_broken(r, "a word is missing");
	r->s += quoted;
	if (out->kind == EXPR_TEXT)
		*out = from_number(!strcmp(out->text, word));
	else if (out->kind != EXPR_ABSENT)
		*out = from_number(0);
	return 0;
}

static int comparison(struct reader *r, struct expr_value *out)
{
	static const char *const ops[] = { "==", "!=", "<=", ">=", "<", ">" };
	struct expr_value b;
	int err = sum(r, out);
	double x, y;
	size_t i;

	if (err || !ahead(r, "i=!<>"))
		return err;
	if (next(r, "is"))
		return expr_is_word(r, out);
	for (i = 0; i < 6 && !next(r, ops[i]); i++)
		;
	if (i == 6)
		return 0;
	err = sum(r, &b);
	if (err)
		return err;
	if (out->kind != EXPR_NUMBER || b.kind != EXPR_NUMBER) {
		*out = absent;
		return 0;
	}
	x = out->number;
	y = b.number;
	*out = from_number(i == 0 ? x == y :
			   i == 1 ? x != y :
			   i == 2 ? x <= y :
			   i == 3 ? x >= y :
			   i == 4 ? x < y :
				    x > y);
	return 0;
}

/* A side that decides alone lets the other be absent. */
static int both_of(struct reader *r, bool any, int (*side)(struct reader *, struct expr_value *),
		   struct expr_value *out)
{
	struct expr_value b;
	bool decided;
	int err = side(r, out);

	while (!err && ahead(r, "|&") && next(r, any ? "||" : "&&")) {
		decided = out->kind == EXPR_NUMBER && !out->number != any;
		r->dead += decided;
		err = side(r, &b);
		r->dead -= decided;
		if (decided)
			continue;
		if (b.kind == EXPR_NUMBER && (out->kind == EXPR_NUMBER || !b.number != any))
			*out = from_number(b.number != 0);
		else
			*out = absent;
	}
	return err;
}

static int conjunction(struct reader *r, struct expr_value *out)
{
	return both_of(r, false, comparison, out);
}

static int choice(struct reader *r, struct expr_value *out)
{
	struct expr_value yes, no;
	bool taken, known;
	int err;

	if (++r->scope->depth > DEPTH_MAX)
		return expr_broken(r, "nested too deeply");
	err = both_of(r, true, conjunction, out);
	if (err || !next(r, "?")) {
		r->scope->depth--;
		return err;
	}
	known = out->kind == EXPR_NUMBER;
	taken = known && out->number;
	r->dead += !taken;
	err = choice(r, &yes);
	r->dead -= !taken;
	if (err)
		return err;
	if (!next(r, ":"))
		return expr_broken(r, ": is missing");
	r->dead += taken || !known;
	err = choice(r, &no);
	r->dead -= taken || !known;
	r->scope->depth--;
	*out = !known ? absent : taken ? yes : no;
	return err;
}

static int alternatives(struct reader *r, struct expr_value *out)
{
	struct expr_value b;
	bool found;
	int err = choice(r, out);

	while (!err && next(r, "|")) {
		found = out->kind != EXPR_ABSENT;
		r->dead += found;
		err = choice(r, &b);
		r->dead -= found;
		if (!found)
			*out = b;
	}
	return err;
}

static int expr_whole(struct reader *r, const char **end, struct expr_value *out)
{
	struct expr_scope *scope = r->scope;
	int err;

	r->s = r->text;
	r->f->text[0] = '\0';
	*out = absent;
	if (++scope->depth > DEPTH_MAX) {
		scope->depth--;
		return fault_set(r->f, EINVAL, "formula \"%.60s\": nested too deeply", r->text);
	}
	err = alternatives(r, out);
	scope->depth--;
	if (err)
		return err;
	while (*r->s == ' ' || *r->s == '\t')
		r->s++;
	if (*r->s && !strchr(r->stops, *r->s))
		return expr_broken(r, "what is this");
	*end = r->s;
	return 0;
}

int expr_eval(struct expr_scope *scope, const char *text, const char *stops, const char **end,
	      struct expr_value *out, struct fault *f)
{
	struct reader r = { .scope = scope, .text = text, .stops = stops, .f = f };

	return expr_whole(&r, end, out);
}

int expr_check(struct expr_scope *scope, const char *text, const char *stops, const char **end,
	       struct fault *f)
{
	struct reader r = { .scope = scope, .text = text, .stops = stops, .dead = 1, .f = f };
	struct expr_value ignored;

	return expr_whole(&r, end, &ignored);
}
