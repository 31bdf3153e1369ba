// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patterns are plain names ("lm_head", "model.layers.3.self_attn"), globs
 * ("*self_attn*") or regular expressions ("re:.*self_attn.*"). The last become
 * globs, several where there are alternatives: what people write is names with
 * .* and \. and (q|k|v) in them, and a matcher of our own takes no time that a
 * hostile file could choose. Beside *, a glob has a byte for a digit, for digits,
 * and for any character.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quant_match.h"

#define LENGTH_MAX 256
#define GLOBS_MAX 64
#define BRANCHES_MAX 512

/* Of a glob. */
#define ONE_DIGIT '\1'
#define ANY_ONE '\2'
#define DIGITS '\3'
/* Of what is not a glob yet: the name ends here. */
#define END '\4'

int quant_layer_of(const char *name)
{
	const char *at = strstr(name, "layers.");
	char *end;
	long n;

	if (!at || !isdigit((unsigned char)at[7]))
		return -1;
	n = strtol(at + 7, &end, 10);
	return n >= 0 && n < 100000 && (!*end || *end == '.' || *end == '\\') ? (int)n : -1;
}

/* Prefixes of the text model differ by engine; those of encoders say that they are no text. */
static const char *skip_prefix(const char *name)
{
	static const char *const others[] = { "vis", "audio", "image", "speech", "encoder" };
	const char *at = strstr(name, "layers."), *other;
	size_t i;

	for (i = 0; at && i < sizeof(others) / sizeof(others[0]); i++) {
		other = strstr(name, others[i]);
		if (other && other < at)
			return name;
	}
	return at ? at : name;
}

/* --- regular expressions --------------------------------------------------------- */

/**
 * struct rewrite - a regular expression with its atoms as bytes of a glob
 * @out: ( ) | and ? of groups are left in it
 */
struct rewrite {
	char out[LENGTH_MAX];
	size_t n;
};

static bool put(struct rewrite *r, const char *bytes, size_t n)
{
	if (r->n + n >= sizeof(r->out))
		return false;
	memcpy(r->out + r->n, bytes, n);
	r->n += n;
	r->out[r->n] = '\0';
	return true;
}

/* "[0-3]" as "(0|1|2|3)", "[0-9]" as a digit, longer ones as any character. */
static const char *rewrite_class(const char *s, char atom[32])
{
	const char *end = strchr(s + 1, ']');
	size_t n = 0;
	int c;

	if (!end || end == s + 1)
		return NULL;
	if (s[1] == '^' || !strncmp(s, "[\\", 2) || end - s > 12) {
		atom[0] = strncmp(s, "[\\d]", 4) ? ANY_ONE : ONE_DIGIT;
		atom[1] = '\0';
		return end + 1;
	}
	atom[n++] = '(';
	for (s++; s < end; s++) {
		bool range = s[1] == '-' && s + 2 < end;
		int last = range ? s[2] : *s;

		for (c = *s; c <= last && n < 26; c++) {
			atom[n++] = (char)c;
			atom[n++] = '|';
		}
		s += range ? 2 : 0;
	}
	if (n < 3)
		return NULL;
	atom[n - 1] = ')';
	atom[n] = '\0';
	if (!strcmp(atom, "(0|1|2|3|4|5|6|7|8|9)") || n >= 26) {
		atom[0] = n >= 26 ? ANY_ONE : ONE_DIGIT;
		atom[1] = '\0';
	}
	return end + 1;
}

/* One atom: a character, a class. NULL: not understood. */
static const char *rewrite_atom(const char *s, char atom[32])
{
	atom[1] = '\0';
	if (*s == '[')
		return rewrite_class(s, atom);
	if (*s == '\\') {
		atom[0] = s[1];
		if (s[1] == 'd')
			atom[0] = ONE_DIGIT;
		else if (s[1] == 'w' || s[1] == 'S')
			atom[0] = ANY_ONE;
		else if (s[1] == 'Z')
			atom[0] = END;
		else if (!s[1] || !strchr("._-/:", s[1]))
			return NULL;
		return s + 2;
	}
	atom[0] = *s == '$' ? END : *s;
	return isalnum((unsigned char)*s) || strchr("._-/:$ ", *s) ? s + 1 : NULL;
}

/* "{2}" or "{1,3}" of an atom of one byte. */
static const char *rewrite_count(struct rewrite *r, const char *s, char atom)
{
	char *end, bytes[4];
	long low = strtol(s + 1, &end, 10), high = low, i;

	if (*end == ',')
		high = strtol(end + 1, &end, 10);
	if (*end != '}' || low < 0 || high < low || !high || high > 4)
		return NULL;
	memset(bytes, atom, sizeof(bytes));
	for (i = low; i <= high; i++)
		if (!put(r, i == low ? "(" : "|", 1) || !put(r, bytes, (size_t)i))
			return NULL;
	return put(r, ")", 1) ? end + 1 : NULL;
}

