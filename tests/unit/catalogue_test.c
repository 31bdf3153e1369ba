// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
/*
 * The catalogues: complete, in range and free of duplicates; products found by
 * PCI ids and by name; and the format, whose every error names its place.
 */
#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalogue/build.h"
#include "catalogue/family_check.h"
#include "catalogue/catalogue.h"
#include "csv.h"
#include "tap.h"

static struct catalogue cat;

static const struct cat_gpu *by_id(const char *id)
{
	size_t i;

	for (i = 0; i < cat.n_gpus; i++)
		if (!strcmp(cat.gpus[i].id, id))
			return &cat.gpus[i];
	return NULL;
}

/* A verified number equals the field, or both are missing. */
static bool verified(const struct cat_gpu *gpu, enum gpu_fact fact,
		     const char *field)
{
	double value;
	bool known = cat_gpu_fact(gpu, fact, &value) == GPU_VERIFIED;

	return *field ? known && value == strtod(field, NULL) : !known;
}

static bool same_pci(const struct cat_gpu *gpu, const char *field)
{
	char text[256] = "";
	size_t i;

	for (i = 0; i < gpu->n_pci; i++) {
		const struct gpu_pci_id *id = &gpu->pci[i];
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "%s%04x:%04x",
			 i ? " " : "", id->vendor, id->device);
		used = strlen(text);
		if (id->sub)
			snprintf(text + used, sizeof(text) - used,
				 "/%04x:%04x", id->subvendor, id->subdevice);
	}
	return !strcmp(text, field);
}

static void every_gpu(void)
{
	static const enum gpu_fact columns[] = {
		GPU_MEMORY_LABEL_GIB, GPU_MEMORY_MIB, GPU_BANDWIDTH_GBS,
		GPU_FP16_TFLOPS, GPU_FP8_TFLOPS, GPU_TDP_W, GPU_PCIE_GEN,
		GPU_PCIE_WIDTH, GPU_BAR1_MIB,
	};
	FILE *file = fopen("tests/data/gpus-expected.csv", "r");
	char line[CSV_LINE_MAX], *field[CSV_FIELDS_MAX];
	size_t rows = 0, i;

	if (!file) {
		ok(false, "tests/data/gpus-expected.csv can be read");
		return;
	}
	while (csv_next(file, line, field) == 11) {
		const struct cat_gpu *gpu = by_id(field[0]);

		rows++;
		if (!gpu) {
			ok(false, "%s is in the catalogue", field[0]);
			continue;
		}
		for (i = 0; i < 9; i++)
			if (!verified(gpu, columns[i], field[i + 1]))
				break;
		ok(i == 9, "%s: verified values%s%s", field[0],
		   i == 9 ? "" : ", but not ",
		   i == 9 ? "" : gpu_fact_types[columns[i]].key);
		ok(same_pci(gpu, field[10]), "%s: PCI ids %s", field[0],
		   field[10]);
	}
	fclose(file);
	is_int(rows, 68, "expected values of 68 products");
	is_int(cat.n_gpus, 68, "68 products in the catalogue");
}

static void fold(const char *s, char *out)
{
	for (; *s; s++)
		if (isalnum((unsigned char)*s))
			*out++ = (char)tolower((unsigned char)*s);
	*out = '\0';
}

/* No value may be both verified and assumed, no id hidden behind another. */
static void consistency(void)
{
	char a[128], b[128];
	size_t i, j, twice = 0, both = 0, drivers = 0, cards = 0;

	for (i = 0; i < cat.n_gpus; i++) {
		const struct cat_gpu *gpu = &cat.gpus[i];

		both += gpu->known_verified & gpu->known_assumed ? 1 : 0;
		cards += gpu->form == GPU_FORM_CARD;
		if (gpu->form != GPU_FORM_SERVICE && !gpu->driver)
			drivers++;
		fold(gpu->id, a);
		for (j = 0; j < i; j++) {
			fold(cat.gpus[j].id, b);
			twice += !strcmp(a, b);
			fold(cat.gpus[j].name, b);
			twice += !strcmp(a, b);
		}
	}
	is_int(twice, 0, "no two products have the same name");
	is_int(both, 0, "nothing is both verified and assumed");
	is_int(drivers, 0, "every product but a service names its driver");
	ok(cards > 25, "%zu products are cards", cards);
}

