// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding a model by the name that people type or paste from a hub. Dots count
 * ("3.1" is not "31"), case, dashes, underscores and blanks do not.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model.h"

#define FOLDED_MAX 128
#define SUGGESTIONS 6

/* Words behind a name that change the weights, not the shape. */
static const char *const suffixes[] = {
	"instruct", "chat", "base", "hf", "it", "text", "preview", "gptq", "awq", "gguf", "fp8",
};

static bool fold(const char *s, char *out)
{
	size_t n = 0;

	for (; *s; s++) {
		if (*s == '-' || *s == '_' || *s == ' ')
			continue;
		if (!isalnum((unsigned char)*s) && *s != '.')
			return false;
		if (n + 1 == FOLDED_MAX)
			return false;
		out[n++] = (char)tolower((unsigned char)*s);
	}
	out[n] = '\0';
	return n > 0;
}

static bool is_called(const struct cat_model *m, const char *folded)
{
	char own[FOLDED_MAX];
	size_t i;

	if ((fold(m->id, own) && !strcmp(own, folded)) ||
	    (fold(m->name, own) && !strcmp(own, folded)))
		return true;
	for (i = 0; i < m->n_aliases; i++)
		if (fold(m->aliases[i], own) && !strcmp(own, folded))
			return true;
	return false;
}

static const struct cat_model *by_folded(const struct cat_model *models, size_t n,
					 const char *folded)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (is_called(&models[i], folded))
			return &models[i];
	return NULL;
}

static bool cut_suffix(char *folded)
{
	size_t len = strlen(folded), i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t cut = strlen(suffixes[i]);

		if (len > cut && !strcmp(folded + len - cut, suffixes[i])) {
			folded[len - cut] = '\0';
			return true;
		}
	}
	return false;
}

/* How many characters two names share at the beginning. */
static size_t common(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

static void suggest(const struct cat_model *models, size_t n, const char *folded, struct fault *f)
{
	const char *lead = "; did you mean ";
	char own[FOLDED_MAX];
	size_t best = 3, shown = 0, i;

	for (i = 0; i < n; i++)
		if (fold(models[i].id, own) && common(own, folded) > best)
			best = common(own, folded);
	for (i = 0; i < n && shown < SUGGESTIONS; i++) {
		if (!fold(models[i].id, own) ||
		    (common(own, folded) < best && !strstr(own, folded)))
			continue;
		fault_add(f, "%s%s", lead, models[i].id);
		lead = ", ";
		shown++;
	}
	if (shown)
		fault_add(f, "?");
	else
		fault_add(f, "; 'gpuctl models' lists all, --params 70B needs none");
}

int cat_model_find(const struct cat_model *models, size_t n, const char *name,
		   const struct cat_model **out, struct fault *f)
{
	const char *slash = strrchr(name, '/');
	char folded[FOLDED_MAX];

	*out = NULL;
	if (!fold(slash ? slash + 1 : name, folded))
		return fault_set(f, ENOENT,
				 "no model is called \"%.80s\"; 'gpuctl models' lists all, --params 70B needs none",
				 name);
	do {
		*out = by_folded(models, n, folded);
		/* meta-llama/Meta-Llama-3.1-8B */
		if (!*out && !strncmp(folded, "metallama", 9))
			*out = by_folded(models, n, folded + 4);
	} while (!*out && cut_suffix(folded));
	if (*out)
		return 0;
	fold(slash ? slash + 1 : name, folded);
	fault_set(f, ENOENT, "no model is called \"%.80s\"", name);
	suggest(models, n, folded, f);
	return -ENOENT;
}
