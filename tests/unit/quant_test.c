// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/size/config.c ctl/size/facts.c ctl/size/quant.c ctl/size/quant_torchao.c ctl/size/quant_tensor.c ctl/size/quant_match.c ctl/size/weights.c ctl/size/params.c ctl/base/units.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c
// packages: json-c
/*
 * Stanzas of quantizers on the shape of Qwen3-8B: bits of a weight in the blocks,
 * of the output matrix and of the table by each format's own definition.
 */
#include "catalogue/catalogue.h"
#include "size/config.h"
#include "size/facts.h"
#include "size/quant.h"
#include "size/quant_match.h"
#include "tap.h"

#define SHAPE "{\"model_type\":\"qwen3\",\"hidden_size\":4096,\"num_hidden_layers\":36," \
	"\"num_attention_heads\":32,\"num_key_value_heads\":8,\"head_dim\":128," \
	"\"intermediate_size\":12288,\"vocab_size\":151936"
#define LINEAR 6945767424.
#define TABLE 622329856.
#define SMALL 308224.

static struct catalogue cat;

/* Bytes of the whole checkpoint within 0.1 %, the word for it, and the KV cache's. */
static void stanza(const char *what, const char *text, const char *beside, double bits,
		   double head, double table, const char *kv, bool unclear)
{
	char config[4096];
	struct fault f = { "" };
	struct json_object *object, *other = beside ? size_config_object(beside, strlen(beside), &f)
						    : NULL;
	struct cat_model model = { 0 };
	struct size_quant quant = { .n = 0 };
	struct quant_sum sum = { .quant = &quant };
	double want = LINEAR * bits + TABLE * (head + table) + SMALL * 16, got;
	char unknown[64];

	snprintf(config, sizeof(config), "%s%s}", SHAPE, text);
	object = size_config_object(config, strlen(config), &f);
	if (!object || quant_read(object, other, &quant, &f) ||
	    size_config_model(object, &cat.families, &model, unknown, quant_tensor, &sum, &f)) {
		ok(false, "%s: %s", what, f.text);
	} else {
		quant_check_rules(&quant);
		got = sum.bits[0] + sum.bits[1];
		ok(got > want * 0.999 && got < want * 1.001 && !strcmp(quant.kv, kv) &&
		   !*quant.unclear == !unclear,
		   "%s: %s, %.4f bits, off by %+.3f %%, KV \"%s\" %s", what, quant.name,
		   sum.bits[0] / sum.numbers[0], 100 * (got / want - 1), quant.kv, quant.unclear);
	}
	quant_drop(&quant);
	size_model_drop(&model);
	json_object_put(object);
	json_object_put(other);
}

#define Q(text) ",\"quantization_config\":{" text "}"
#define GROUP(weights) "\"quant_method\":\"compressed-tensors\",\"ignore\":[\"lm_head\"]," \
	"\"config_groups\":{\"group_0\":{\"targets\":[\"Linear\"],\"weights\":{" weights "}}}"

static void plain(const char *what, const char *text, double bits)
{
	stanza(what, text, NULL, bits, 16, 16, "", false);
}

#define AO(type, data) "{\"_type\":\"" type "\",\"_data\":{" data "},\"_version\":2}"
#define TORCHAO(more, config) Q("\"quant_method\":\"torchao\"," more "\"quant_type\":{\"default\":" config "}")
#define DTYPE(key, word) "\"" key "\":{\"_data\":\"" word "\",\"_type\":\"torch.dtype\"}"
#define GROUPS_OF(n) "{\"_type\":\"PerGroup\",\"_data\":{\"group_size\":" n "}}"
#define AXIS "{\"_type\":\"PerAxis\",\"_data\":{\"axis\":0}}"
#define INT8_INT4(more) AO("Int8DynamicActivationIntxWeightConfig", DTYPE("weight_dtype", "int4") \
	",\"weight_granularity\":" GROUPS_OF("32") ",\"intx_packing_format\":{\"_data\":" \
	"\"unpacked_to_int8\",\"_type\":\"IntxPackingFormat\"}" more)
#define INT8_TABLE AO("IntxWeightOnlyConfig", DTYPE("weight_dtype", "int8") ",\"granularity\":" AXIS)