static struct gpu_identity pci(uint16_t vendor, uint16_t device,
			       uint16_t subvendor, uint16_t subdevice)
{
	return cat_gpu_by_pci(cat.gpus, cat.n_gpus, vendor, device, subvendor,
			      subdevice);
}

static void is_product(struct gpu_identity id, const char *want,
		       const char *name)
{
	is_str(id.gpu ? id.gpu->id : NULL, want, name);
}

static void lookup_by_pci(void)
{
	struct gpu_identity id;
	char text[64];

	id = pci(0x10de, 0x2331, 0x10de, 0x1626);
	is_product(id, "h100-pcie-80", "a card by its ids");
	ok(!id.simulated, "real hardware is not simulated");
	is_str(cat_gpu_label(&id, 0x10de, 0x2331, 0, 0, text, sizeof(text)),
	       "H100 PCIe", "label of real hardware");

	is_product(pci(0x10de, 0x25b6, 0x10de, 0x157e), "a2",
		   "A2 by its subsystem");
	is_product(pci(0x10de, 0x25b6, 0x10de, 0x14a9), "a16",
		   "A16 by its subsystem, same device id");
	is_product(pci(0x10de, 0x25b6, 0x10de, 0x0001), NULL,
		   "neither by another subsystem");
	is_product(pci(0x10de, 0x20b1, 0, 0), "a100-pcie-40",
		   "second id of a product");
	is_product(pci(0x1002, 0x74a1, 0x1002, 0x74a1), "mi300x", "MI300X");

	id = pci(0x1002, 0x74b5, 0, 0);
	is_product(id, "mi300x", "virtual function of an MI300X");
	is_str(cat_gpu_label(&id, 0x1002, 0x74b5, 0, 0, text, sizeof(text)),
	       "Instinct MI300X VF", "label of a virtual function");

	id = pci(0x10de, 0xfffe, 0, 0);
	is_product(id, NULL, "an unknown device");
	is_str(cat_gpu_label(&id, 0x10de, 0xfffe, 0, 0, text, sizeof(text)),
	       "10de:fffe", "label of an unknown device");
}

static void simulated(void)
{
	struct gpu_identity id;
	char text[64];

	id = pci(0x6767, 0x0001, 0x10de, 0x2331);
	is_product(id, "h100-pcie-80", "a simulated H100 by its subsystem");
	ok(id.simulated, "and it is marked as simulated");
	is_str(cat_gpu_label(&id, 0x6767, 1, 0x10de, 0x2331, text,
			     sizeof(text)),
	       "H100 PCIe (sim)", "label of a simulated device");

	id = pci(0x6767, 0x00ff, 0x10de, 0xfffe);
	ok(!id.gpu && id.simulated, "imitates nothing that is known");
	is_str(cat_gpu_label(&id, 0x6767, 0xff, 0x10de, 0xfffe, text,
			     sizeof(text)),
	       "10de:fffe (sim)", "label of such a device");

	id = pci(0x10de, 0x2331, 0x6767, 0x0001);
	ok(!id.simulated, "a subsystem vendor alone simulates nothing");
}

static void finds(const char *name, const char *want)
{
	const struct cat_gpu *gpu = NULL;
	struct fault f = { "" };

	cat_gpu_find(cat.gpus, cat.n_gpus, name, &gpu, &f);
	ok(gpu && !strcmp(gpu->id, want), "\"%s\" is %s%s%s", name, want,
	   *f.text ? ": " : "", f.text);
}

