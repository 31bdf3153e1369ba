// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/size/spec.c ctl/size/log.c ctl/host/used.c ctl/size/source.c ctl/size/gguf.c ctl/size/safetensors.c ctl/size/scan.c ctl/size/config.c ctl/size/params.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/model.c ctl/size/facts.c ctl/size/weights.c ctl/base/units.c ctl/size/quant.c ctl/size/quant_torchao.c ctl/size/quant_tensor.c ctl/size/quant_match.c ctl/size/kv.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c
// packages: json-c
/*
 * Files of models: published counts from config.json to the last parameter,
 * exact bytes from headers, and one line with the field for what is broken.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalogue/catalogue.h"
#include "csv.h"
#include "host/used.h"
#include "size/config.h"
#include "size/kv.h"
#include "size/log.h"
#include "size/params.h"
#include "size/source.h"
#include "size/spec.h"
#include "tap.h"

/* --- config.json ------------------------------------------------------------- */

static struct catalogue cat;

static int gguf_of_all(const struct size_source *source, struct size_stored *out, struct fault *f)
{
	return gguf_read(&source, 1, &cat.families, out, f);
}

static void published(void)
{
	FILE *file = fopen("tests/data/configs/published.csv", "r");
	char line[CSV_LINE_MAX], path[256], *field[CSV_FIELDS_MAX];
	struct model_params params;
	struct size_stored stored;
	struct fault f = { "" };
	int n = 0;

	while (file && csv_next(file, line, field) == 2) {
		snprintf(path, sizeof(path), "tests/data/configs/%s", field[0]);
		if (!ok(!stored_open(path, &cat.families, &stored, &f), "%s is read %s", field[0], f.text))
			continue;
		model_params(&stored.model, &params);
		is_int((intmax_t)params.total, (intmax_t)csv_number(field[1]), field[0]);
		stored_free(&stored);
		n++;
	}
	is_int(n, 53, "all published counts");
	printf("# count size.published_counts %d\n", n);
	if (file)
		fclose(file);
}

#define LLAMA "{\"model_type\":\"llama\",\"hidden_size\":64,\"num_hidden_layers\":2," \
	"\"intermediate_size\":128,\"vocab_size\":100"

static void config(const char *text, int want, const char *part)
{
	struct cat_model model = { 0 };
	struct fault f = { "" };
	char unknown[64];
	struct json_object *object = size_config_object(text, strlen(text), &f);
	int err = object ? size_config_model(object, &cat.families, &model, unknown, NULL, NULL, &f)
			 : -EINVAL;

	json_object_put(object);

	ok(err == want && (!err || strstr(f.text, part)), "config %.60s: %d, \"%s\" in: %s", text,
	   err, part, f.text);
	ok(!strchr(f.text, '\n'), "in one line");
	if (!err)
		size_model_drop(&model);
}

static void configs(void)
{
	config(LLAMA ",\"num_attention_heads\":4}", 0, "");
	config(LLAMA ",\"num_attention_heads\":3}", -EINVAL, "does not divide hidden_size");
	config(LLAMA ",\"num_attention_heads\":-4}", -ERANGE, "num_attention_heads: -4");
	config(LLAMA ",\"num_attention_heads\":0}", -EINVAL, "num_attention_heads: must be more");
	config(LLAMA ",\"num_attention_heads\":99999999999999999999}", -ERANGE, "num_attention");
	config(LLAMA ",\"num_attention_heads\":4.5}", -EINVAL, "not a whole number");
	config(LLAMA ",\"num_attention_heads\":\"4\"}", -EINVAL, "not a whole number");
	config(LLAMA "}", -EINVAL, "num_attention_heads is missing");
	config(LLAMA, -EINVAL, "not a JSON object");
	config("", -EINVAL, "not a JSON object");
	config("[1]", -EINVAL, "not a JSON object");
	config("{}", -EINVAL, "model_type is missing");
	config("{\"model_type\":\"nameless\"}", -EINVAL, "\"nameless\" is not known");
	config("{\"model_type\":7}", -EINVAL, "model_type is missing");
	config(LLAMA ",\"num_attention_heads\":4,\"num_key_value_heads\":3}", -EINVAL,
	       "multiple of kv_heads");
	config("{\"model_type\":\"mixtral\",\"hidden_size\":64,\"num_hidden_layers\":2,"
	       "\"intermediate_size\":128,\"vocab_size\":100,\"num_attention_heads\":4}",
	       -EINVAL, "experts");
}

