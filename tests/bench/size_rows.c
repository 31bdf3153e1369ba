// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: rows of measured.csv
 *
 * Only columns that a user would know are read into the request: model and its
 * shape, workload, engine, GPUs. Source, id, notes and the measured columns
 * never reach it.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalogue/build.h"
#include "sheet.h"
#include "size/estimate.h"
#include "size_rows.h"

#define GIB_D ((double)(1ull << 30))

static double number(const struct sheet *sheet, const char *name)
{
	return strtod(sheet_get(sheet, name), NULL);
}

static unsigned int count(const struct sheet *sheet, const char *name)
{
	double n = number(sheet, name);

	return n >= 1 ? (unsigned int)n : 1;
}

/* --- the model --------------------------------------------------------------- */

static void shape(const struct sheet *sheet, struct cat_model *m)
{
	m->hidden = (uint64_t)number(sheet, "hidden");
	m->layers = (uint64_t)number(sheet, "layers");
	m->heads = (uint64_t)number(sheet, "heads");
	m->kv_heads = (uint64_t)number(sheet, "kv_heads");
	m->head_dim = (uint64_t)number(sheet, "head_dim");
	m->ffn = (uint64_t)number(sheet, "ffn");
	m->vocab = (uint64_t)number(sheet, "vocab");
	m->tied = number(sheet, "tied") > 0;
	m->positions = 2048;
	m->layer_norms = 2;
	if (!m->kv_heads)
		m->kv_heads = m->heads;
	if (!m->head_dim && m->heads)
		m->head_dim = m->hidden / m->heads;
	if (!m->ffn)
		m->ffn = 4 * m->hidden;
}

static uint64_t total_as(const struct catalogue *cat, const struct cat_model *shape,
			 const char *family, struct cat_model *out)
{
	struct model_plan plan = { .families = &cat->families,
				   .family = family_get(&cat->families, family) };
	struct fault f = { "" };

	*out = *shape;
	out->tied_given = true;
	if (!plan.family || cat_model_build(&plan, out, &f))
		return 0;
	return out->params.total;
}

/* The family whose count comes nearest to the published one, as its config would say. */
static void nearest_family(const struct catalogue *cat, struct cat_model *m, double published)
{
	static const char *const dense[] = {
		"llama", "qwen2", "qwen3", "gemma2", "gpt2", "opt", "bloom", "gpt-neox", "mpt",
		"falcon", "phi",
	};
	struct cat_model shape = *m, built;
	double best = INFINITY, off;
	size_t i;

	for (i = 0; i < sizeof(dense) / sizeof(dense[0]); i++) {
		off = fabs((double)total_as(cat, &shape, dense[i], &built) - published);
		if (off < best) {
			best = off;
			*m = built;
		}
	}
}

static bool read_model(const struct sheet *sheet, const struct catalogue *cat,
		       struct size_row *row)
{
	const struct cat_model *known;
	struct fault f;

	if (!cat_model_find(cat->models, cat->n_models, row->model_name, &known, &f)) {
		row->req.model = known;
		return true;
	}
	shape(sheet, &row->model);
	if (!row->model.hidden || !row->model.layers || !row->model.heads || !row->model.vocab) {
		row->req.given_params = (uint64_t)(number(sheet, "params_b") * 1e9);
		return row->req.given_params > 0;
	}
	nearest_family(cat, &row->model, number(sheet, "params_b") * 1e9);
	row->req.model = &row->model;
	return true;
}

/* --- the workload ------------------------------------------------------------- */

static bool has(const char *s, const char *word)
{
	return strcasestr(s, word) != NULL;
}

static const struct size_precision *weights_of(const char *precision, const char *quant)
{
	bool bnb = has(quant, "bnb") || has(quant, "nf4");

	if (has(quant, "nf4-dq") || has(quant, "double"))
		return size_precision_get("nf4-dq");
	if (bnb && !has(quant, "8"))
		return size_precision_get("nf4");
	if (has(quant, "awq"))
		return size_precision_get("awq");
	if (has(quant, "fp8") || has(quant, "float8"))
		return size_precision_get("fp8");
	if (has(quant, "int8") || has(quant, "8bit") || has(quant, "8-bit"))
		return size_precision_get("gptq-int8");
	if (has(quant, "int3"))
		return size_precision_get("gptq-int3");
	if (has(quant, "int4") || has(quant, "4bit") || has(quant, "4-bit") || has(quant, "gptq"))
		return size_precision_get("gptq-int4");
	if (*quant) {
		const struct size_precision *found;
		struct fault f;

		if (!size_precision_find(quant, &found, &f))
			return found;
		return NULL;
	}
	return size_precision_get(has(precision, "fp32") && !has(precision, "mixed") ? "fp32"
										    : "bf16");
}