static void lookup_by_name(void)
{
	const struct cat_gpu *gpu = NULL, *some[8];
	struct fault f = { "" };

	finds("h100-80", "h100-pcie-80");
	finds("H100 PCIe", "h100-pcie-80");
	finds("h100-pcie-80", "h100-pcie-80");
	finds("h100-sxm5-80", "h100-sxm5-80");
	finds("nvidia h100 pcie 80gb", "h100-pcie-80");
	finds("nvidia:h100-80", "h100-pcie-80");
	finds("a100-80", "a100-pcie-80");
	finds("a100-40", "a100-pcie-40");
	finds("L40S", "l40s");
	finds("mi300x", "mi300x");
	finds("h200", "h200-nvl-141");
	finds("h200-nvl", "h200-nvl-141");
	finds("h200-sxm", "h200-sxm-141");

	is_int(cat_gpu_find(cat.gpus, cat.n_gpus, "h100", &gpu, &f),
	       -ENOTUNIQ, "h100 is several cards");
	is_str(f.text, "\"h100\" may be h100-pcie-80, h100-sxm5-80, h100-sxm5-96, h100-nvl-94; name one of them",
	       "the candidates are listed");
	is_int(cat_gpu_find(cat.gpus, cat.n_gpus, "h101", &gpu, &f), -ENOENT,
	       "no such GPU");
	is_int(cat_gpu_find(cat.gpus, cat.n_gpus, "", &gpu, &f), -ENOENT,
	       "no name at all");
	ok(cat_gpu_find(cat.gpus, cat.n_gpus, "amd:h100-80", &gpu, &f) < 0,
	   "the vendor must be right: %s", f.text);

	is_int(cat_gpu_matches(cat.gpus, cat.n_gpus, "h100", some, 8), 4,
	       "four products answer to h100");
	is_int(cat_gpu_matches(cat.gpus, cat.n_gpus, "h100", some, 1), 4,
	       "also when there is no room for them");
	ok(cat_gpu_answers(by_id("h100-nvl-94"), "H100"), "an NVL is an H100");
	ok(!cat_gpu_answers(by_id("h200-nvl-141"), "h100"),
	   "an H200 is no H100");
}

static void memory(void)
{
	enum gpu_trust trust;

	is_int(cat_gpu_memory_mib(by_id("h100-pcie-80"), &trust), 81559,
	       "usable memory of an H100");
	is_int(trust, GPU_VERIFIED, "is verified");
	is_int(cat_gpu_memory_mib(by_id("l40"), &trust), 46068, "of an L40");
	is_int(trust, GPU_ASSUMED, "is assumed");
	is_int(cat_gpu_memory_mib(by_id("v100s-pcie-32"), &trust), 30720,
	       "of a V100S");
	is_int(trust, GPU_FROM_LABEL, "is taken from the label");
	is_int(cat_gpu_memory_mib(by_id("mi250x"), &trust), 61440,
	       "of one die of an MI250X");
	is_int(cat_gpu_memory_mib(by_id("tpu-v2"), &trust), 0, "of a TPU v2");
	is_int(trust, GPU_UNKNOWN, "is not known");
}

static void finds_model(const char *name, const char *want)
{
	const struct cat_model *m = NULL;
	struct fault f = { "" };

	cat_model_find(cat.models, cat.n_models, name, &m, &f);
	ok(m && !strcmp(m->id, want), "\"%s\" is %s%s%s", name, want,
	   *f.text ? ": " : "", f.text);
}

