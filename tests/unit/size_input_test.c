// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/lib/text.c ctl/size/spec.c ctl/size/log.c ctl/lib/used.c ctl/size/source.c ctl/size/gguf.c ctl/size/safetensors.c ctl/size/scan.c ctl/size/config.c ctl/size/params.c ctl/catalogue/conf.c ctl/catalogue/fault.c ctl/catalogue/model.c
// packages: json-c
/*
 * Files of models: published counts from config.json to the last parameter,
 * exact bytes from headers, and one line with the field for what is broken.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "csv.h"
#include "lib/used.h"
#include "size/config.h"
#include "size/log.h"
#include "size/params.h"
#include "size/source.h"
#include "size/spec.h"
#include "tap.h"

/* --- config.json ------------------------------------------------------------- */

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
		if (!ok(!stored_open(path, &stored, &f), "%s is read %s", field[0], f.text))
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
	struct cat_model model;
	struct fault f = { "" };
	char quant[16];
	int err = size_config_parse(text, strlen(text), &model, quant, &f);

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
	config("{\"model_type\":\"rwkv\"}", -ENOTSUP, "\"rwkv\" is not known");
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
	header("{} x", 0, 0, -EINVAL, "behind the document");
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
	json_index("{\"metadata\":{\"total_size\":-1}}", -EINVAL, 0, "no count of bytes");
	json_index("{\"metadata\":{\"total_size\":99999999999999999999999}}", -EINVAL, 0, "no count");
	json_index("{\"weight_map\":{}}", -EINVAL, 0, "total_size is missing");
	json_index("{\"weight_map\":[]}", -EINVAL, 0, "no object");
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
	int err = parse(gguf_read, blob, blob_size, 0, &stored, &f);

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
	ok(!parse(gguf_read, blob, n, 0, &stored, &f), "a file of three tensors %s", f.text);
	is_int((intmax_t)stored.bytes, 3 * 210 + 512 * 144 + 1024, "its bytes");
	is_int((intmax_t)stored.params, 256 * (3 + 512 + 1), "its numbers");
	is_str(stored.quant, "q4_k_m", "the format of most bytes");
	stored_free(&stored);
	for (i = 0; i < n; i++) {
		bad += parse(gguf_read, blob, i, 0, &stored, &f) == 0;
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
	gguf_fails(-EINVAL, "no GGUF");
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
	ok(spec_get(&s, "offload") && !spec_get(&s, "compile"), "flags");
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
	logs();
	published();
	configs();
	safetensors();
	indexes();
	gguf();
	specs();
	return tap_done();
}