/* --- bytes in memory ----------------------------------------------------------- */

struct memory {
	const unsigned char *data;
	size_t size;
};

static int read_memory(void *arg, uint64_t offset, void *buf, size_t n)
{
	const struct memory *m = arg;

	if (offset > m->size || n > m->size - offset)
		return -EIO;
	memcpy(buf, m->data + offset, n);
	return 0;
}

/* A copy of its own size, so that reading behind its end is seen. */
static int parse(int (*parser)(const struct size_source *, struct size_stored *, struct fault *),
		 const void *data, size_t size, uint64_t pretend, struct size_stored *out,
		 struct fault *f)
{
	unsigned char *copy = malloc(size ? size : 1);
	struct memory memory = { copy, size };
	struct size_source source = { read_memory, &memory, pretend ? pretend : size };
	int err;

	memcpy(copy, data, size);
	err = parser(&source, out, f);
	free(copy);
	return err;
}

static size_t tensors(unsigned char *buf, const char *json, uint64_t length)
{
	size_t n = strlen(json), i;

	for (i = 0; i < 8; i++)
		buf[i] = (unsigned char)(length >> 8 * i);
	memcpy(buf + 8, json, n);
	return n + 8;
}

static void header(const char *json, uint64_t length, uint64_t data, int want, const char *part)
{
	unsigned char buf[2048];
	struct size_stored stored;
	struct fault f = { "" };
	size_t n = tensors(buf, json, length ? length : strlen(json));
	int err = parse(safetensors_read, buf, n, n + data, &stored, &f);

	ok(err == want && (!err || strstr(f.text, part)), "safetensors %.60s: %d, \"%s\" in: %s",
	   json, err, part, f.text);
	stored_free(&stored);
}

#define ONE(dtype, shape, from, to) "{\"a\":{\"dtype\":\"" dtype "\",\"shape\":" shape \
	",\"data_offsets\":[" #from "," #to "]}}"

static void safetensors(void)
{
	static const char two[] = "{\"__metadata__\":{\"format\":\"pt\"},"
		"\"a\":{\"dtype\":\"BF16\",\"shape\":[3,5],\"data_offsets\":[0,30]},"
		"\"b\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[30,34]}}  ";
	unsigned char buf[2048];
	struct size_stored stored;
	struct fault f = { "" };
	size_t n = tensors(buf, two, strlen(two));

	ok(!parse(safetensors_read, buf, n, n + 34, &stored, &f), "two tensors %s", f.text);
	is_int((intmax_t)stored.bytes, 34, "their bytes");
	is_int((intmax_t)stored.params, 16, "their numbers");
	is_int((intmax_t)stored.n_dtypes, 2, "their formats");
	is_int((intmax_t)stored.missing, 0, "nothing is missing");
	ok(!parse(safetensors_read, buf, n, n, &stored, &f) && stored.missing == 34,
	   "a header alone says how much is missing");
	header(ONE("BF16", "[2]", 0, 4), 0, 4, 0, "");
	header(ONE("BF16", "[2]", 0, 4), 1ull << 40, 4, -EINVAL, "beyond the file");
	header(ONE("BF16", "[2]", 0, 5), 0, 8, -EINVAL, "disagree");
	header(ONE("BF16", "[2]", 4, 0), 0, 8, -EINVAL, "backwards");
	header(ONE("X9", "[2]", 0, 4), 0, 4, -ENOTSUP, "\"X9\" is not known");
	header(ONE("BF16", "[9999999999,9999999999]", 0, 4), 0, 4, -ERANGE, "64 bits");
	header(ONE("BF16", "[-2]", 0, 4), 0, 4, -ERANGE, "64 bits");
	header(ONE("BF16", "[2", 0, 4), 0, 4, -EINVAL, "tensor a");
	header("{\"a\":{\"dtype\":\"BF16\"}}", 0, 0, -EINVAL, "shape is missing");
	header("{\"a\":", 0, 0, -EINVAL, "cut off");
	header("{\"a\":1}", 0, 0, -EINVAL, "header");
	header("[[[[[[[[[[[[[[[[[[[[[[", 0, 0, -EINVAL, "header");
	header("{} x", 0, 0, -EINVAL, "after the end of the document");
	ok(parse(safetensors_read, "abc", 3, 0, &stored, &f) == -EINVAL, "three bytes: %s", f.text);
}