/* An atom with what says how often it is there. */
static const char *rewrite_repeated(struct rewrite *r, const char *s)
{
	char atom[32];
	bool dot = *s == '.', wide, many;

	s = rewrite_atom(s, atom);
	if (!s)
		return NULL;
	many = *s == '*' || *s == '+';
	/* people write the dots of names as they are: alone one is a dot */
	wide = dot || *atom == ANY_ONE || *atom == ONE_DIGIT || *atom == '(';
	if (many && !wide)
		return NULL;
	if (many) {
		if (!put(r, *atom == ONE_DIGIT && *s == '+' ? "\3" : "*", 1))
			return NULL;
		s++;
		return *s == '?' ? s + 1 : s;
	}
	if (*s == '{' && !atom[1])
		return dot ? NULL : rewrite_count(r, s, *atom);
	if (*s == '{')
		return NULL;
	if (*s != '?')
		return put(r, atom, strlen(atom)) ? s : NULL;
	if (!put(r, "(", 1) || !put(r, atom, strlen(atom)) || !put(r, "|)", 2))
		return NULL;
	return s + 1;
}

static bool rewrite(const char *s, struct rewrite *r)
{
	r->n = 0;
	r->out[0] = '\0';
	while (s && *s) {
		if (*s == '^') {
			s++;
		} else if (!strncmp(s, "(?:", 3)) {
			s = put(r, "(", 1) ? s + 3 : NULL;
		} else if (*s == '(' || *s == '|' || *s == ')') {
			if (s[0] == '(' && s[1] == '?')
				return false;
			if (s[0] == ')' && s[1] && strchr("*+{", s[1]))
				return false;
			s = put(r, s, s[0] == ')' && s[1] == '?' ? 2 : 1) ?
				    s + (s[0] == ')' && s[1] == '?' ? 2 : 1) :
				    NULL;
		} else if (*s == '*') {
			/* a glob that somebody called a regular expression */
			s = put(r, "*", 1) ? s + 1 : NULL;
		} else {
			s = rewrite_repeated(r, s);
		}
	}
	return s;
}

/**
 * struct branches - alternatives that are written out
 * @anywhere: in a name, not at its begin alone
 * @left: how many more steps that may take
 */
struct branches {
	struct quant_pattern *out;
	size_t size;
	bool anywhere;
	unsigned int left;
};

static int add_glob(struct branches *b, const char *text, size_t len, bool open)
{
	char *more;

	/* what means nothing means everything */
	if (!len || b->out->n == GLOBS_MAX)
		return -ENOTSUP;
	more = realloc(b->out->text, b->size + len + 3);
	if (!more)
		return -ENOMEM;
	b->out->text = more;
	if (b->anywhere)
		more[b->size++] = '*';
	memcpy(more + b->size, text, len);
	b->size += len;
	if (open)
		more[b->size++] = '*';
	more[b->size++] = '\0';
	b->out->n++;
	return 0;
}

/* Where the alternative at @s ends: at | or ) of its own depth. */
static const char *branch_end(const char *s)
{
	unsigned int depth = 0;

	for (; *s; s++) {
		if (!depth && (*s == '|' || *s == ')'))
			break;
		depth += *s == '(';
		depth -= *s == ')';
	}
	return s;
}

static int branch_out(struct branches *b, const char *text);

/* Each alternative of @body between what is before and behind. */
static int branch_each(struct branches *b, const char *before, size_t n, const char *body,
		       const char *behind)
{
	char text[LENGTH_MAX];
	const char *end;
	size_t len;
	int err = 0;

	for (; !err; body = end + 1) {
		end = branch_end(body);
		len = (size_t)(end - body);
		if (n + len + strlen(behind) >= sizeof(text))
			return -ENOTSUP;
		memcpy(text, before, n);
		memcpy(text + n, body, len);
		strcpy(text + n + len, behind);
		err = branch_out(b, text);
		if (*end != '|')
			break;
	}
	return err;
}

static int branch_out(struct branches *b, const char *text)
{
	const char *open = strchr(text, '('), *end = branch_end(text), *close;
	size_t len = strlen(text);
	int err;

	if (!b->left--)
		return -ENOTSUP;
	if (*end == '|')
		return branch_each(b, "", 0, text, "");
	if (*end)
		return -ENOTSUP;
	if (!open) {
		if (len && text[len - 1] == END)
			return memchr(text, END, len - 1) ? -ENOTSUP :
							    add_glob(b, text, len - 1, false);
		return memchr(text, END, len) ? -ENOTSUP : add_glob(b, text, len, true);
	}
	for (close = branch_end(open + 1); *close == '|'; close = branch_end(close + 1))
		;
	if (*close != ')')
		return -ENOTSUP;
	err = branch_each(b, text, (size_t)(open - text), open + 1,
			  close + (close[1] == '?' ? 2 : 1));
	if (err || close[1] != '?')
		return err;
	return branch_each(b, text, (size_t)(open - text), "", close + 2);
}

