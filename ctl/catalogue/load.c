// SPDX-License-Identifier: GPL-2.0-only
/* Which directories the catalogues are read from: what comes along, then the admin's. */
#include <string.h>

#include "base/conf_dir.h"
#include "catalogue.h"

/**
 * struct layer - one call of a parser of the catalogue
 * @cat: where it goes
 * @number: 0 for what comes along, 1 for the admin's
 * @parse: reads one file
 */
struct layer {
	struct catalogue *cat;
	unsigned int number;
	int (*parse)(struct catalogue *cat, unsigned int layer, const char *file, const char *text,
		     size_t len, struct fault *f);
};

static int parse_layer(const char *file, const char *text, size_t len, void *arg, struct fault *f)
{
	const struct layer *layer = arg;

	return layer->parse(layer->cat, layer->number, file, text, len, f);
}

static int load_gpus(struct catalogue *cat, unsigned int number, const char *dir, struct fault *f)
{
	struct layer layer = { cat, number, catalogue_parse_gpus };

	return conf_dir_read(dir, "gpus.d", !number, parse_layer, &layer, f);
}

static int load_models(struct catalogue *cat, unsigned int number, const char *dir,
		       struct fault *f)
{
	struct layer layer = { cat, number, catalogue_parse_models };

	return conf_dir_read(dir, "models.d", !number, parse_layer, &layer, f);
}

static int load_engines(struct catalogue *cat, unsigned int number, const char *dir,
			struct fault *f)
{
	struct layer layer = { cat, number, catalogue_parse_engines };

	return conf_dir_read(dir, "engines.d", !number, parse_layer, &layer, f);
}

int catalogue_load(struct catalogue *cat, const char *data_dir,
		   const char *config_dir, struct fault *f)
{
	int err, i;

	memset(cat, 0, sizeof(*cat));
	for (i = 0; i < ENGINE_SPEEDS; i++)
		cat->speed[i] = 1;
	f->text[0] = '\0';
	err = load_gpus(cat, 0, data_dir, f);
	if (!err)
		err = load_models(cat, 0, data_dir, f);
	if (!err)
		err = load_engines(cat, 0, data_dir, f);
	if (!err && config_dir)
		err = load_gpus(cat, 1, config_dir, f);
	if (!err && config_dir)
		err = load_models(cat, 1, config_dir, f);
	if (!err && config_dir)
		err = load_engines(cat, 1, config_dir, f);
	if (!err)
		err = catalogue_check(cat, f);
	if (err)
		catalogue_free(cat);
	return err;
}