static void json_index(const char *text, int want, uint64_t bytes, const char *part)
{
	struct size_stored stored;
	struct fault f = { "" };
	int err = parse(safetensors_index, text, strlen(text), 0, &stored, &f);

	ok(err == want && (err ? strstr(f.text, part) != NULL : stored.bytes == bytes),
	   "index %.60s: %d %s", text, err, f.text);
	stored_free(&stored);
}

static void indexes(void)
{
	json_index("{\"metadata\":{\"total_size\":123},\"weight_map\":{\"a\":\"1\",\"b\":\"2\"}}", 0,
		   123, "");
	json_index("{\"metadata\":{\"total_size\":123.0}}", 0, 123, "");
	json_index("{\"metadata\":{\"total_size\":-1}}", -EINVAL, 0, "not a number of bytes");
	json_index("{\"metadata\":{\"total_size\":99999999999999999999999}}", -EINVAL, 0, "not a number of bytes");
	json_index("{\"metadata\":{\"total_size\":18446744073709551615}}", -EINVAL, 0, "not a number of bytes");
	json_index("{\"weight_map\":{}}", 0, 0, "");
	json_index("{\"metadata\":{\"total_size\":0,\"total_parameters\":7}}", 0, 0, "");
	json_index("{\"weight_map\":[]}", -EINVAL, 0, "not an object");
	json_index("{\"a\":1,}", -EINVAL, 0, "key is missing");
}

/* --- GGUF ------------------------------------------------------------------------ */

static unsigned char blob[4096];
static size_t blob_size;

static void put(const void *data, size_t n)
{
	memcpy(blob + blob_size, data, n);
	blob_size += n;
}

static void u32(uint32_t n)
{
	put(&n, 4);
}

static void u64(uint64_t n)
{
	put(&n, 8);
}

static void str(const char *s)
{
	u64(strlen(s));
	put(s, strlen(s));
}

static void pair(const char *key, uint32_t value)
{
	str(key);
	u32(4);
	u32(value);
}

static void start(uint64_t n_tensors, uint64_t n_pairs)
{
	blob_size = 0;
	put("GGUF", 4);
	u32(3);
	u64(n_tensors);
	u64(n_pairs);
}

static void tensor(const char *name, uint64_t a, uint64_t b, uint32_t type)
{
	str(name);
	u32(2);
	u64(a);
	u64(b);
	u32(type);
	u64(0);
}

static void gguf_fails(int want, const char *part)
{
	struct size_stored stored;
	struct fault f = { "" };
	int err = parse(gguf_of_all, blob, blob_size, 0, &stored, &f);

	ok(err == want && strstr(f.text, part), "GGUF: %d, \"%s\" in: %s", err, part, f.text);
	stored_free(&stored);
}

static void whole_gguf(void)
{
	start(3, 7);
	str("general.architecture");
	u32(8);
	str("llama");
	pair("llama.block_count", 1);
	pair("llama.embedding_length", 256);
	pair("llama.feed_forward_length", 512);
	pair("llama.attention.head_count", 4);
	pair("llama.attention.head_count_kv", 2);
	str("tokenizer.ggml.tokens");
	u32(9);
	u32(8);
	u64(3);
	str("a");
	str("b");
	str("c");
	tensor("token_embd.weight", 256, 3, 14);
	tensor("blk.0.ffn_up.weight", 256, 512, 12);
	tensor("output_norm.weight", 256, 1, 0);
}