static enum size_optimizer optimizer_of(const char *text)
{
	if (has(text, "8bit") || has(text, "8-bit"))
		return OPTIMIZER_ADAMW_8BIT;
	if (has(text, "adafactor"))
		return OPTIMIZER_ADAFACTOR;
	if (has(text, "lion"))
		return OPTIMIZER_LION;
	if (has(text, "sgd"))
		return OPTIMIZER_SGD;
	return has(text, "muon") ? OPTIMIZER_MUON : OPTIMIZER_ADAMW;
}

static int recompute_of(const char *text)
{
	if (has(text, "none"))
		return 0;
	if (has(text, "selective"))
		return 1;
	return has(text, "full") ? 2 : SIZE_UNSET;
}

static int flag_of(const char *text)
{
	return *text ? atoi(text) : SIZE_UNSET;
}

/* "q,v", "q_proj,v_proj", "c_attn,c_proj,w1,w2 ... + embed,lm_head trained" */
static unsigned int targets_of(const char *text)
{
	unsigned int targets = 0;

	if (has(text, "c_attn") || has(text, "query_key_value") || has(text, "all"))
		targets |= TARGET_QUERY | TARGET_KEY | TARGET_VALUE;
	if (has(text, "q,") || has(text, "q_proj"))
		targets |= TARGET_QUERY;
	if (has(text, "k,") || has(text, "k_proj"))
		targets |= TARGET_KEY;
	if (has(text, ",v") || has(text, "v_proj"))
		targets |= TARGET_VALUE;
	if (has(text, "o_proj") || has(text, "c_proj") || has(text, "all"))
		targets |= TARGET_OUTPUT;
	if (has(text, "w1") || has(text, "mlp") || has(text, "up_proj") || has(text, "all"))
		targets |= TARGET_MLP;
	if (has(text, "embed"))
		targets |= TARGET_EMBEDDING;
	if (has(text, "lm_head"))
		targets |= TARGET_HEAD;
	return targets ? targets : TARGET_LINEAR;
}

static void read_training(const struct sheet *sheet, struct size_row *row)
{
	struct size_request *req = &row->req;
	const char *optimizer = sheet_get(sheet, "optimizer"), *precision = sheet_get(sheet, "precision");

	req->batch = count(sheet, "micro_batch");
	req->optimizer = optimizer_of(optimizer);
	req->pure16 = has(precision, "true") || has(optimizer, "bf16 params");
	req->recompute = recompute_of(sheet_get(sheet, "recompute"));
	if (*sheet_get(sheet, "zero"))
		req->zero = (int)number(sheet, "zero");
	if (*sheet_get(sheet, "lora_rank"))
		req->rank = count(sheet, "lora_rank");
	req->targets = targets_of(sheet_get(sheet, "lora_target"));
	row->global_batch = number(sheet, "batch");
}

static bool plain_format(const char *precision)
{
	return !*precision || has(precision, "bf16") || has(precision, "fp16") ||
	       has(precision, "fp32") || has(precision, "float16") || has(precision, "float32");
}

/* "litgpt-fsdp" runs as "litgpt" does, unless it has a profile of its own. */
static bool find_engine(const struct catalogue *cat, const char *name,
			const struct size_engine **engine)
{
	char part[48];
	struct fault f;
	char *dash;

	snprintf(part, sizeof(part), "%s", name);
	for (;;) {
		if (!engine_find(cat->engines, cat->n_engines, part, engine, &f))
			return *engine != &engine_generic;
		dash = strrchr(part, '-');
		if (!dash)
			return false;
		*dash = '\0';
	}
}

static bool read_workload(const struct sheet *sheet, const struct catalogue *cat,
			  struct size_row *row)
{
	struct size_request *req = &row->req;
	const char *kv = sheet_get(sheet, "kv_dtype"), *quant = sheet_get(sheet, "quant");
	struct fault f;