static void models(void)
{
	const struct cat_model *m = NULL;
	struct fault f = { "" };

	finds_model("llama-3.1-70b", "llama-3.1-70b");
	finds_model("Llama-3.1-70B", "llama-3.1-70b");
	finds_model("meta-llama/Llama-3.1-70B", "llama-3.1-70b");
	finds_model("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b");
	finds_model("llama3.1 8b", "llama-3.1-8b");
	finds_model("meta-llama/Llama-2-7b-chat-hf", "llama-2-7b");
	finds_model("Qwen/Qwen2.5-7B-Instruct-AWQ", "qwen2.5-7b");
	finds_model("google/gemma-3-27b-it", "gemma-3-27b");
	finds_model("deepseek-ai/DeepSeek-R1", "deepseek-v3");
	finds_model("gpt2-xl", "gpt-2-xl");

	is_int(cat_model_find(cat.models, cat.n_models, "llama-31-70b", &m,
			      &f), -ENOENT, "31 is not 3.1");
	ok(strstr(f.text, "did you mean"), "similar names: %s", f.text);
	is_int(cat_model_find(cat.models, cat.n_models, "../etc", &m, &f),
	       -ENOENT, "no path");
	is_int(cat_model_find(cat.models, cat.n_models, "\033[2J", &m, &f),
	       -ENOENT, "no escapes");
}

#define ENTRY "[x-1]\nname = X\nvendor = v\nform = pcie-card\nsource = s\npci = 1111:2222\n"

static int parse_gpus(struct catalogue *c, unsigned int layer,
		      const char *text, struct fault *f)
{
	return catalogue_parse_gpus(c, layer, "t.conf", text, strlen(text), f);
}

static void gpu_error(const char *text, const char *want)
{
	struct catalogue c = { 0 };
	struct fault f = { "" };
	int err = parse_gpus(&c, 1, text, &f);

	if (!err)
		err = catalogue_check_gpus(&c, &f);
	ok(err < 0 && strstr(f.text, want), "refused: %s (wanted \"%s\")",
	   f.text, want);
	catalogue_free(&c);
}

/* Two that are shipped are compared where the whole catalogue is read, as this test does. */
static void shipped_pair(void)
{
	struct catalogue c = { 0 };
	struct fault f = { "" };

	parse_gpus(&c, 0, ENTRY "[y]\nname = Y\nvendor = v\nform = module\nsource = s\npci = 1111:2222\n", &f);
	ok(!catalogue_check_gpus(&c, &f), "two that are shipped are not compared by each start %s", f.text);
	ok(catalogue_work_out(&c, &f) == -EEXIST && strstr(f.text, "both claim PCI id 1111:2222"),
	   "but where all is worked out: %s", f.text);
	catalogue_free(&c);
}

/* Each byte at each place of a line: only printable ASCII and tabs get in, so no escape does. */
static void every_byte(void)
{
	int byte, at, wrong = 0;

	for (byte = 1; byte < 256; byte++) {
		for (at = 0; at < 11; at++) {
			char text[] = "[x]\nnote = abcdefghijk\n";
			struct catalogue c = { 0 };
			struct fault f = { "" };
			bool plain = byte == '\t' || byte == '\n' || (byte >= 0x20 && byte <= 0x7e);

			text[strlen("[x]\nnote = ") + (size_t)at] = (char)byte;
			parse_gpus(&c, 0, text, &f);
			wrong += plain == !!strstr(f.text, "only printable ASCII");
			catalogue_free(&c);
		}
	}
	is_int(wrong, 0, "bytes that are not printable are refused, wherever they stand in a line");
}

/* The families alone of what comes with gpuctl. */
static int parse_families(struct catalogue *c, struct fault *f)
{
	static const char *const files[] = { "transformer", "dense" };
	char path[128], text[65536];
	size_t i, n;
	int err = 0;

	for (i = 0; !err && i < 2; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "ctl/catalogue/models.d/family-%s.conf", files[i]);
		file = fopen(path, "r");
		n = file ? fread(text, 1, sizeof(text), file) : 0;
		if (file)
			fclose(file);
		err = catalogue_parse_models(c, 0, path, text, n, f);
	}
	return err;
}