static void gguf(void)
{
	struct size_stored stored;
	struct fault f = { "" };
	size_t n, i;
	int bad = 0;

	whole_gguf();
	n = blob_size;
	ok(!parse(gguf_of_all, blob, n, 0, &stored, &f), "a file of three tensors %s", f.text);
	is_int((intmax_t)stored.bytes, 3 * 210 + 512 * 144 + 1024, "its bytes");
	is_int((intmax_t)stored.params, 256 * (3 + 512 + 1), "its numbers");
	is_str(stored.quant, "q4_k_m", "the format of most bytes");
	stored_free(&stored);
	for (i = 0; i < n; i++) {
		bad += parse(gguf_of_all, blob, i, 0, &stored, &f) == 0;
		stored_free(&stored);
	}
	is_int(bad, 0, "cut off anywhere it is refused");
	start(1ull << 60, 0);
	gguf_fails(-EINVAL, "beyond the file");
	start(0, 1ull << 60);
	gguf_fails(-EINVAL, "beyond the file");
	start(0, 0);
	gguf_fails(-EINVAL, "no tensors");
	blob[0] = 'X';
	gguf_fails(-EINVAL, "not a GGUF");
	start(1, 0);
	tensor("t", 256, 1, 77);
	gguf_fails(-ENOTSUP, "type 77");
	start(1, 0);
	tensor("t", 100, 1, 12);
	gguf_fails(-EINVAL, "blocks of 256");
	start(1, 0);
	tensor("t", 1ull << 40, 1ull << 40, 0);
	gguf_fails(-ERANGE, "64 bits");
	start(0, 1);
	str("k");
	u32(99);
	u64(0);
	gguf_fails(-EINVAL, "type 99");
	start(0, 1);
	u64(1ull << 50);
	gguf_fails(-EINVAL, "beyond the file");
}

/* A list of numbers by layer, as GGUF has it. */
static void list(const char *key, uint32_t kind, const uint32_t *values, uint64_t n)
{
	uint64_t i;

	str(key);
	u32(9);
	u32(kind);
	u64(n);
	for (i = 0; i < n; i++)
		put(&values[i], kind == 7 ? 1 : 4);
}

static void gguf_shape(const char *arch, uint64_t pairs, uint64_t tensors)
{
	char key[64];

	start(tensors, pairs + 7);
	str("general.architecture");
	u32(8);
	str(arch);
#define PAIR(name, value) (snprintf(key, sizeof(key), "%s." name, arch), pair(key, value))
	PAIR("vocab_size", 1000);
	PAIR("context_length", 4096);
	PAIR("block_count", 12);
	PAIR("embedding_length", 256);
	PAIR("feed_forward_length", 512);
	PAIR("attention.head_count", 8);
#undef PAIR
}

/* What a shape keeps of 10,000 tokens in 16 bits. */
static void gguf_cache(const char *what, uint64_t want)
{
	struct size_stored stored;
	struct fault f = { "" };

	tensor("token_embd.weight", 256, 1000, 1);
	if (ok(!parse(gguf_of_all, blob, blob_size, 0, &stored, &f) && stored.model.id,
	       "%s %s %s", what, f.text, stored.why))
		is_int((intmax_t)kv_bytes(&stored.model, size_precision_get("bf16"), 10000, 1, 1),
		       (intmax_t)want, what);
	stored_free(&stored);
}

