// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: models of a folder
 *
 * size-models FOLDER CATALOGUE: each row of FOLDER/models.csv against what is
 * made of the files in FOLDER/NAME: parameters, KV cache, bytes of weights.
 * The last line is JSON.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalogue/catalogue.h"
#include "sheet.h"
#include "size/kv.h"
#include "size/params.h"
#include "size/source.h"
#include "size/weights.h"

#define LINE_BYTES 8192
#define WITHIN 0.01

/**
 * struct tally - the last line, and what it leaves out
 */
struct tally {
	unsigned int sized;
	unsigned int of;
	unsigned int params;
	unsigned int kv;
	unsigned int weights;
	unsigned int weighed;
};

static double number(const struct sheet *sheet, const char *column)
{
	return strtod(sheet_get(sheet, column), NULL);
}

/* Half of the last digit given: 21e9 is 21,000,000,000 give or take 500,000,000. */
static double half_digit(const char *count)
{
	size_t n = strlen(count);
	double half = 0.5;

	while (n > 1 && count[n - 1] == '0') {
		half *= 10;
		n--;
	}
	return half;
}

/* Returns the relative error, and whether it is small enough for the kind of the count. */
static double params_error(const struct sheet *sheet, const struct model_params *p, bool *good)
{
	const char *text = sheet_get(sheet, "reference_text_params");
	const char *published = sheet_get(sheet, "params_total");
	bool whole = !*text;
	double want = strtod(whole ? published : text, NULL);
	double off = (double)(whole ? p->total : p->total - p->vision) - want;

	/* some checkpoints hold the layers for further tokens, others leave them out */
	if (whole && fabs(off + (double)p->mtp) < fabs(off))
		off += (double)p->mtp;
	*good = want > 0 && fabs(off) <= WITHIN * want;
	if (whole && !strcmp(sheet_get(sheet, "params_kind"), "rounded"))
		*good = fabs(off) <= half_digit(published) || fabs(off) <= 0.04 * want;
	return want > 0 ? off / want : NAN;
}

static bool kv_is_exact(const struct sheet *sheet, const struct cat_model *m)
{
	static const char *const columns[] = {
		"kv_bytes_per_token_ref", "kv_windowed_layers", "kv_state_bytes_ref",
	};
	const struct size_precision *bf16 = size_precision_get("bf16");
	const uint64_t got[] = {
		kv_growing_bytes(m, bf16), kv_windowed_layers(m), kv_state_bytes(m),
	};
	bool same = true;
	size_t i;

	for (i = 0; i < 3; i++) {
		const char *want = sheet_get(sheet, columns[i]);

		if (!*want || strtoull(want, NULL, 10) == got[i])
			continue;
		printf("    %s: %llu for %s\n", columns[i], (unsigned long long)got[i], want);
		same = false;
	}
	return same;
}

static double weight_error(const struct sheet *sheet, const struct size_stored *s)
{
	double want = number(sheet, "checkpoint_bytes");
	uint64_t bytes = s->bytes ? s->bytes : s->computed;

	return want > 0 ? (double)bytes / want - 1 : NAN;
}

static void one(const struct sheet *sheet, const char *folder,
		const struct cat_families *families, struct tally *t)
{
	const char *name = sheet_get(sheet, "name");
	struct size_stored stored;
	struct model_params params;
	struct fault f = { "" };
	double error, weight;
	char path[4096];
	bool good, exact;

	t->of++;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (stored_open(path, families, &stored, &f) || !stored.model.id) {
		printf("%-40s refused: %s\n", name, *f.text ? f.text : "no shape");
		return;
	}
	t->sized++;
	model_params(&stored.model, &params);
	error = params_error(sheet, &params, &good);
	weight = weight_error(sheet, &stored);
	printf("%-40s parameters %+.4f %%%s, with all parts %+.3f %%, weights ", name, 100 * error,
	       good ? "" : " WRONG",
	       100 * ((double)(params.total + params.mtp) / number(sheet, "params_total") - 1));
	if (isnan(weight))
		printf("not published\n");
	else
		printf("%+.3f %%\n", 100 * weight);
	exact = kv_is_exact(sheet, &stored.model);
	t->params += good;
	t->kv += exact;
	t->weighed += !isnan(weight);
	t->weights += fabs(weight) <= WITHIN;
	stored_free(&stored);
}

int main(int argc, char **argv)
{
	static char head[LINE_BYTES], line[LINE_BYTES], path[4096];
	struct tally t = { 0 };
	struct catalogue cat;
	struct sheet sheet;
	struct fault f;
	FILE *file;

	if (argc != 3) {
		fprintf(stderr, "size-models FOLDER CATALOGUE\n");
		return 2;
	}
	if (catalogue_load(&cat, argv[2], NULL, &f)) {
		fprintf(stderr, "%s\n", f.text);
		return 1;
	}
	snprintf(path, sizeof(path), "%s/models.csv", argv[1]);
	file = fopen(path, "re");
	if (!file || !fgets(head, sizeof(head), file)) {
		perror(path);
		return 1;
	}
	sheet.n = sheet_split(head, sheet.names);
	while (fgets(line, sizeof(line), file)) {
		memset(sheet.values, 0, sizeof(sheet.values));
		if (sheet_split(line, sheet.values) == sheet.n)
			one(&sheet, argv[1], &cat.families, &t);
	}
	fclose(file);
	catalogue_free(&cat);
	printf("weights within 1 %%: %u of the %u whose bytes are published\n", t.weights,
	       t.weighed);
	printf("{\"sized\":%u,\"of\":%u,\"params_within_1pct\":%u,\"kv_exact\":%u}\n", t.sized,
	       t.of, t.params, t.kv);
	return 0;
}