/* @layer 1 is the admin's directory, whose formulas are read before anybody needs them. */
static void layer_error(unsigned int layer, const char *text, const char *want)
{
	struct catalogue c = { 0 };
	struct fault f = { "" };
	int err = parse_families(&c, &f);

	if (!err)
		err = catalogue_parse_models(&c, layer, "m.conf", text, strlen(text), &f);
	if (!err)
		err = catalogue_check_models(&c, &f);
	if (!err)
		err = catalogue_work_out(&c, &f);
	ok(err < 0 && strstr(f.text, want), "refused: %s (wanted \"%s\")",
	   f.text, want);
	catalogue_free(&c);
}

static void model_error(const char *text, const char *want)
{
	layer_error(0, text, want);
}

/* No formula of a family has a slip: with the usual numbers each can be read to its end. */
static void every_family(void)
{
	struct model_plan plan = { .families = &cat.families };
	struct cat_model m;
	struct fault f = { "" };
	int bad = 0;
	size_t i;

	for (i = 0; i < cat.families.n; i++) {
		plan.family = &cat.families.item[i];
		memset(&m, 0, sizeof(m));
		m.hidden = 64;
		m.layers = 4;
		m.heads = 4;
		m.head_dim = 16;
		m.ffn = 128;
		m.vocab = 100;
		m.positions = 16;
		m.layer_norms = 2;
		m.experts = 8;
		m.active_experts = 2;
		m.moe_ffn = 32;
		f.text[0] = '\0';
		if (cat_model_build(&plan, &m, &f) &&
		    (strstr(f.text, "formula") || strstr(f.text, "needs itself") ||
		     strstr(f.text, "is wanted") || strstr(f.text, "no such family"))) {
			printf("# [family.%s] %s\n", plan.family->id, f.text);
			bad++;
		}
		if (family_check_names(plan.family, &f)) {
			printf("# %s\n", f.text);
			bad++;
		}
	}
	is_int(bad, 0, "families with a slip");
	ok(cat.families.n > 130, "%zu families", cat.families.n);
}