static void gguf_caches(void)
{
	static const uint32_t heads[12] = { 8, 1, 8, 1, 8, 1, 8, 1, 8, 1, 8, 1 };
	static const uint32_t full[12] = { 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0 };
	static const uint32_t sparse[12] = { 0, 0, 2, 0, 0, 2, 0, 0, 2, 0, 0, 2 };
	struct size_stored stored;
	struct fault f = { "" };

	gguf_shape("gemma2", 3, 1);
	pair("gemma2.attention.head_count_kv", 4);
	pair("gemma2.attention.key_length", 64);
	pair("gemma2.attention.sliding_window", 100);
	gguf_cache("Gemma-2: every other layer has a window", 2 * 4 * 64 * 2 * (6 * 10000 + 6 * 100));
	gguf_shape("gemma3", 3, 1);
	pair("gemma3.attention.head_count_kv", 4);
	pair("gemma3.attention.key_length", 64);
	pair("gemma3.attention.sliding_window", 100);
	gguf_cache("Gemma-3: five of six layers", 2 * 4 * 64 * 2 * (2 * 10000 + 10 * 100));
	gguf_shape("gpt-oss", 4, 1);
	pair("gpt-oss.attention.head_count_kv", 4);
	pair("gpt-oss.attention.key_length", 64);
	pair("gpt-oss.attention.sliding_window", 100);
	list("gpt-oss.attention.sliding_window_pattern", 7, full, 12);
	gguf_cache("a list of windows", 2 * 4 * 64 * 2 * (3 * 10000 + 9 * 100));
	gguf_shape("llama", 1, 1);
	list("llama.attention.head_count_kv", 5, heads, 12);
	gguf_cache("a list of heads", 2 * (6 * 8 + 6 * 1) * 32 * 2 * 10000ull);
	gguf_shape("lfm2", 2, 1);
	list("lfm2.attention.head_count_kv", 5, sparse, 12);
	pair("lfm2.shortconv.l_cache", 3);
	gguf_cache("layers without heads are convolutions",
		   4 * 2 * 2 * 32 * 2 * 10000ull + 8 * 2 * 256 * 2);
	gguf_shape("deepseek2", 11, 1);
	pair("deepseek2.attention.head_count_kv", 1);
	pair("deepseek2.attention.key_length", 576);
	pair("deepseek2.attention.value_length", 512);
	pair("deepseek2.attention.key_length_mla", 192);
	pair("deepseek2.attention.value_length_mla", 128);
	pair("deepseek2.attention.kv_lora_rank", 512);
	pair("deepseek2.rope.dimension_count", 64);
	pair("deepseek2.expert_count", 8);
	pair("deepseek2.expert_used_count", 2);
	pair("deepseek2.expert_feed_forward_length", 64);
	pair("deepseek2.leading_dense_block_count", 1);
	gguf_cache("absorbed latent attention", 12 * 576 * 2 * 10000ull);
	gguf_shape("nameless", 0, 1);
	gguf_cache("an architecture that nobody knows", 12 * 2 * 8 * 32 * 2 * 10000ull);
	gguf_shape("llama", 0, 2);
	tensor("blk.0.ffn_up.weight", 256, 512, 40);
	tensor("blk.0.ffn_down.weight", 512, 256, 41);
	ok(!parse(gguf_of_all, blob, blob_size, 0, &stored, &f) &&
	   stored.bytes == 2048 * 36 + 1024 * 18, "NVFP4 and Q1_0 %s", f.text);
	stored_free(&stored);
}

/* --- folders ------------------------------------------------------------------------ */

static void write_file(const char *dir, const char *name, const char *text, size_t n)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (file) {
		fwrite(text, 1, n, file);
		fclose(file);
	}
}

static void folder(const char *what, const char *config, const char *index, uint64_t bytes,
		   uint64_t params, bool shape, const char *part)
{
	static const char one[] = "{\"a\":{\"dtype\":\"BF16\",\"shape\":[3,5],"
				  "\"data_offsets\":[0,30]}}";
	char dir[] = "/tmp/gpuctl-folder-XXXXXX", path[64];
	unsigned char shard[256];
	struct size_stored stored;
	struct fault f = { "" };
	int err;

	if (!mkdtemp(dir)) {
		ok(false, "a folder can be made");
		return;
	}
	write_file(dir, "model-00001-of-00001.safetensors", (const char *)shard,
		   tensors(shard, one, strlen(one)));
	if (config)
		write_file(dir, "config.json", config, strlen(config));
	if (index)
		write_file(dir, "model.safetensors.index.json", index, strlen(index));
	err = stored_open(dir, &cat.families, &stored, &f);
	ok(!err && stored.bytes == bytes && stored.params == params && !stored.model.id == !shape &&
	   (strstr(stored.unknown, part) || strstr(stored.why, part) ||
	    strstr(stored.unclear, part)),
	   "%s: %s%s%s%s", what, f.text, stored.unknown, stored.why, stored.unclear);
	stored_free(&stored);
	for (err = 0; err < 3; err++) {
		static const char *const names[] = { "config.json", "model.safetensors.index.json",
						     "model-00001-of-00001.safetensors" };

		snprintf(path, sizeof(path), "%s/%s", dir, names[err]);
		unlink(path);
	}
	rmdir(dir);
}

#define NAMELESS "{\"model_type\":\"nameless\",\"hidden_size\":64,\"num_hidden_layers\":2," \
	"\"intermediate_size\":128,\"vocab_size\":100,\"num_attention_heads\":4}"

