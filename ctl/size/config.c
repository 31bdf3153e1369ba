// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: config.json
 *
 * Which number means what is said by the families of the catalogue; here the
 * family is found by the file's model_type. A word that none has is no reason
 * to refuse: the usual keys make a plain transformer of it, and that is said.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "facts.h"
#include "json.h"

struct json_object *size_config_object(const char *text, size_t len, struct fault *f)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *config;

	if (!tok) {
		fault_set(f, ENOMEM, "out of memory");
		return NULL;
	}
	config = json_tokener_parse_ex(tok, text, len > INT32_MAX ? INT32_MAX : (int)len);
	if (!config || !json_object_is_type(config, json_type_object)) {
		fault_set(f, EINVAL, "not a JSON object (%s); copy the file again",
			  json_why_no_object(tok));
		json_object_put(config);
		config = NULL;
	}
	json_tokener_free(tok);
	return config;
}

/* Where models that see or hear keep the part that reads and writes. */
static const char *const inner_names[] = {
	"text_config",
	"language_config",
	"llm_config",
	"thinker_config.text_config",
};

static const struct cat_family *of_word(const struct cat_families *families, const char *word)
{
	return word ? family_of_word(families, "model_types", word) : NULL;
}

/* The word of a text model, which is a part of the file here, and what is outside gives no shape. */
static bool stands_around(struct json_object *config, const struct cat_family *family)
{
	size_t i;

	if (family_text(family, "text.model") || facts_find(config, "hidden_size"))
		return false;
	for (i = 0; i < sizeof(inner_names) / sizeof(inner_names[0]); i++)
		if (facts_find(facts_find(config, inner_names[i]), "hidden_size"))
			return true;
	return false;
}

/*
 * The family of a file, and the part of the file that it is about: of an unknown
 * word around a known text model, the text model.
 */
static const struct cat_family *family_of(struct json_object **config,
					  const struct cat_families *families, char unknown[64])
{
	const char *word = facts_text(*config, "model_type");
	const struct cat_family *family = of_word(families, word), *composite;
	struct json_object *inner;
	struct expr_facts facts;
	size_t i;

	*unknown = '\0';
	if (family && !stands_around(*config, family))
		return family;
	snprintf(unknown, 64, "%.60s", word ? word : SIZE_NAMELESS);
	for (i = 0; i < sizeof(inner_names) / sizeof(inner_names[0]); i++) {
		inner = facts_find(*config, inner_names[i]);
		if (!json_object_is_type(inner, json_type_object))
			continue;
		family = of_word(families, facts_text(inner, "model_type"));
		composite = family_get(families, "composite");
		if (family && composite && !family_text(family, "text.model"))
			return composite;
		*config = inner;
		if (family)
			return family;
		break;
	}
	facts = facts_of(*config);
	return family_guess(families, &facts);
}

int size_model_finish(struct cat_model *model, const char *name, struct fault *f)
{
	static const char source[] = "the file that was named";
	const char *text = cat_model_nonsense(model);

	if (text)
		return fault_set(f, EINVAL, "%s", text);
	free(model->id);
	free(model->name);
	free(model->source);
	model->id = strdup(name);
	model->name = strdup(name);
	model->source = strdup(source);
	if (!model->id || !model->name || !model->source)
		return fault_set(f, ENOMEM, "out of memory");
	return 0;
}

void size_model_drop(struct cat_model *model)
{
	free(model->id);
	free(model->name);
	free(model->source);
	free(model->arch);
	memset(model, 0, sizeof(*model));
}

/* Parts of a file that may have weights, by their key. */
static bool is_part(const char *key)
{
	static const char *const words[] = { "img_processor", "embd_layer", "audio_processor",
					     "vision_encoder", "multimodal" };
	static const char *const others[] = {
		"quant",	"compress", "generation",
		"transformers", "attn",	    "attention",
		"rope",		"moe",	    "ffn",
		"yarn",		"cache",    "auto",
		"eagle",	"spec",	    "task",
		"loss",		"mamba",    "ssm",
		"lora",		"sampl",    "processor_config",
		"projector",	"slice",
	};
	static const char end[] = "_config";
	size_t len = strlen(key), i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(key, words[i]))
			return true;
	if (len < sizeof(end) || strcmp(key + len - strlen(end), end))
		return false;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strstr(key, others[i]))
			return false;
	return true;
}

static bool family_reads(const struct cat_family *family, const char *key)
{
	size_t i;

	for (i = 0; family && i < family->n; i++)
		if (strstr(family->line[i].value, key))
			return true;
	return false;
}

/* What nothing read is not counted: that is said. */
static void name_left_out(struct json_object *config, const struct json_object *part,
			  const struct cat_family *family, struct cat_model *model)
{
	json_object_object_foreach(config, key, value) {
		if (json_object_is_type(value, json_type_object) && value != part &&
		    json_object_object_length(value) && is_part(key) &&
		    !family_reads(family, key) && !family_reads(model->text_family, key))
			cat_model_leave_out(model, key, strlen(key));
	}
}

int size_config_model(struct json_object *config, const struct cat_families *families,
		      struct cat_model *model, char unknown[64], tensor_fn tensor, void *arg,
		      struct fault *f)
{
	struct expr_facts facts, outer = facts_of(config);
	struct model_plan plan = {
		.families = families, .facts = &facts, .tensor = tensor, .arg = arg
	};
	struct json_object *part = config;
	int err;

	memset(model, 0, sizeof(*model));
	if (!facts_text(config, "model_type") && !facts_find(config, "hidden_size") &&
	    !facts_find(config, "text_config") && !facts_find(config, "n_layers") &&
	    !facts_find(config, "d_model"))
		return fault_set(f, EINVAL,
				 "model_type is missing: this is not the config.json of a language model");
	plan.family = family_of(&part, families, unknown);
	if (!plan.family)
		return fault_set(f, ENOENT, "[family." FAMILY_ROOT "] is not in models.d");
	facts = facts_of(part);
	facts.outer = part == config ? NULL : &outer;
	facts.defaults = facts.outer ? family_own_text(plan.family, "defaults") : NULL;
	err = cat_model_build(&plan, model, f);
	if (!*unknown)
		memcpy(unknown, model->unknown_text, sizeof(model->unknown_text));
	if (!err) {
		name_left_out(config, part, plan.family, model);
		err = size_model_finish(model, "config.json", f);
	}
	if (err) {
		if (*unknown && err != -ENOMEM)
			fault_prefix(f, "model_type \"%s\" is not known; read as [family.%s]",
				     unknown, plan.family->id);
		size_model_drop(model);
	}
	return err;
}