/* What TorchAO stores: numbers of less than 8 bits are in 8 unless they are packed. */
static void torchao(void)
{
	plain("torchao", TORCHAO("", AO("Int4WeightOnlyConfig", "\"group_size\":128")), 4.25);
	plain("torchao, a word", Q("\"quant_method\":\"torchao\",\"quant_type\":\"int4_weight_only\""),
	      4.25);
	plain("torchao, a word with its group",
	      Q("\"quant_method\":\"torchao\",\"quant_type\":\"int4_weight_only\","
		"\"quant_type_kwargs\":{\"group_size\":32}"), 5);
	plain("torchao INT8-INT4", TORCHAO("", INT8_INT4("")), 8.75);
	plain("torchao INT8-INT4, scales in FP32",
	      TORCHAO("", INT8_INT4("," DTYPE("weight_scale_dtype", "float32"))), 9.25);
	plain("torchao INT8-INT4, a word", Q("\"quant_method\":\"torchao\",\"quant_type\":"
		"\"int8_dynamic_activation_int4_weight\""), 9);
	plain("torchao INT8-INT4, packed", TORCHAO("", AO("Int8DynamicActivationInt4WeightConfig",
		"\"group_size\":128,\"layout\":{\"_type\":\"MarlinQQQLayout\",\"_data\":{}}")), 4.25);
	plain("torchao INT8-INT8", TORCHAO("", AO("Int8DynamicActivationInt8WeightConfig",
		"\"granularity\":{\"_type\":\"PerRow\",\"_data\":{\"dim\":-1}}")), 8.005);
	plain("torchao FP8", TORCHAO("", AO("Float8DynamicActivationFloat8WeightConfig",
		DTYPE("weight_dtype", "float8_e4m3fn") ",\"granularity\":[{\"_type\":\"PerTensor\","
		"\"_data\":{}},{\"_type\":\"PerTensor\",\"_data\":{}}]")), 8);
	plain("torchao FP8 in blocks", TORCHAO("", AO("Float8DynamicActivationFloat8WeightConfig",
		"\"granularity\":[" GROUPS_OF("128") ",{\"_type\":\"PerBlock\",\"_data\":"
		"{\"block_size\":[128,128]}}]")), 8.002);
	plain("torchao FP8-INT4", TORCHAO("", AO("Float8DynamicActivationInt4WeightConfig",
		"\"int4_packing_format\":{\"_data\":\"preshuffled\"}")), 4.25);
	plain("torchao 3 bits", TORCHAO("", AO("UIntXWeightOnlyConfig", DTYPE("dtype", "uint3")
		",\"group_size\":64")), 3.5);
	plain("torchao Gemlite", TORCHAO("", AO("GemliteUIntXWeightOnlyConfig",
		"\"bit_width\":4,\"group_size\":64")), 4.5);
	plain("torchao NVFP4", TORCHAO("", AO("NVFP4DynamicActivationNVFP4WeightConfig", "")), 4.5);
	plain("torchao MXFP8", TORCHAO("", AO("MXDynamicActivationMXWeightConfig", "\"block_size\":32,"
		DTYPE("activation_dtype", "float8_e4m3fn") "," DTYPE("weight_dtype", "float8_e4m3fn"))),
	      8.25);
	plain("torchao MXFP4", TORCHAO("", AO("MXDynamicActivationMXWeightConfig", "\"block_size\":32,"
		DTYPE("activation_dtype", "float8_e4m3fn") "," DTYPE("weight_dtype", "float4_e2m1fn_x2"))),
	      4.25);
	plain("torchao, AWQ", TORCHAO("", AO("AWQConfig", "\"step\":\"prepare_for_loading\","
		"\"base_config\":" AO("Int4WeightOnlyConfig", "\"group_size\":64"))), 4.5);
	stanza("torchao by module", TORCHAO("\"include_input_output_embeddings\":true,",
		AO("ModuleFqnToConfig", "\"module_fqn_to_config\":{\"_default\":" INT8_INT4("")
		",\"model.embed_tokens\":" INT8_TABLE ",\"model.layers.0.mlp.up_proj\":null}")),
	       NULL, 8.75 + 7.25 * 4096 * 12288. / LINEAR, 8.75, 8.006, "", false);
	stanza("torchao, some modules alone", TORCHAO("", AO("FqnToConfig", "\"fqn_to_config\":{"
		"\"re:.*mlp.*_proj\":" AO("Int4WeightOnlyConfig", "\"group_size\":32") "}")),
	       NULL, 16 - 11 * 3 * 4096 * 12288. * 36 / LINEAR, 16, 16, "", false);
	stanza("torchao, all tables", TORCHAO("\"include_input_output_embeddings\":true,", INT8_TABLE),
	       NULL, 8.004, 8.006, 8.006, "", false);
	stanza("torchao that is not known", TORCHAO("", AO("SpinConfig", "")), NULL, 16, 16, 16, "",
	       true);
}