/* A word that nobody knows: the file's keys tell what it is like. */
static void guessed(void)
{
	static const char text[] = "{\"model_type\":\"kimi_k9\",\"hidden_size\":64,"
		"\"num_hidden_layers\":2,\"intermediate_size\":128,\"vocab_size\":100,"
		"\"num_attention_heads\":4,\"kv_lora_rank\":32,\"qk_rope_head_dim\":8,"
		"\"qk_nope_head_dim\":16,\"v_head_dim\":16}";
	struct fault f = { "" };
	struct json_object *config = size_config_object(text, strlen(text), &f);
	struct cat_model model;
	char unknown[64];

	if (ok(!size_config_model(config, &cat.families, &model, unknown, NULL, NULL, &f),
	       "an unknown word around latent attention %s", f.text)) {
		is_str(unknown, "kimi_k9", "is said");
		is_int((intmax_t)kv_growing_bytes(&model, size_precision_get("bf16")),
		       2 * (32 + 8) * 2, "and keeps the latent");
		size_model_drop(&model);
	}
	json_object_put(config);
}

/* Parts of a file that no family reads are named. */
static void left_out(const char *more, const char *want)
{
	char text[1024];
	struct fault f = { "" };
	struct json_object *config;
	struct cat_model model;
	char unknown[64];

	snprintf(text, sizeof(text), "%s,\"num_attention_heads\":4%s}", LLAMA, more);
	config = size_config_object(text, strlen(text), &f);
	if (ok(!size_config_model(config, &cat.families, &model, unknown, NULL, NULL, &f),
	       "parts of a file%s %s", more, f.text)) {
		is_str(model.left_out, want, "what is left out");
		size_model_drop(&model);
	}
	json_object_put(config);
}

/* A list that has no entry for some layers is said. */
static void short_list(const char *list, const char *want)
{
	char text[512];
	struct fault f = { "" };
	struct json_object *config;
	struct cat_model model;
	char unknown[64];

	snprintf(text, sizeof(text), "{\"model_type\":\"llama\",\"hidden_size\":64,"
		 "\"num_hidden_layers\":4,\"intermediate_size\":128,\"vocab_size\":100,"
		 "\"num_attention_heads\":8,\"num_key_value_heads\":%s}", list);
	config = size_config_object(text, strlen(text), &f);
	if (ok(!size_config_model(config, &cat.families, &model, unknown, NULL, NULL, &f),
	       "heads %s %s", list, f.text)) {
		is_str(model.short_list, want, "the list that is too short");
		size_model_drop(&model);
	}
	json_object_put(config);
}

#define SEEN "{\"model_type\":\"new_vl\",\"text_config\":" LLAMA ",\"num_attention_heads\":4}"

/* A word that nobody knows around a text model: encoders are counted, or named. */
static void composite(const char *more, uint64_t vision, const char *want)
{
	char text[1024];
	struct fault f = { "" };
	struct json_object *config;
	struct cat_model model;
	char unknown[64];

	snprintf(text, sizeof(text), "%s%s}", SEEN, more);
	config = size_config_object(text, strlen(text), &f);
	if (ok(!size_config_model(config, &cat.families, &model, unknown, NULL, NULL, &f),
	       "an unknown word around%s %s", more, f.text)) {
		is_str(unknown, "new_vl", "is said");
		is_str(model.left_out, want, "what is left out");
		is_int((intmax_t)model.params.vision, (intmax_t)vision, "what is counted");
		is_int((intmax_t)model.layers, 2, "layers of the text");
		size_model_drop(&model);
	}
	json_object_put(config);
}

/* A file cannot choose how long it takes. */
static void long_lists(void)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int i;

	fprintf(file, "{\"model_type\":\"qwen3_moe\",\"hidden_size\":64,\"num_hidden_layers\":4000,"
		"\"intermediate_size\":128,\"vocab_size\":100,\"num_attention_heads\":4,"
		"\"num_experts\":8,\"num_experts_per_tok\":2,\"moe_intermediate_size\":32,"
		"\"mlp_only_layers\":[-1");
	for (i = 0; i < 4000; i++)
		fprintf(file, ",%d", -i);
	fprintf(file, "]}");
	fclose(file);
	config(text, -EINVAL, "mlp_only_layers: too long");
	free(text);
}