static void errors(void)
{
	char deep[1200];

	gpu_error("name = X\n", "t.conf:1: key before the first [section]");
	gpu_error("# c\n\n[x\n", "t.conf:3: section without closing ]");
	gpu_error("[X]\n", "t.conf:1: section name [X]");
	gpu_error("[]\n", "section name []");
	gpu_error("[x]\nfoo\n", "t.conf:2: neither");
	gpu_error("[x]\nfoo = 1\n", "t.conf:2: no such key: foo");
	gpu_error("[x]\nname =\n", "t.conf:2: name has no value");
	gpu_error("[x]\n= 3\n", "t.conf:2: key \"\"");
	gpu_error("[x]\nname = a\nname = b\n", "t.conf:3: name is given twice");
	gpu_error("[x]\n[x]\n", "t.conf:2: [x] is already described");
	gpu_error("[x]\nname = a\001b\n", "t.conf:2: character 0x01");
	gpu_error("[x]\nname = \303\251\n", "t.conf:2: character 0xc3");
	gpu_error("[x]\r\n", "t.conf:1: character 0x0d");
	gpu_error("[x]\nmemory_mib = -1\n", "not a whole number");
	gpu_error("[x]\nmemory_mib = 1.5\n", "not a whole number");
	gpu_error("[x]\nmemory_mib = 81559 MiB\n", "not a whole number");
	gpu_error("[x]\nmemory_mib = 12\n", "outside 1024 to");
	gpu_error("[x]\nmemory_mib = 99999999999999999999\n", "too large");
	gpu_error("[x]\nassumed.tdp_w = 1e3\n", "not a number");
	gpu_error("[x]\nassumed.tdp_w = nan\n", "not a number");
	gpu_error("[x]\nassumed.name = x\n", "no such key: assumed.name");
	gpu_error("[x]\nform = card\n", "use pcie-card");
	gpu_error("[x]\npci = 10DE:2331\n", "is not a PCI id");
	gpu_error("[x]\npci = 10de:2331/\n", "is not a PCI id");
	gpu_error("[x]\npci = 10de:23311\n", "is not a PCI id");
	gpu_error("[x]\npci = 6767:0001\n", "vendor id of the simulator");
	gpu_error("[x]\nname = a\n", "[x] needs the key vendor");
	gpu_error("[x]\nname = a\nvendor = v\nform = pcie-card\nsource = s\n",
		  "[x] needs the key pci");
	gpu_error(ENTRY "[y]\nname = Y\nvendor = v\nform = module\nsource = s\npci = 1111:2222\n",
		  "[x-1] and [y] both claim PCI id 1111:2222");
	shipped_pair();
	every_byte();
	gpu_error("[x]\n[defaults]\n", "[defaults] must be the first");
	gpu_error("[defaults]\nvendor = a\nvendor = b\n", "given twice");
	memset(deep, 'a', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	gpu_error(deep, "t.conf:1: line longer than");

	model_error("[m]\narch = lama\n", "no such family \"lama\"");
	model_error("[m]\nhidden = 0\n", "outside 16 to");
	model_error("[m]\nname = M\narch = llama\nsource = s\nhidden = 64\nlayers = 2\nheads = 4\nffn = 64\n",
		    "needs the key vocab");
	model_error("[m]\nname = M\narch = llama\nsource = s\nhidden = 64\nlayers = 2\nheads = 4\nkv_heads = 3\nffn = 64\nvocab = 99\n",
		    "multiple of kv_heads");
	model_error("[m]\nname = M\narch = mixtral\nsource = s\nhidden = 64\nlayers = 2\nheads = 4\nffn = 64\nvocab = 99\n",
		    "needs experts");
	model_error("[m]\ntied = true\n", "neither yes nor no");
	model_error("[family.x]\nlike = y\n", "[x] is like y, which is not described");
	model_error("[family.x]\nlike = x\n", "[x] is like itself");
	model_error("[family.x]\nattention.colour = 1\n", "a part has no \"colour\"");
#define X_MODEL "[m]\nname = M\narch = x\nsource = s\nhidden = 64\nlayers = 2\nheads = 4\nffn = 64\nvocab = 99\n"
	model_error("[family.x]\nq_norm = nothing_known\n" X_MODEL, "nothing is called nothing_known");
	model_error("[family.x]\nq_norm = q_norm + 1\n" X_MODEL, "q_norm depends on itself");
	model_error("[family.x]\nq_norm = 1 2\n" X_MODEL, "what is this");
	model_error("[family.x]\nq_norm = (1\n" X_MODEL, ") is missing");
	model_error("[family.x]\nq_norm = 1 is \"abc\n" X_MODEL, "a word is missing at \"\"");
	model_error("[family.x]\nattention.state = 9000000000000000\n" X_MODEL, "2^50 bytes");
	model_error("[family.x]\nq_norm = 1 / 3\n" X_MODEL, "does not say how large it is");
	model_error("[family.x]\nmlp.tensors = up\n" X_MODEL, "write name[rows, columns]");
	model_error("[family.x]\nmlp.tensors = up[hidden\n" X_MODEL, "] is missing");
	layer_error(1, "[family.x]\nq_norm = (1\n", "m.conf:2: q_norm: formula \"(1\": ) is missing");
	layer_error(1, "[family.x]\nmlp.tensors = up[1] down\n", "name[rows, columns] is wanted");
	layer_error(1, "[family.x]\nmlp.tensors = up[1, 2\n", "m.conf:2: mlp.tensors: ] is missing");
	layer_error(1, "[family.x]\nmlp.kept = up[1, +]\n", "mlp.kept: formula");
	layer_error(1, "[family.x]\nmlp.group = nowhere\n", "there is no group \"nowhere\"");
	layer_error(1, "[family.x]\nmlp.when = 0 && nobody\n",
		    "[x] mlp.when: formula \"0 && nobody\": nothing is called nobody");
#undef X_MODEL
}

static void layers(void)
{
	struct catalogue c = { 0 };
	struct fault f = { "" };
	double value = 0;

	parse_gpus(&c, 0, "[defaults]\nvendor = v\n\n[x-1]\nname = X\nform = pcie-card\nsource = s\npci = 1111:2222\nmemory_mib = 2048\nassumed.tdp_w = 100\n", &f);
	ok(!parse_gpus(&c, 1, "[x-1]\nnote = mine\ntdp_w = 90\nassumed.memory_mib = 4096\n[y]\nname = Y\nvendor = v\nform = module\nsource = s", &f),
	   "a second directory adds and overrides %s", f.text);
	ok(!catalogue_check_gpus(&c, &f), "the result is whole %s", f.text);
	is_int(c.n_gpus, 2, "one entry changed, one added");
	is_str(c.gpus[0].name, "X", "what is not given stays");
	is_str(c.gpus[0].vendor, "v", "a default counts");
	is_str(c.gpus[0].note, "mine", "what is given is taken");
	is_int(cat_gpu_fact(&c.gpus[0], GPU_TDP_W, &value), GPU_VERIFIED,
	       "verified wins over assumed");
	is_int((int)value, 90, "with its value");
	is_int(cat_gpu_fact(&c.gpus[0], GPU_MEMORY_MIB, &value), GPU_VERIFIED,
	       "assumed does not hide verified");
	is_int((int)value, 2048, "whose value stays");
	catalogue_free(&c);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		printf("# %s could not be written\n", path);
}

static void files(void)
{
	char dir[] = "/tmp/catalogue-test-XXXXXX", path[128];
	struct catalogue c;
	struct fault f = { "" };

	if (!mkdtemp(dir)) {
		ok(false, "a directory for the test");
		return;
	}
	snprintf(path, sizeof(path), "%s/gpus.d", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/gpus.d/10.conf", dir);
	write_file(path, ENTRY);
	snprintf(path, sizeof(path), "%s/gpus.d/ignored.conf~", dir);
	write_file(path, "nonsense\n");

	ok(!catalogue_load(&c, "ctl/catalogue", dir, &f),
	   "the admin's directory is read %s", f.text);
	is_int(c.n_gpus, 69, "one product more");
	catalogue_free(&c);

	snprintf(path, sizeof(path), "%s/models.d", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/models.d/mine.conf", dir);
	write_file(path, "[family.mine]\nlike = nobody\n");
	ok(!catalogue_load_gpus(&c, "ctl/catalogue", dir, &f), "GPUs do without models %s", f.text);
	ok(catalogue_load_models(&c, "ctl/catalogue", dir, &f) < 0, "which are refused: %s", f.text);
	is_int(c.n_gpus, 0, "nothing is left after that either");
	unlink(path);
	snprintf(path, sizeof(path), "%s/models.d", dir);
	rmdir(path);

	snprintf(path, sizeof(path), "%s/gpus.d/20.conf", dir);
	write_file(path, "[x-1]\n");
	ok(catalogue_load(&c, "ctl/catalogue", dir, &f) == -EEXIST &&
	   strstr(f.text, "20.conf:1:"), "twice in a directory: %s", f.text);
	is_int(c.n_gpus, 0, "nothing is left after an error");
	unlink(path);

	ok(catalogue_load(&c, dir, NULL, &f) == -ENOENT &&
	   strstr(f.text, "models.d"), "what comes with gpuctl must be there: %s",
	   f.text);

	snprintf(path, sizeof(path), "%s/gpus.d/10.conf", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/gpus.d/ignored.conf~", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/gpus.d", dir);
	rmdir(path);
	rmdir(dir);
}

int main(void)
{
	struct fault f = { "" };

	if (!ok(!catalogue_load(&cat, "ctl/catalogue", NULL, &f),
		"the catalogue can be read %s", f.text))
		return tap_done();
	every_gpu();
	consistency();
	lookup_by_pci();
	simulated();
	lookup_by_name();
	memory();
	models();
	every_family();
	errors();
	layers();
	files();
	catalogue_free(&cat);
	return tap_done();
}