	if (size_task_find(sheet_get(sheet, "task"), &req->task, &f))
		return false;
	/* for inference the format of the weights may stand in either column */
	if (req->task == SIZE_INFER && !*quant && !plain_format(sheet_get(sheet, "precision")))
		quant = sheet_get(sheet, "precision");
	req->precision = weights_of(sheet_get(sheet, "precision"), quant);
	if (!req->precision)
		return false;
	if (*kv && size_precision_find(kv, &req->kv, &f)) {
		if (!has(kv, "8"))
			return false;
		req->kv = size_precision_get("fp8");
	}
	req->context = (uint64_t)number(sheet, "seq");
	req->flash = flag_of(sheet_get(sheet, "flash_attn"));
	req->compile = flag_of(sheet_get(sheet, "compile"));
	req->offload = has(sheet_get(sheet, "optimizer"), "offload");
	if (req->task == SIZE_INFER)
		req->batch = count(sheet, "batch");
	else
		read_training(sheet, row);
	row->profiled = find_engine(cat, row->engine_name, &req->engine);
	if (!row->profiled)
		req->engine = &engine_generic;
	return true;
}

static void read_layout(const struct sheet *sheet, struct size_row *row)
{
	struct size_layout *l = &row->layout;

	l->gpus = count(sheet, "gpus");
	l->tp = count(sheet, "tp");
	l->pp = count(sheet, "pp");
	l->cp = count(sheet, "cp");
	if (row->req.task == SIZE_INFER && l->gpus > l->tp * l->pp)
		l->pp = l->gpus / l->tp;
	row->req.tp = l->tp;
	row->req.pp = l->pp;
}

static void read_measured(const struct sheet *sheet, struct size_row *row)
{
	const char *kind = sheet_get(sheet, "memory_kind");

	row->measured = number(sheet, "measured_mem_gib_per_gpu") * GIB_D;
	row->kind = !strcmp(kind, "allocated") ? MEMORY_ALLOCATED
		    : !strcmp(kind, "reserved") ? MEMORY_RESERVED : MEMORY_DEVICE;
	row->oom = !strcasecmp(sheet_get(sheet, "outcome"), "oom");
	row->tokens_per_s = number(sheet, "tokens_per_s_per_gpu");
	row->mfu = number(sheet, "mfu_pct");
	row->tflops = number(sheet, "tflops_per_gpu");
	row->gpu_hours = number(sheet, "gpu_hours");
	row->tokens_trained = number(sheet, "tokens_trained");
}

static void skip(struct size_row *row, const char *why)
{
	snprintf(row->skip, sizeof(row->skip), "%s", why);
}

static void read_row(const struct sheet *sheet, const struct catalogue *cat, struct size_row *row)
{
	const char *score = sheet_get(sheet, "score");
	struct fault f = { "" };

	snprintf(row->id, sizeof(row->id), "%s", sheet_get(sheet, "id"));
	snprintf(row->model_name, sizeof(row->model_name), "%s", sheet_get(sheet, "model"));
	snprintf(row->engine_name, sizeof(row->engine_name), "%s", sheet_get(sheet, "engine"));
	snprintf(row->gpu_name, sizeof(row->gpu_name), "%s", sheet_get(sheet, "gpu_model"));
	row->gpu_bytes = number(sheet, "gpu_mem_gib") * GIB_D;
	size_request_init(&row->req);
	read_measured(sheet, row);
	if (!read_workload(sheet, cat, row)) {
		skip(row, "workload not understood");
	} else if (!read_model(sheet, cat, row)) {
		skip(row, "model shape missing");
	} else {
		/* without a length the default is taken, but nothing is scored */
		if (!row->req.context)
			skip(row, "no sequence length");
		read_layout(sheet, row);
		row->usable = !size_request_check(&row->req, &f);
		if (!row->usable)
			skip(row, f.text);
	}
	if (*score && strncasecmp(score, "yes", 3))
		skip(row, score);
}

/* Requests point at their row, so all rows are allocated at once. */
static size_t count_lines(FILE *file)
{
	size_t n = 1;
	int c;

	while ((c = getc(file)) != EOF)
		n += c == '\n';
	rewind(file);
	return n;
}

struct size_row *size_rows_read(const char *path, const struct catalogue *cat, size_t *n)
{
	FILE *file = fopen(path, "r");
	struct size_row *rows = NULL;
	char *head = NULL, *line = NULL;
	size_t size = 0;
	struct sheet sheet = { 0 };

	*n = 0;
	if (file)
		rows = calloc(count_lines(file), sizeof(*rows));
	if (!file || !rows || getline(&head, &size, file) < 0) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return NULL;
	}
	sheet.n = sheet_split(head, sheet.names);
	while (size = 0, line = NULL, getline(&line, &size, file) > 0) {
		size_t fields = sheet_split(line, sheet.values);

		while (fields < sheet.n)
			sheet.values[fields++] = NULL;
		read_row(&sheet, cat, &rows[(*n)++]);
		free(line);
	}
	free(line);
	free(head);
	fclose(file);
	return rows;
}