/* A folder with these files of 30 bytes of weights each. */
static void counted(const char *what, const char *const *files, const char *name, const char *text,
		    uint64_t want)
{
	static const char one[] = "{\"a\":{\"dtype\":\"BF16\",\"shape\":[3,5],"
				  "\"data_offsets\":[0,30]}}";
	char dir[] = "/tmp/gpuctl-folder-XXXXXX", command[128], path[128];
	unsigned char shard[256];
	struct size_stored stored;
	struct fault f = { "" };
	size_t i;

	if (!mkdtemp(dir)) {
		ok(false, "a folder can be made");
		return;
	}
	for (i = 0; files[i]; i++) {
		const char *slash = strchr(files[i], '/');

		if (slash) {
			snprintf(path, sizeof(path), "%s/%.*s", dir, (int)(slash - files[i]),
				 files[i]);
			mkdir(path, 0755);
		}
		write_file(dir, files[i], (const char *)shard, tensors(shard, one, strlen(one)));
	}
	if (name)
		write_file(dir, name, text, strlen(text));
	ok(!stored_open(dir, &cat.families, &stored, &f) && stored.bytes == want,
	   "%s: %llu bytes %s", what, (unsigned long long)stored.bytes, f.text);
	stored_free(&stored);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	ok(!system(command), "the folder is gone");
}

/* No weights are counted twice. */
static void copies(void)
{
	counted("an index names the files",
		(const char *const[]){ "model-1.safetensors", "model-2.safetensors",
				       "model.safetensors-3.safetensors", NULL },
		"model.safetensors.index.json",
		"{\"weight_map\":{\"a\":\"model-1.safetensors\",\"b\":\"model-2.safetensors\"}}", 60);
	counted("shards, another layout of them, an adapter",
		(const char *const[]){ "model-1.safetensors", "consolidated-1.safetensors",
				       "adapter_model.safetensors", NULL },
		NULL, NULL, 30);
	counted("an adapter alone", (const char *const[]){ "adapter_model.safetensors", NULL }, NULL,
		NULL, 30);
	counted("two formats",
		(const char *const[]){ "x.safetensors", "x.fp16.safetensors", NULL }, NULL, NULL, 30);
	counted("one format", (const char *const[]){ "x.fp16.safetensors", NULL }, NULL, NULL, 30);
	counted("a pipeline, and all of it in one file",
		(const char *const[]){ "flux1-dev.safetensors", "transformer/d.safetensors",
				       "vae/d.safetensors", "other/d.safetensors",
				       "safety/d.safetensors", NULL },
		"model_index.json",
		"{\"_class_name\":\"FluxPipeline\",\"transformer\":[\"diffusers\",\"T\"],"
		"\"vae\":[\"diffusers\",\"A\"],\"safety\":[null,null]}", 60);
}

static void folders(void)
{
	guessed();
	copies();
	left_out("", "");
	left_out(",\"talker_config\":{\"hidden_size\":64},\"rope_config\":{\"a\":1},"
		 "\"img_processor\":{\"name\":\"clip\"}", "talker_config, img_processor");
	left_out(",\"generation_config\":{\"a\":1},\"slice_config\":{\"a\":1},\"empty_config\":{}", "");
	short_list("[8,8,4,4]", "");
	short_list("[]", "");
	short_list("[8,4]", "num_key_value_heads");
	/* 588 x 32 + 4 x 32 + 3 x 32, a layer 4 x 32^2 + 2 x 32 x 64 + 9 x 32 + 64 */
	composite(",\"vision_config\":{\"hidden_size\":32,\"num_hidden_layers\":1,"
		  "\"intermediate_size\":64,\"image_size\":28,\"patch_size\":14}",
		  18816 + 128 + 96 + 4096 + 4096 + 352, "");
	composite(",\"vision_config\":{\"hidden_size\":\"x\",\"depth\":1,\"width\":2.5}", 0,
		  "vision_config");
	long_lists();
	folder("bytes that are not of the shape", LLAMA ",\"num_attention_heads\":4}",
	       "{\"metadata\":{\"total_size\":1000}}", 1000, 0, true, "but the shape makes");
	folder("an unknown word with an index", NAMELESS, "{\"metadata\":{\"total_size\":999}}", 999,
	       0, true, "nameless");
	folder("total_parameters", NAMELESS,
	       "{\"metadata\":{\"total_size\":999,\"total_parameters\":500}}", 999, 500, true, "");
	folder("an index without its sum", NAMELESS, "{\"metadata\":{\"total_size\":0}}", 30, 15,
	       true, "nameless");
	folder("not an index", NAMELESS, NULL, 30, 15, true, "nameless");
	folder("no config.json", NULL, NULL, 30, 15, false, "no config.json");
	folder("a config.json of no use", "{\"_class_name\":\"Flux\"}", NULL, 30, 15, false,
	       "model_type is missing");
}