/* A name of modules has none of these, and a glob no .* at its begin. */
static bool is_regex(const char *pattern)
{
	return strpbrk(pattern, "\\()[]^$+|{}") || !strncmp(pattern, ".*", 2);
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Checkpoints have names of their own for what families call mlp, self_attn and so on. */
static bool usual_names(const char *pattern, char out[LENGTH_MAX])
{
	static const char *const names[][2] = {
		{ "block_sparse_moe", "mlp" },
		{ "feed_forward", "mlp" },
		{ "ffn", "mlp" },
		{ "moe", "mlp" },
		{ "shared_expert", "shared_experts" },
		{ "attn", "self_attn" },
		{ "w1", "gate_proj" },
		{ "w2", "down_proj" },
		{ "w3", "up_proj" },
	};
	const char *s = pattern;
	size_t n = 0, len, i;

	while (*s) {
		for (len = 0; in_word(s[len]); len++)
			;
		/* a word alone may be anything: of a path it is a part */
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (s > pattern && s[-1] == '.' && len == strlen(names[i][0]) &&
			    !strncmp(s, names[i][0], len))
				break;
		if (i < sizeof(names) / sizeof(names[0])) {
			if (n + strlen(names[i][1]) >= LENGTH_MAX)
				return false;
			strcpy(out + n, names[i][1]);
			n += strlen(names[i][1]);
			s += len;
			continue;
		}
		len = len ? len : 1;
		if (n + len >= LENGTH_MAX)
			return false;
		memcpy(out + n, s, len);
		n += len;
		s += len;
	}
	out[n] = '\0';
	return true;
}

int quant_pattern_read(const char *pattern, struct quant_pattern *out)
{
	struct branches b = { .out = out, .left = BRANCHES_MAX };
	char usual[LENGTH_MAX];
	struct rewrite r;
	bool said = true;
	size_t len;
	int err;

	*out = (struct quant_pattern){ NULL, 0, false };
	/* GPTQ's "+:" and "-:" say what happens to those that match */
	if ((*pattern == '+' || *pattern == '-') && pattern[1] == ':')
		pattern += 2;
	else if (!strncmp(pattern, "re:", 3))
		pattern += 3;
	else
		said = false;
	if (!usual_names(pattern, usual))
		return -ENOTSUP;
	pattern = usual;
	out->regex = said || is_regex(pattern);
	if (out->regex) {
		b.anywhere = !said && *pattern != '^';
		err = rewrite(pattern, &r) ? branch_out(&b, r.out) : -ENOTSUP;
	} else {
		/* "model.layers.1." is layer 1 for those who look for a part of a name */
		len = strlen(pattern);
		len -= len > 1 && pattern[len - 1] == '.';
		err = add_glob(&b, pattern, len, false);
	}
	if (err)
		quant_pattern_drop(out);
	return err;
}

void quant_pattern_drop(struct quant_pattern *pattern)
{
	free(pattern->text);
	*pattern = (struct quant_pattern){ NULL, 0, false };
}

/* --- matching ---------------------------------------------------------------------- */

/* Does the byte of a glob mean what is next? How many characters that is. */
static size_t glob_one(char p, const char *s)
{
	size_t n;

	if (p == ANY_ONE)
		return 1;
	if (p != ONE_DIGIT && p != DIGITS)
		return p == *s;
	if (!isdigit((unsigned char)*s))
		return 0;
	for (n = 1; p == DIGITS && isdigit((unsigned char)s[n]); n++)
		;
	return n;
}

/* A glob, matched without going back over more than one *. */
static bool glob(const char *p, const char *s, uint64_t *steps)
{
	const char *star = NULL, *from = s;
	size_t n;

	while (*s) {
		++*steps;
		n = *p && *p != '*' ? glob_one(*p, s) : 0;
		if (*p == '*') {
			star = p++;
			from = s;
		} else if (n) {
			p++;
			s += n;
		} else if (star) {
			p = star + 1;
			s = ++from;
		} else {
			return false;
		}
	}
	while (*p == '*')
		p++;
	return !*p;
}

/* Whole parts of the name, at its begin, within, or at its end. */
static bool has_parts(const char *name, const char *parts, size_t len)
{
	const char *at = name;

	for (; (at = strstr(at, parts)); at++)
		if ((at == name || at[-1] == '.') && (!at[len] || at[len] == '.'))
			return true;
	return false;
}

/* One tensor of several that a checkpoint stores as one. */
static bool is_fused(const char *pattern, const char *name)
{
	static const char *const fused[][4] = {
		{ "qkv_proj", "q_proj", "k_proj", "v_proj" },
		{ "gate_up_proj", "gate_proj", "up_proj", NULL },
	};
	char other[LENGTH_MAX];
	const char *at;
	size_t i, j, n;

	for (i = 0; i < 2; i++) {
		at = strstr(pattern, fused[i][0]);
		if (!at)
			continue;
		for (j = 1; j < 4 && fused[i][j]; j++) {
			n = (size_t)(at - pattern);
			if (n + strlen(fused[i][j]) >= sizeof(other))
				return false;
			memcpy(other, pattern, n);
			strcpy(other + n, fused[i][j]);
			if (has_parts(name, other, strlen(other)))
				return true;
		}
	}
	return false;
}

/* "experts.7." is any expert, and a mixer may be an attention, an MLP or a Mamba. */
static bool is_alike(const char *pattern, const char *name, uint64_t *steps)
{
	const char *experts = strstr(pattern, "experts."), *mixer, *rest;
	char any[LENGTH_MAX], other[LENGTH_MAX + 2];
	size_t n;

	snprintf(any, sizeof(any), "%s", pattern);
	if (experts && isdigit((unsigned char)experts[8])) {
		rest = strchr(experts + 8, '.');
		if (!rest)
			return false;
		n = (size_t)(experts + 8 - pattern);
		memmove(any + n, any + (rest + 1 - pattern), strlen(rest + 1) + 1);
		if (has_parts(name, any, strlen(any)) || is_fused(any, name))
			return true;
	}
	mixer = strstr(any, ".mixer");
	if (!mixer || (mixer[6] && mixer[6] != '.'))
		return false;
	snprintf(other, sizeof(other), "%.*s.*%s", (int)(mixer - any), any, mixer + 6);
	return glob(other, name, steps);
}

/* A name or a glob. */
static bool means_plain(const char *text, const char *name, uint64_t *steps)
{
	const char *pattern = skip_prefix(text);
	char within[LENGTH_MAX + 2];

	*steps += strlen(pattern) + strlen(name);
	if (!strchr(pattern, '*'))
		return has_parts(name, pattern, strlen(pattern)) || is_fused(pattern, name) ||
		       is_alike(pattern, name, steps);
	if (glob(pattern, name, steps))
		return true;
	/* "layers.*.self_attn" means all within it */
	strcpy(within, pattern);
	strcat(within, ".*");
	return glob(within, name, steps) ||
	       (strstr(pattern, ".mixer") && is_alike(pattern, name, steps));
}

/* @name with @what in place of its first @len characters at @at. */
static bool renamed(const char *glob_text, const char *name, const char *at, size_t len,
		    const char *what, uint64_t *steps)
{
	char other[LENGTH_MAX * 3];
	size_t n = (size_t)(at - name);

	if (n + strlen(what) + strlen(at + len) >= sizeof(other))
		return false;
	memcpy(other, name, n);
	strcpy(other + n, what);
	strcat(other, at + len);
	return glob(glob_text, other, steps);
}

/* A regular expression sees names as the checkpoint has them: experts with numbers, fused. */
static bool means_stored(const char *text, const char *name, uint64_t *steps)
{
	static const char *const fused[][2] = {
		{ "q_proj", "qkv_proj" },      { "k_proj", "qkv_proj" },
		{ "v_proj", "qkv_proj" },      { "gate_proj", "gate_up_proj" },
		{ "up_proj", "gate_up_proj" },
	};
	const char *pattern = skip_prefix(text), *at = strstr(name, ".experts.");
	size_t i;

	if (glob(pattern, name, steps))
		return true;
	if (at && renamed(pattern, name, at, 9, ".experts.0.", steps))
		return true;
	for (i = 0; i < sizeof(fused) / sizeof(fused[0]); i++) {
		at = strstr(name, fused[i][0]);
		if (at && strstr(pattern, fused[i][1]) &&
		    renamed(pattern, name, at, strlen(fused[i][0]), fused[i][1], steps))
			return true;
	}
	return strstr(pattern, ".mixer") && is_alike(pattern, name, steps);
}

bool quant_pattern_means(const struct quant_pattern *pattern, const char *name, uint64_t *steps)
{
	const char *text = pattern->text;
	size_t i;

	name = skip_prefix(name);
	for (i = 0; i < pattern->n; i++, text += strlen(text) + 1)
		if (pattern->regex ? means_stored(text, name, steps) :
				     means_plain(text, name, steps))
			return true;
	return false;
}
