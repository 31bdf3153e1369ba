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

/* One directory of both layers, what comes along first. */
static int load_layers(struct catalogue *cat, const char *name, const char *data_dir,
		       const char *config_dir,
		       int (*parse)(struct catalogue *cat, unsigned int layer, const char *file,
				    const char *text, size_t len, struct fault *f),
		       struct fault *f)
{
	struct layer layer = { cat, 0, parse };
	int err;

	err = conf_dir_read(data_dir, name, true, parse_layer, &layer, f);
	layer.number = 1;
	if (!err && config_dir)
		err = conf_dir_read(config_dir, name, false, parse_layer, &layer, f);
	return err;
}

static int load_end(struct catalogue *cat, int err)
{
	if (err)
		catalogue_free(cat);
	return err;
}

int catalogue_load_gpus(struct catalogue *cat, const char *data_dir, const char *config_dir,
			struct fault *f)
{
	int err, i;

	memset(cat, 0, sizeof(*cat));
	for (i = 0; i < ENGINE_SPEEDS; i++)
		cat->speed[i] = 1;
	f->text[0] = '\0';
	err = load_layers(cat, "gpus.d", data_dir, config_dir, catalogue_parse_gpus, f);
	return load_end(cat, err ? err : catalogue_check_gpus(cat, f));
}

int catalogue_load_models(struct catalogue *cat, const char *data_dir, const char *config_dir,
			  struct fault *f)
{
	int err;

	err = load_layers(cat, "models.d", data_dir, config_dir, catalogue_parse_models, f);
	if (!err)
		err = load_layers(cat, "engines.d", data_dir, config_dir, catalogue_parse_engines,
				  f);
	return load_end(cat, err ? err : catalogue_check_models(cat, f));
}

int catalogue_load(struct catalogue *cat, const char *data_dir, const char *config_dir,
		   struct fault *f)
{
	int err;

	err = catalogue_load_gpus(cat, data_dir, config_dir, f);
	if (!err)
		err = catalogue_load_models(cat, data_dir, config_dir, f);
	return err ? err : load_end(cat, catalogue_work_out(cat, f));
}