/* --- a workload in a file ---------------------------------------------------------- */

static void spec(const char *text, int want, const char *part)
{
	struct size_spec s;
	struct fault f = { "" };
	int err = spec_parse(text, strlen(text), &s, &f);

	ok(err == want && (!err || strstr(f.text, part)), "spec %.40s: %d %s", text, err, f.text);
}

static void specs(void)
{
	struct size_spec s;
	struct fault f;
	static const char text[] = "{\"model\":\"llama-3.1-8b\",\"batch\":4,\"offload\":true,"
				   "\"flash\":\"on\",\"compile\":false}";

	ok(!spec_parse(text, strlen(text), &s, &f), "a workload");
	is_str(spec_get(&s, "batch"), "4", "numbers are words");
	is_str(spec_get(&s, "model"), "llama-3.1-8b", "as are words");
	is_str(spec_get(&s, "offload"), "true", "so are flags");
	is_str(spec_get(&s, "compile"), "false", "and what is not");
	spec("{\"batch\":[4]}", -EINVAL, "batch: neither");
	spec("{\"batch\":null}", -EINVAL, "batch: neither");
	spec("{\"batch\":", -EINVAL, "not a JSON object");
	spec("{\"batch\":\"\"}", -EINVAL, "1 to");
}

/* --- logs --------------------------------------------------------------------------- */

static void logs(void)
{
	static const char vllm[] =
		"model weights take 14.99GiB; PyTorch activation peak memory takes 1.25GiB; the rest";
	static const char llama[] = "load_tensors: CUDA0 model buffer size =  4096.00 MiB\n"
		"load_tensors: CUDA1 model buffer size =  1024.00 MiB\n"
		"load_tensors: CPU model buffer size =  9999.00 MiB\n"
		"x CUDA0 KV buffer size =   512.00 MiB\nx CUDA0 compute buffer size = 256 MiB";
	static const char torch[] = "GPU 0 ... Of the allocated memory 70.50 GiB is allocated";
	struct size_log log;
	uint64_t bytes;

	size_log_parse(vllm, strlen(vllm), &log);
	is_int((intmax_t)(log.weights / (1 << 20)), 15349, "weights of vLLM");
	is_int((intmax_t)(log.work / (1 << 20)), 1280, "activations of vLLM");
	size_log_parse(llama, strlen(llama), &log);
	is_int((intmax_t)(log.weights / (1 << 20)), 5120, "weights of llama.cpp on both devices");
	is_int((intmax_t)(log.kv / (1 << 20)), 512, "KV cache of llama.cpp");
	is_int((intmax_t)log.lines, 4, "lines that were understood");
	size_log_parse(torch, strlen(torch), &log);
	is_int((intmax_t)(log.allocated / (1 << 20)), 72192, "allocated of PyTorch");
	ok(used_from_smi("00000000:01:00.0, 100\n0000000A:02:00.0, 71234 MiB\n", "000a:02:00.0",
			 &bytes) && bytes == 71234ull << 20, "a GPU in the output of nvidia-smi");
	ok(!used_from_smi("00000000:01:00.0, [N/A]\n,\n\nx", "0000:01:00.0", &bytes) &&
	   !used_from_smi("", "0000:01:00.0", &bytes), "and none");
	size_log_parse("nothing\n", 8, &log);
	is_int((intmax_t)log.lines, 0, "nothing");
}

int main(void)
{
	struct fault f = { "" };

	if (!ok(!catalogue_load(&cat, "ctl/catalogue", NULL, &f), "the catalogue %s", f.text))
		return tap_done();
	logs();
	published();
	configs();
	safetensors();
	indexes();
	gguf();
	gguf_caches();
	folders();
	specs();
	catalogue_free(&cat);
	return tap_done();
}