static void stanzas(void)
{
	plain("none", "", 16);
	stanza("dtype float32", ",\"torch_dtype\":\"float32\"", NULL, 32, 32, 32, "", false);
	plain("fp8 in blocks", Q("\"quant_method\":\"fp8\",\"weight_block_size\":[128,128]"), 8.002);
	plain("fp8 a tensor", Q("\"quant_method\":\"fp8\",\"weight_block_size\":null"), 8);
	plain("fbgemm", Q("\"quant_method\":\"fbgemm_fp8\",\"modules_to_not_convert\":[]"), 8.006);
	plain("modelopt NVFP4", Q("\"quant_method\":\"modelopt\",\"quant_algo\":\"NVFP4\","
				  "\"ignore\":[\"lm_head\"]"), 4.5);
	stanza("modelopt FP8 and its cache",
	       Q("\"quant_method\":\"modelopt\",\"quant_algo\":\"FP8\","
		 "\"kv_cache_scheme\":{\"num_bits\":8,\"type\":\"float\"}"), NULL, 8.006, 16, 16,
	       "fp8", false);
	stanza("a cache's format by a word",
	       Q("\"quant_method\":\"modelopt\",\"quant_algo\":\"FP8\",\"kv_cache_scheme\":\"FP8\""),
	       NULL, 8.006, 16, 16, "fp8", false);
	stanza("a cache's format by a word that is none",
	       Q("\"quant_method\":\"modelopt\",\"quant_algo\":\"FP8\",\"kv_cache_scheme\":\"none\""),
	       NULL, 8.006, 16, 16, "", false);
	stanza("hf_quant_config.json alone", "",
	       "{\"quantization\":{\"quant_algo\":\"NVFP4\",\"kv_cache_quant_algo\":\"FP8\","
	       "\"group_size\":16,\"exclude_modules\":[\"lm_head\"]}}", 4.5, 16, 16, "fp8", false);
	stanza("hf_quant_config.json, layer 0 left out", "",
	       "{\"quantization\":{\"quant_algo\":\"FP8\",\"exclude_modules\":"
	       "[\"model.layers.0.*\",\"lm_head\"]}}", 8.006 + 8 / 36., 16, 16, "", false);
	plain("compressed-tensors W4A16", Q(GROUP("\"num_bits\":4,\"type\":\"int\","
		"\"group_size\":128,\"symmetric\":true,\"strategy\":\"group\"")), 4.125);
	plain("compressed-tensors W4A16 with zeros", Q(GROUP("\"num_bits\":4,\"type\":\"int\","
		"\"group_size\":128,\"symmetric\":false,\"strategy\":\"group\"")), 4.15625);
	plain("compressed-tensors FP8", Q(GROUP("\"num_bits\":8,\"type\":\"float\","
		"\"strategy\":\"channel\"")), 8.003);
	plain("compressed-tensors NVFP4", Q(GROUP("\"num_bits\":4,\"type\":\"float\","
		"\"group_size\":16")), 4.5);
	plain("compressed-tensors W8A8", Q(GROUP("\"num_bits\":8,\"type\":\"int\","
		"\"strategy\":\"channel\"")), 8.003);
	plain("awq", Q("\"quant_method\":\"awq\",\"bits\":4,\"group_size\":128"), 4.15625);
	plain("gptq 4 bit", Q("\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":128"), 4.15625);
	plain("gptq 4 bit, groups of 32", Q("\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":32"),
	      4.625);
	plain("gptq 3 bit", Q("\"quant_method\":\"gptq\",\"bits\":3,\"group_size\":128"), 3.1484);
	plain("gptq 2 bit", Q("\"quant_method\":\"gptq\",\"bits\":2,\"group_size\":128"), 2.1406);
	plain("gptq 8 bit", Q("\"quant_method\":\"gptq\",\"bits\":8,\"group_size\":128"), 8.1875);
	plain("auto-round", Q("\"quant_method\":\"auto-round\",\"bits\":4,\"group_size\":128"),
	      4.15625);
	plain("bitsandbytes nf4", Q("\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true,"
				    "\"bnb_4bit_quant_type\":\"nf4\""), 4.5);
	plain("bitsandbytes nf4, scales quantized",
	      Q("\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true,"
		"\"bnb_4bit_use_double_quant\":true"), 4.127);
	plain("bitsandbytes 8 bit", Q("\"quant_method\":\"bitsandbytes\",\"load_in_8bit\":true"),
	      8.006);
	stanza("exl2", Q("\"quant_method\":\"exl2\",\"bits\":4.25,\"head_bits\":6"), NULL, 4.25, 6,
	       16, "", false);
	stanza("exl3", Q("\"quant_method\":\"exl3\",\"bits\":4.0,\"head_bits\":6"), NULL, 4, 6, 16,
	       "", false);
	stanza("MLX", ",\"quantization\":{\"group_size\":64,\"bits\":4}", NULL, 4.5, 4.5, 4.5, "",
	       false);
	plain("quark", Q("\"quant_method\":\"quark\",\"global_quant_config\":{\"weight\":{\"dtype\":"
			 "\"fp8_e4m3\",\"qscheme\":\"per_tensor\"}},\"exclude\":[\"lm_head\"]"), 8);
	plain("quark MXFP4", Q("\"quant_method\":\"quark\",\"global_quant_config\":{\"weight\":"
			       "{\"dtype\":\"fp4\",\"qscheme\":\"per_group\",\"group_size\":32}}"),
	      4.25);
	plain("hqq", Q("\"quant_method\":\"hqq\",\"quant_config\":{\"weight_quant_params\":"
		       "{\"nbits\":4,\"group_size\":64}}"), 4.5);
	plain("hqq, each kind of its own",
	      Q("\"quant_method\":\"hqq\",\"quant_config\":{"
		"\"self_attn.q_proj\":{\"weight_quant_params\":{\"nbits\":8,\"group_size\":64}},"
		"\"mlp.up_proj\":{\"weight_quant_params\":{\"nbits\":4,\"group_size\":64}}}"),
	      16 - (7.5 * 4096 * 4096 + 11.5 * 4096 * 12288) * 36 / LINEAR);
	plain("hqq, as it was asked for",
	      Q("\"quant_method\":\"hqq\",\"dynamic_config\":{"
		"\"mlp.up_proj\":{\"nbits\":3,\"group_size\":64}}"),
	      16 - 12.5 * 4096 * 12288. * 36 / LINEAR);
	plain("awq, a layer by the start of its names",
	      Q("\"quant_method\":\"awq\",\"bits\":4,\"group_size\":128,"
		"\"modules_to_not_convert\":[\"model.layers.1.\"]"), 4.15625 + 11.84375 / 36);
	plain("within text_config", ",\"text_config\":null,\"llm_config\":{\"quantization_config\":"
	      "{\"quant_method\":\"awq\",\"bits\":4,\"group_size\":128}}", 4.15625);
	plain("a word in capitals", Q("\"quant_method\":\"GPTQ\",\"bits\":4,\"group_size\":128"),
	      4.15625);
	plain("bitsandbytes without its word", Q("\"load_in_4bit\":true,"
		"\"bnb_4bit_quant_type\":\"fp4\""), 4.5);
	plain("8 bits without a word", Q("\"load_in_8bit\":true,\"llm_int8_threshold\":6.0"), 8.006);
	stanza("ModelOpt's file within", Q("\"quant_method\":\"modelopt\",\"quantization\":{"
		"\"quant_algo\":\"FP8\",\"kv_cache_quant_algo\":\"FP8\",\"exclude_modules\":[\"lm_head\"]}"),
	       NULL, 8.006, 16, 16, "fp8", false);
	stanza("ModelOpt, mixed, one expert of several", "", "{\"quantization\":{\"quant_algo\":"
		"\"MIXED_PRECISION\",\"quantized_layers\":{\"model.layers.0.mlp.up_proj\":{\"quant_algo\":"
		"\"W4A16_NVFP4\"},\"model.layers.0.mixer.experts.3.w1\":{\"quant_algo\":\"FP8\"},"
		"\"model.layers.0.mixer.experts.4.w1\":{\"quant_algo\":\"x\"}}}}",
	       16 - 11.5 * 4096 * 12288. / 36 / (2 * 4096 * 4096. + 2 * 4096 * 1024. + 3 * 4096 * 12288.),
	       16, 16, "", true);
	plain("auto-round MXFP4", Q("\"quant_method\":\"auto-round\",\"bits\":4,\"group_size\":32,"
		"\"data_type\":\"mx_fp\""), 4.25);
	plain("auto-round NVFP4", Q("\"quant_method\":\"auto-round\",\"bits\":4,\"group_size\":16,"
		"\"data_type\":\"nv_fp4\""), 4.5);
	plain("auto-round FP8", Q("\"quant_method\":\"auto-round\",\"bits\":8,\"group_size\":-1,"
		"\"data_type\":\"fp8\""), 8.006);
	plain("fp_quant", Q("\"quant_method\":\"fp_quant\",\"forward_dtype\":\"nvfp4\""), 4.5);
	plain("w4afp8", Q("\"quant_method\":\"w4afp8\""), 4.125);
	plain("quark, two steps", Q("\"quant_method\":\"quark\",\"global_quant_config\":{\"weight\":["
		"{\"dtype\":\"fp8_e4m3\",\"qscheme\":\"per_tensor\"},{\"dtype\":\"int4\","
		"\"qscheme\":\"per_channel\"}]}"), 4.125);
	plain("ModelSlim", ",\"quantize\":\"w8a8_dynamic\"", 8.006);
	stanza("a word that nobody knows", Q("\"quant_method\":\"squeeze\""), NULL, 16, 16, 16, "",
	       true);
	stanza("an unknown word with bits", Q("\"quant_method\":\"squeeze\",\"bits\":4"), NULL,
	       4.15625, 16, 16, "", true);
}

#define W4 "\"num_bits\":4,\"type\":\"int\",\"group_size\":128,\"strategy\":\"group\""
#define IGNORE(list) Q("\"quant_method\":\"compressed-tensors\",\"ignore\":[\"lm_head\"," list \
	"],\"config_groups\":{\"group_0\":{\"targets\":[\"Linear\"],\"weights\":{" W4 "}}}")
/* Of a layer: query and output, key and value, gate, up and down. */
#define LAYER (2 * 4096 * 4096. + 2 * 4096 * 1024. + 3 * 4096 * 12288.)
#define ATTENTION (2 * 4096 * 4096. + 2 * 4096 * 1024.)

/* Bits on average when a part of the matrices is plain. */
static double part(double plain_part)
{
	return 4.125 + (16 - 4.125) * plain_part;
}

static void unclear(const char *what, const char *text, double bits)
{
	stanza(what, text, NULL, bits, 16, 16, "", true);
}

/* Modules that are left out, by regular expressions. */
static void expressions(void)
{
	plain("alternatives", IGNORE("\"re:.*self_attn\\\\.(q|k|v|o)_proj$\""),
	      part(ATTENTION / LAYER));
	plain("alternatives of an MLP", IGNORE("\"re:.*mlp\\\\.(gate|up|down)_proj$\""),
	      part(1 - ATTENTION / LAYER));
	plain("layers by alternatives", IGNORE("\"re:model\\\\.layers\\\\.(0|1|2)\\\\..*\""),
	      part(3 / 36.));
	plain("a digit", IGNORE("\"re:model\\\\.layers\\\\.\\\\d\\\\..*\""), part(10 / 36.));
	plain("two digits", IGNORE("\"re:.*layers\\\\.\\\\d{2}\\\\.mlp\\\\..*\""),
	      part(26 / 36. * (1 - ATTENTION / LAYER)));
	plain("one or two digits", IGNORE("\"re:.*layers\\\\.\\\\d{1,2}\\\\.mlp\\\\..*\""),
	      part(1 - ATTENTION / LAYER));
	plain("a class of digits", IGNORE("\"re:.*layers\\\\.[0-9]\\\\..*\""), part(10 / 36.));
	plain("a class of some", IGNORE("\"re:.*layers\\\\.[0-35]\\\\..*\""), part(5 / 36.));
	plain("no end", IGNORE("\"re:.*layers\\\\.1\""), part(11 / 36.));
	unclear("a lookahead", IGNORE("\"re:.*layers\\\\.(?!0).*\""), 4.125);
	unclear("a group many times", IGNORE("\"re:.*(a|b)+\""), 4.125);
	unclear("a module that is not there", IGNORE("\"model.layers.0.nothing.w9\""), 4.125);
	plain("a layer behind the last", IGNORE("\"model.layers.36*\",\"model.layers.40.x\""), 4.125);
	plain("names of other checkpoints", IGNORE("\"model.layers.0.attn.q_proj\","
		"\"model.layers.0.feed_forward.w1\",\"*.block_sparse_moe.w3\""),
	      part((4096 * 4096. + 4096 * 12288.) / 36 / LAYER + 4096 * 12288. / LAYER));
	plain("an expression with them", IGNORE("\"re:.*\\\\.ffn\\\\.w2$\""),
	      part(4096 * 12288. / LAYER));
	plain("modules of encoders", IGNORE("\"re:visual.*\",\"model.vision_tower.layers.0\""), 4.125);
	plain("auto-round, a regular expression without a word",
	      Q("\"quant_method\":\"auto-round\",\"bits\":4,\"group_size\":128,\"extra_config\":"
		"{\".*self_attn\\\\.(q|k|v|o)_proj\":{\"bits\":16}}"),
	      4.15625 + (16 - 4.15625) * ATTENTION / LAYER);
}

/* What says no bits is said, and never taken for something in silence. */
static void silences(void)
{
	stanza("a group of tables", Q("\"quant_method\":\"compressed-tensors\",\"ignore\":[\"lm_head\"],"
		"\"config_groups\":{\"group_0\":{\"targets\":[\"Linear\"],\"weights\":{" W4 "}},"
		"\"group_1\":{\"targets\":[\"Embedding\"],\"weights\":{\"num_bits\":8,\"type\":\"int\","
		"\"strategy\":\"channel\"}}}"), NULL, 4.125, 16, 8, "", false);
	stanza("a cache alone", Q("\"quant_method\":\"compressed-tensors\",\"config_groups\":{},"
		"\"kv_cache_scheme\":{\"num_bits\":8,\"type\":\"float\"}"), NULL, 16, 16, 16, "fp8", false);
	unclear("gptq without bits", Q("\"quant_method\":\"gptq\",\"group_size\":128"), 4.15625);
	unclear("no groups", Q("\"quant_method\":\"compressed-tensors\",\"config_groups\":{}"), 16);
	unclear("no weights", Q("\"quant_method\":\"compressed-tensors\",\"config_groups\":"
				"{\"group_0\":{\"targets\":[\"Linear\"],\"weights\":null}}"), 16);
	unclear("no num_bits", Q(GROUP("\"type\":\"float\"")), 16);
	plain("a preset", Q("\"quant_method\":\"compressed-tensors\",\"config_groups\":"
			    "{\"W4A16\":[\"Linear\"]}"), 4.125);
	unclear("an unknown preset", Q("\"quant_method\":\"compressed-tensors\",\"config_groups\":"
				       "{\"Q9\":[\"Linear\"]}"), 16);
	unclear("an unknown algorithm", Q("\"quant_algo\":\"ZIP\""), 16);
	unclear("an unknown algorithm of a layer",
		Q("\"quant_algo\":\"MIXED_PRECISION\",\"quantized_layers\":"
		  "{\"model.layers.0.mlp\":{\"quant_algo\":\"ZIP\"}}"), 16);
	unclear("a word in place of an object", ",\"quantization_config\":\"awq\"", 16);
	unclear("a list in place of an object", ",\"quantization_config\":[1]", 16);
	unclear("bitsandbytes that loads nothing", Q("\"quant_method\":\"bitsandbytes\","
		"\"load_in_4bit\":false,\"load_in_8bit\":false"), 16);
	unclear("no bits", Q("\"quant_method\":\"gptq\",\"bits\":0,\"group_size\":128"), 16);
	unclear("64 bits", Q("\"quant_method\":\"gptq\",\"bits\":64,\"group_size\":128"), 16);
	unclear("groups of nothing", Q("\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":1e-6"),
		16);
	stanza("weights in float8", ",\"torch_dtype\":\"float8_e4m3fn\"", NULL, 8, 8, 8, "", false);
	stanza("a cache in NVFP4", "", "{\"quantization\":{\"quant_algo\":\"NVFP4\","
	       "\"kv_cache_quant_algo\":\"NVFP4\"}}", 4.5, 16, 16, "nvfp4", false);
	stanza("a cache in 4 bits", Q("\"quant_method\":\"awq\",\"bits\":4,\"group_size\":128,"
	       "\"kv_cache_scheme\":{\"num_bits\":4,\"type\":\"float\"}"), NULL, 4.15625, 16, 16,
	       "nvfp4", false);
	stanza("a cache alone", "", "{\"quantization\":{\"quant_algo\":null,"
	       "\"kv_cache_quant_algo\":\"FP8\"}}", 16, 16, 16, "fp8", false);
	stanza("nothing beside", Q("\"quant_method\":\"awq\",\"bits\":4,\"group_size\":128"),
	       "{\"producer\":{}}", 4.15625, 16, 16, "", true);
}

/* A file cannot choose how long it takes. */
static void many_patterns(void)
{
	struct size_quant quant = { .n = 0 };
	struct model_tensor t = { .name = "model.layers.0.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
				  .numbers = 1, .columns = 1, .copies = 1 };
	struct quant_sum sum = { .quant = &quant };
	struct json_object *config;
	struct fault f = { "" };
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int i;

	fprintf(file, "{\"quantization_config\":{\"quant_method\":\"awq\",\"ignore\":[\"lm_head\"");
	for (i = 0; i < 5000; i++)
		fprintf(file, ",\"*a*a*a*a*a*a*a*a%d\"", i);
	fprintf(file, "]}}");
	fclose(file);
	config = size_config_object(text, size, &f);
	ok(!quant_read(config, NULL, &quant, &f), "thousands of patterns %s", f.text);
	for (i = 0; i < 100000; i++)
		quant_tensor(&sum, &t);
	ok(quant.steps < 60000000, "%llu characters compared", (unsigned long long)quant.steps);
	quant_check_rules(&quant);
	ok(*quant.unclear, "which is said: %s", quant.unclear);
	quant_drop(&quant);
	json_object_put(config);
	free(text);
}

static void matches(const char *pattern, const char *name, bool want)
{
	struct quant_pattern globs;
	uint64_t steps = 0;

	ok(!quant_pattern_read(pattern, &globs) &&
	   quant_pattern_means(&globs, name, &steps) == want, "%s %s %s", pattern,
	   want ? "means" : "does not mean", name);
	quant_pattern_drop(&globs);
}

static void names(void)
{
	static const char q[] = "model.layers.3.self_attn.q_proj";

	matches("lm_head", "lm_head", true);
	matches("*lm_head*", "lm_head", true);
	matches("re:.*lm_head", "lm_head", true);
	matches("model.layers.*.self_attn", q, true);
	matches("model.layers.3.self_attn", q, true);
	matches("model.layers.33.self_attn", q, false);
	matches("model.language_model.layers.3.self_attn.q_proj", q, true);
	matches("model.layers.3.self_attn.qkv_proj", q, true);
	matches("self_attn", q, true);
	matches("attn", q, false);
	matches("re:.*self_attn.*", q, true);
	matches("re:model\\.layers\\.[0-9]+\\.self_attn\\..*", q, true);
	matches("re:.*mlp.gate$", "model.layers.3.mlp.gate_proj", false);
	matches("model.layers.1.mlp.experts.7.up_proj", "model.layers.1.mlp.experts.up_proj", true);
	matches("backbone.layers.3.mixer", q, true);
	matches("backbone.layers.*.mixer", q, true);
	matches("backbone.layers.3.mixer.*", q, true);
	matches("backbone.layers.*.mixer.q_proj", q, true);
	matches("backbone.layers.33.mixer.*", q, false);
	matches("re:.*\\.experts\\.\\d+\\.up_proj$", "model.layers.1.mlp.experts.up_proj", true);
	matches("re:.*qkv_proj", q, true);
	matches("re:.*(mlp|self_attn)\\.[a-z]_proj", q, true);
	matches("re:(lm_head|.*q_proj)", q, true);
	matches("re:self_attn", q, false);
	matches("-:.*self_attn.*", q, true);
	matches("re:.*layers\\.3\\.(self_)?attn.*", q, true);
	is_int(quant_layer_of("model.layers.12.mlp"), 12, "layer of a name");
	is_int(quant_layer_of("model.layers.*.mlp"), -1, "of a glob");
}

int main(void)
{
	struct fault f = { "" };

	if (!ok(!catalogue_load(&cat, "ctl/catalogue", NULL, &f), "the catalogue %s", f.text))
		return tap_done();
	stanzas();
	torchao();
	names();
	expressions();
	silences();
	many_patterns();
	catalogue_free(&cat);
	return tap_done();
}
