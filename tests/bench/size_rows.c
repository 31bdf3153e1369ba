// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: rows of measured.csv and terms.csv
 *
 * Only columns that a user would know are read into the request: model and its
 * shape, workload, engine, GPUs; of the notes the length of a file and flags of the
 * command line. Source, id and the measured columns never reach it. Where the two
 * kinds of files differ, the name of a column decides.
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

/* The column of either kind of file. */
static const char *either(const struct sheet *sheet, const char *one, const char *other)
{
	const char *text = sheet_get(sheet, one);

	return *text ? text : sheet_get(sheet, other);
}

/* The names of a row of terms.csv come with it. */
static bool tells_terms(const struct sheet *sheet)
{
	size_t i;

	for (i = 0; i < sheet->n; i++)
		if (!strcmp(sheet->names[i], "weights_gib"))
			return true;
	return false;
}

/* "235,741" stands for 235.741 in some logs. */
static double decimal(const char *text)
{
	char buf[64];
	char *comma;

	snprintf(buf, sizeof(buf), "%s", text);
	comma = strchr(buf, ',');
	if (comma)
		*comma = '.';
	return strtod(buf, NULL);
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
	m->experts = (uint64_t)number(sheet, "experts");
	m->moe_ffn = (uint64_t)number(sheet, "moe_ffn");
	if (m->experts) {
		/* the file does not say how many a token visits; of few two do, of many eight */
		m->active_experts = m->experts > 16 ? 8 : 2;
		if (!m->moe_ffn)
			m->moe_ffn = m->ffn;
	}
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

static const char *const dense_families[] = {
	"llama", "qwen2", "qwen3", "gemma2", "gpt2", "opt", "bloom", "gpt-neox", "mpt",
	"falcon", "phi", NULL,
};

static const char *const expert_families[] = { "qwen3-moe", "mixtral", "qwen2-moe", NULL };
static const char *const latent_families[] = { "deepseek", NULL };
static const char *const gpt_families[] = { "gpt2", NULL };
static const char *const gated_families[] = { "llama", NULL };

/* Sizes of all latent attention that was published. */
static void shape_latent(struct cat_model *m)
{
	m->kv_lora = 512;
	m->rope_dim = 64;
	m->nope_dim = 128;
	m->value_dim = 128;
	m->q_lora = m->hidden > 2048 ? 1536 : 0;
	m->shared_experts = m->experts ? 1 : 0;
	m->dense_layers = m->layers > 60 ? 3 : 1;
	m->head_dim = 0;
}

/* The vocabulary of GPT-2, padded as Megatron-LM does; what its tests train with. */
static void shape_megatron(struct cat_model *m, unsigned int tp)
{
	uint64_t unit = 128ull * tp;

	if (!m->vocab)
		m->vocab = 50257;
	m->vocab = (m->vocab + unit - 1) / unit * unit;
	m->positions = 1024;
	m->tied = true;
}

static const char *const *families_of(const struct sheet *sheet, struct cat_model *m)
{
	const char *notes = sheet_get(sheet, "notes");

	if (!strcmp(sheet_get(sheet, "engine"), "megatron")) {
		bool gated = strstr(notes, "swiglu") || strstr(sheet_get(sheet, "model"), "swiglu");

		shape_megatron(m, count(sheet, "tp"));
		if (strstr(notes, "untie"))
			m->tied = false;
		/* the engine's own default with --swiglu: two thirds of 4 h, whole 64s */
		if (gated && m->ffn == 4 * m->hidden)
			m->ffn = m->ffn * 2 / 3 / 64 * 64;
		return gated ? gated_families : gpt_families;
	}
	if (!strcmp(sheet_get(sheet, "kind"), "mla")) {
		shape_latent(m);
		return latent_families;
	}
	return m->experts ? expert_families : dense_families;
}

/*
 * The family whose count comes nearest to the published one, as its config would say; and
 * whether its tables are tied, where the row does not tell.
 */
static void nearest_family(const struct catalogue *cat, const struct sheet *sheet,
			   struct cat_model *m, double published)
{
	const char *const *name = families_of(sheet, m);
	bool open = !*sheet_get(sheet, "tied") && tells_terms(sheet) && published > 0;
	struct cat_model shape = *m, built;
	double best = INFINITY, off;
	int tied;

	for (; *name; name++) {
		for (tied = open ? 0 : shape.tied; tied <= (open ? 1 : shape.tied); tied++) {
			struct cat_model as = shape;

			as.tied = tied;
			off = fabs((double)total_as(cat, &as, *name, &built) - published);
			if (!built.params.total || off >= best)
				continue;
			best = off;
			*m = built;
		}
	}
}

/* What is published is what is stored: a family's small tensors may differ. */
static void count_as_published(struct cat_model *m, double published)
{
	double off = published - (double)m->params.total;

	if (published <= 0 || fabs(off) > 0.2 * published)
		return;
	m->params.linear = (uint64_t)((double)m->params.linear + off);
	m->params.total = (uint64_t)((double)m->params.total + off);
}

static bool read_model(const struct sheet *sheet, const struct catalogue *cat,
		       struct size_row *row)
{
	double published = decimal(sheet_get(sheet, "params_b"));
	const struct cat_model *known;
	struct fault f;

	if (!cat_model_find(cat->models, cat->n_models, row->model_name, &known, &f)) {
		row->req.model = known;
		return true;
	}
	shape(sheet, &row->model);
	if (!row->model.hidden || !row->model.layers || !row->model.heads ||
	    (!row->model.vocab && strcmp(row->engine_name, "megatron"))) {
		row->req.given_params = (uint64_t)(published * 1e9);
		return row->req.given_params > 0;
	}
	nearest_family(cat, sheet, &row->model, published * 1e9);
	if (tells_terms(sheet))
		count_as_published(&row->model, published * 1e9);
	row->req.model = &row->model;
	return true;
}

/* --- the workload ------------------------------------------------------------- */

static bool has(const char *s, const char *word)
{
	return strcasestr(s, word) != NULL;
}

/* Of words that name a container of several formats, the format is in the model's name. */
static const char *named_format(const char *quant, const char *model)
{
	if (!has(quant, "compressed-tensors") && !has(quant, "modelslim"))
		return quant;
	if (has(model, "nvfp4"))
		return "nvfp4";
	if (has(model, "int4") || has(model, "w4a"))
		return "int4";
	if (has(model, "fp8"))
		return "fp8";
	return has(model, "w8a8") || has(model, "int8") ? "int8" : quant;
}

/* "Q4_K - Medium" is q4_k_m, "IQ4_XS - 4.25 bpw" iq4_xs; NULL: a mix that has no name here */
static const struct size_precision *gguf_format(const char *quant)
{
	char name[32];
	size_t n = 0;
	const char *dash = strstr(quant, " - "), *c;

	for (c = quant; *c && c != dash && n + 3 < sizeof(name); c++)
		name[n++] = (char)tolower(*c);
	if (dash && isalpha(dash[3])) {
		name[n++] = '_';
		name[n++] = (char)tolower(dash[3]);
	}
	name[n] = '\0';
	return size_precision_get(name);
}

static const struct size_precision *weights_of(const char *precision, const char *quant)
{
	bool bnb = has(quant, "bnb") || has(quant, "nf4") || has(quant, "bitsandbytes");

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
	if (has(text, "offload"))
		return 3;
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

static bool text_ends(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcasecmp(s + n - m, end);
}

static void read_training(const struct sheet *sheet, struct size_row *row)
{
	struct size_request *req = &row->req;
	const char *optimizer = sheet_get(sheet, "optimizer"), *precision = sheet_get(sheet, "precision");

	req->batch = count(sheet, "micro_batch");
	req->optimizer = optimizer_of(optimizer);
	/* mixed precision is the rule; a type alone is that of the weights */
	if (has(precision, "true") || has(precision, "pure") || has(optimizer, "bf16 params") ||
	    text_ends(optimizer, " bf16") || (req->task == SIZE_TRAIN && has(precision, "float16")))
		req->states = 1;
	req->recompute = recompute_of(sheet_get(sheet, "recompute"));
	if (*sheet_get(sheet, "zero"))
		req->zero = (int)number(sheet, "zero");
	req->flat = has(sheet_get(sheet, "recompute"), "FSDP");
	if (*sheet_get(sheet, "lora_rank"))
		req->rank = count(sheet, "lora_rank");
	req->targets = targets_of(sheet_get(sheet, "lora_target"));
	row->global_batch = strtod(either(sheet, "batch", "global_batch"), NULL);
}

static bool plain_format(const char *precision)
{
	return !*precision || has(precision, "bf16") || has(precision, "fp16") ||
	       has(precision, "fp32") || has(precision, "float16") || has(precision, "float32");
}

/* With the length of the file its mix of formats need not be known. */
static const struct size_precision *read_gguf(const struct sheet *sheet, const char *quant)
{
	const struct size_precision *known = gguf_format(quant);

	if (!known && strstr(sheet_get(sheet, "notes"), "file "))
		known = size_precision_get("q4_k_m");
	return known;
}

/* "litgpt-fsdp" runs as "litgpt" does, unless it has a profile of its own. */
static bool find_engine(const struct catalogue *cat, const char *name,
			const struct size_engine **engine)
{
	char part[48];
	struct fault f;
	char *dash;

	snprintf(part, sizeof(part), "%s", name);
	for (dash = part; *dash; dash++)
		*dash = *dash == '_' ? '-' : *dash;
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
	if (has(sheet_get(sheet, "precision"), "gguf"))
		req->precision = read_gguf(sheet, quant);
	else
		req->precision = weights_of(sheet_get(sheet, "precision"),
					    named_format(quant, row->model_name));
	if (!req->precision)
		return false;
	if (strchr(kv, '/'))
		return false;	/* keys and values differ */
	if (!strcmp(kv, "auto") || !strcmp(kv, "f16"))
		kv = "";
	if (*kv && size_precision_find(kv, &req->kv, &f)) {
		if (!has(kv, "8"))
			return false;
		req->kv = size_precision_get("fp8");
	}
	req->context = (uint64_t)strtod(either(sheet, "seq", "ctx"), NULL);
	req->flash = flag_of(sheet_get(sheet, "flash_attn"));
	req->compile = flag_of(sheet_get(sheet, "compile"));
	req->offload = has(sheet_get(sheet, "optimizer"), "offload");
	if (req->task == SIZE_INFER && !tells_terms(sheet))
		req->batch = count(sheet, "batch");
	else if (req->task != SIZE_INFER)
		read_training(sheet, row);
	row->profiled = find_engine(cat, row->engine_name, &req->engine);
	if (!row->profiled)
		req->engine = &engine_generic;
	return true;
}

/*
 * A replica has at least one micro-batch of the global batch: engines refuse more replicas.
 * Where a row has more, they are those of the machine, not of the run.
 */
static unsigned int replicas_of(const struct sheet *sheet)
{
	/* ranks that share experts are replicas: where a row has no other number, there are as many */
	unsigned int dp = *sheet_get(sheet, "dp") ? count(sheet, "dp") : count(sheet, "ep");
	unsigned int micro = count(sheet, "micro_batch");
	unsigned int global = (unsigned int)number(sheet, "global_batch");

	return global && *sheet_get(sheet, "micro_batch") && dp > global / micro
		? (global > micro ? global / micro : 1) : dp;
}

/* SGLang's tp counts all GPUs; dp of them are groups that each have the whole attention. */
static void read_groups(const struct sheet *sheet, struct size_row *row)
{
	unsigned int dp = count(sheet, "dp");
	struct size_layout *l = &row->layout;

	l->gpus = l->tp * l->pp > l->gpus ? l->tp * l->pp : l->gpus;
	if (strcmp(row->engine_name, "sglang") || dp < 2 || l->tp % dp)
		return;
	l->adp = dp;
	l->tp /= dp;
}

static void read_replicas(const struct sheet *sheet, struct size_layout *l)
{
	unsigned int all = l->tp * l->pp * l->cp * replicas_of(sheet);

	if (l->gpus < all || replicas_of(sheet) < count(sheet, "dp"))
		l->gpus = all;
}

static void read_layout(const struct sheet *sheet, struct size_row *row)
{
	struct size_layout *l = &row->layout;

	l->gpus = count(sheet, "gpus");
	l->tp = count(sheet, "tp");
	l->pp = count(sheet, "pp");
	l->cp = count(sheet, "cp");
	row->replicas_told = *sheet_get(sheet, "dp") || *sheet_get(sheet, "gpus");
	row->layout_told = l->gpus > 1 ? *sheet_get(sheet, "tp") || *sheet_get(sheet, "pp") ||
						*sheet_get(sheet, "dp")
					: row->replicas_told;
	if (tells_terms(sheet) && row->req.task != SIZE_INFER)
		read_replicas(sheet, l);
	if (tells_terms(sheet) && row->req.task == SIZE_INFER)
		read_groups(sheet, row);
	if (row->req.task == SIZE_INFER && !l->adp && l->gpus > l->tp * l->pp)
		l->pp = l->gpus / l->tp;
	row->req.tp = l->tp;
	row->req.pp = l->pp;
}

static void read_measured(const struct sheet *sheet, struct size_row *row)
{
	const char *kind = sheet_get(sheet, "memory_kind");

	row->measured = strtod(either(sheet, "measured_mem_gib_per_gpu", "total_gib"), NULL) * GIB_D;
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

/* --- what only terms.csv has --------------------------------------------------- */

static void read_told(const struct sheet *sheet, struct size_row *row)
{
	static const char *const columns[TOLD_TERMS] = {
		"weights_gib", "kv_gib", "activation_or_compute_gib", "state_gib", "total_gib",
	};
	unsigned long here = 0, all = 0;
	int i;

	for (i = 0; i < TOLD_TERMS; i++)
		row->told[i] = number(sheet, columns[i]) * GIB_D;
	row->kv_tokens = number(sheet, "kv_tokens");
	row->layers_here = 0;
	row->whole = sscanf(sheet_get(sheet, "offload_layers"), "%lu/%lu", &here, &all) != 2 ||
		     here >= all || !all;
	row->layers_here = here;
	/* a cache in the host's memory takes its attention with it */
	if (strstr(sheet_get(sheet, "notes"), "kv on host") && !strstr(sheet_get(sheet, "notes"), " KV "))
		row->whole = false;
}

/* Bits of the input table of a GGUF file: its base type, in thousandths. */
static unsigned int table_bits(const char *quant)
{
	static const struct {
		const char *start;
		unsigned int bits;
	} base[] = {
		{ "Q2_K", 2625 }, { "Q3_K", 3438 }, { "Q4_K", 4500 }, { "Q5_K", 5500 },
		{ "Q6_K", 6563 }, { "Q8_0", 8500 }, { "Q4_0", 4500 }, { "Q4_1", 5000 },
		{ "Q5_0", 5500 }, { "Q5_1", 6000 }, { "IQ4_XS", 4250 }, { "IQ4_NL", 4500 },
		{ "F16", 16000 }, { "BF16", 16000 }, { "F32", 32000 },
	};
	size_t i;

	for (i = 0; i < sizeof(base) / sizeof(base[0]); i++)
		if (!strncasecmp(quant, base[i].start, strlen(base[i].start)))
			return base[i].bits;
	return 0;
}

/* A GGUF file is as long as the log says; engines print that before they load it. */
static void read_file(const struct sheet *sheet, struct size_row *row)
{
	const char *at = strstr(sheet_get(sheet, "notes"), "file ");
	struct size_request *req = &row->req;
	unsigned int bits = table_bits(sheet_get(sheet, "quant"));

	if (at && strstr(at, " GiB"))
		req->exact_bytes = (uint64_t)(decimal(at + strlen("file ")) * GIB_D);
	if (req->exact_bytes && bits && req->model)
		req->table_bytes = req->model->vocab * req->model->hidden / 8000 * bits;
}

/* "0.6.4.post1", "V1 0.11", "V0 0.8.x": the second number, of the first line of versions */
static unsigned int minor_version(const char *text)
{
	const char *at = strstr(text, "0.");

	return at ? (unsigned int)strtoul(at + 2, NULL, 10) : 0;
}

/* Since 0.9 servers prepare for more sequences on large GPUs; A100 are not meant. */
static void read_prepared(const struct sheet *sheet, struct size_row *row)
{
	const char *version = sheet_get(sheet, "engine_version");
	unsigned int minor = minor_version(version);
	bool old = (minor && minor < 9) || !strncmp(version, "V0", 2);

	row->req.sequences = (uint64_t)number(sheet, "max_num_seqs");
	row->req.chunk = (uint64_t)number(sheet, "max_batched_tokens");
	if (!old && !has(sheet_get(sheet, "gpu_model"), "A100"))
		row->req.device = (uint64_t)row->gpu_bytes;
}

/* The kind of loss is no column, but a flag or a plug-in among the notes. */
static int loss_of(const struct sheet *sheet)
{
	const char *notes = sheet_get(sheet, "notes");

	if (has(notes, "fused CE") || has(notes, "/CE") || has(notes, "CutCrossEntropy"))
		return LOSS_FUSED;
	return has(notes, "chunked c") ? LOSS_CHUNKED : SIZE_UNSET;
}

/* What the command line of an engine says beside the common words. */
static void read_flags(const struct sheet *sheet, struct size_row *row)
{
	struct size_request *req = &row->req;
	const char *flash = sheet_get(sheet, "flash_attn");

	if (*sheet_get(sheet, "ubatch"))
		req->chunk = (uint64_t)number(sheet, "ubatch");
	if (*flash)
		req->flash = has(flash, "auto") || has(flash, "enabled") || atoi(flash) > 0;
	else if (req->engine->number[ENGINE_COMPUTE_BUFFER] > 0)
		req->flash = 0;	/* logs of those days have no line for it */
	if (req->task == SIZE_INFER)
		read_file(sheet, row);
	/* the output matrix counts as a layer more */
	if (!row->whole && req->model && row->layers_here + 1 < req->model->layers)
		req->host_layers = req->model->layers - row->layers_here;
	if (!strncmp(row->engine_name, "vllm", 4))
		read_prepared(sheet, row);
	if (req->task != SIZE_INFER)
		req->loss = loss_of(sheet);
	/* flags of a test of Megatron-LM are all among its notes */
	if (has(sheet_get(sheet, "source"), "/Megatron-LM "))
		req->sequence_parallel = has(sheet_get(sheet, "notes"), "sequence-parallel");
	if (strlen(sheet_get(sheet, "ep")))
		req->ep = count(sheet, "ep");
}

/*
 * Flags of Megatron-LM: "VPP=5" and "virtual stages 4" are groups of layers of a GPU,
 * "virtual stages 1" is a group of one layer; the name of a test says its expert tensor
 * parallel degree.
 */
static void read_expert_flags(const struct sheet *sheet, struct size_row *row)
{
	const char *notes = sheet_get(sheet, "notes"), *at = strstr(notes, "VPP=");
	const char *etp = strcasestr(row->model_name, "etp");
	struct size_request *req = &row->req;
	unsigned int stages = 0;

	if (at || (at = strstr(notes, "virtual stages ")))
		stages = (unsigned int)strtoul(at + strcspn(at, "0123456789;"), NULL, 10);
	if (stages == 1 && req->model && row->layout.pp > 1)
		stages = (unsigned int)req->model->layers / row->layout.pp;
	if (row->layout.pp > 1)
		req->virtual_stages = stages;
	if (etp && isdigit(etp[3]) && req->model && req->model->experts)
		req->etp = (unsigned int)strtoul(etp + 3, NULL, 10);
}

/* Tests of Megatron-LM without this flag multiply one expert after the other. */
static void read_expert_streams(const struct sheet *sheet, struct size_row *row)
{
	if (!has(sheet_get(sheet, "source"), "/Megatron-LM ") ||
	    has(sheet_get(sheet, "notes"), "moe-grouped-gemm"))
		return;
	row->engine = *row->req.engine;
	row->engine.number[ENGINE_EXPERT_STREAMS] = 0;
	row->req.engine = &row->engine;
}

/* A name that several products share is one of those: they have the same capability. */
static double capability_of(const struct sheet *sheet, const struct catalogue *cat)
{
	const struct cat_gpu *gpu;
	double capability;

	if (!cat_gpu_matches(cat->gpus, cat->n_gpus, sheet_get(sheet, "gpu_model"), &gpu, 1) ||
	    !cat_gpu_fact(gpu, GPU_CAPABILITY, &capability))
		return 0;
	return capability;
}

static void read_row(const struct sheet *sheet, const struct catalogue *cat, struct size_row *row)
{
	const char *score = sheet_get(sheet, "score");
	struct fault f = { "" };

	snprintf(row->id, sizeof(row->id), "%s", either(sheet, "id", "row"));
	snprintf(row->source, sizeof(row->source), "%s", sheet_get(sheet, "source"));
	snprintf(row->shape, sizeof(row->shape), "%s", sheet_get(sheet, "kind"));
	snprintf(row->model_name, sizeof(row->model_name), "%s", sheet_get(sheet, "model"));
	snprintf(row->engine_name, sizeof(row->engine_name), "%s", sheet_get(sheet, "engine"));
	snprintf(row->gpu_name, sizeof(row->gpu_name), "%s", sheet_get(sheet, "gpu_model"));
	row->gpu_bytes = number(sheet, "gpu_mem_gib") * GIB_D;
	size_request_init(&row->req);
	read_measured(sheet, row);
	if (tells_terms(sheet))
		read_told(sheet, row);
	if (!read_workload(sheet, cat, row)) {
		skip(row, "workload not understood");
	} else if (!read_model(sheet, cat, row)) {
		skip(row, "model shape missing");
	} else {
		/* without a length the default is taken, but nothing is scored */
		if (!row->req.context && !tells_terms(sheet))
			skip(row, "no sequence length");
		row->context_told = row->req.context > 0;
		read_layout(sheet, row);
		if (tells_terms(sheet))
			read_flags(sheet, row);
		if (!strcmp(row->engine_name, "megatron"))
			read_expert_flags(sheet, row);
		read_expert_streams(sheet, row);
		row->req.capability = capability_of(sheet, cat);
		row->usable = !size_request_check(&row->req, &f);
		if (!row->usable)
			skip(row, f.text);
	}
	if (*score && strncasecmp(score, "yes", 3))
		skip(row, score);
	if (!strncasecmp(sheet_get(sheet, "usable"), "no", 2)) {
		skip(row, sheet_get(sheet, "usable"));
		row->usable = false;
	}
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
