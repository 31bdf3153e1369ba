/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All catalogues as one object, read from the files that come with gpuctl and
 * then from the admin's, which may add entries and override single keys.
 */
#ifndef GPUCTL_CATALOGUE_CATALOGUE_H
#define GPUCTL_CATALOGUE_CATALOGUE_H

#include "catalogue/engine.h"
#include "family.h"
#include "gpu.h"
#include "model.h"

/**
 * struct catalogue - what is known of GPUs and models
 * @gpus: in the order of the files
 * @models: in the order of the files
 * @families: of models, in the order of the files
 * @engines: in the order of the files
 * @speed: coefficients of [speed]; 1 until a file says
 *
 * Everything belongs to the catalogue; pointers into it are valid until
 * catalogue_free().
 */
struct catalogue {
	struct cat_gpu *gpus;
	size_t n_gpus;
	struct cat_model *models;
	size_t n_models;
	struct cat_families families;
	struct size_engine *engines;
	size_t n_engines;
	double speed[ENGINE_SPEEDS];
};

/*
 * Read the *.conf files of @data_dir in the order of their names, then those of @config_dir
 * (NULL: none): gpus.d for catalogue_load_gpus(), models.d and engines.d for
 * catalogue_load_models(), all of them for catalogue_load(). The directories of @data_dir have
 * to be there, those of @config_dir need not. Any line that is not understood fails the whole,
 * with "file:line: reason" in @f. Return 0 or a negative errno; after an error @cat is empty.
 *
 * Models and engines take ten times as long as GPUs: who sizes nothing does without them.
 * catalogue_load_models() adds to what catalogue_load_gpus() has read. It works out the models
 * of @config_dir alone, whose mistakes are to be seen; those of @data_dir take four fifths of
 * the time of all, and catalogue_model() works out the one that is asked for. In the same way
 * no two GPUs of @data_dir are compared. After catalogue_load() all are worked out and compared.
 */
int catalogue_load(struct catalogue *cat, const char *data_dir, const char *config_dir,
		   struct fault *f);
int catalogue_load_gpus(struct catalogue *cat, const char *data_dir, const char *config_dir,
			struct fault *f);
int catalogue_load_models(struct catalogue *cat, const char *data_dir, const char *config_dir,
			  struct fault *f);

/* The same for one text; the core of catalogue_load() without any I/O. */
int catalogue_parse_gpus(struct catalogue *cat, unsigned int layer, const char *file,
			 const char *text, size_t len, struct fault *f);
int catalogue_parse_models(struct catalogue *cat, unsigned int layer, const char *file,
			   const char *text, size_t len, struct fault *f);

int catalogue_parse_engines(struct catalogue *cat, unsigned int layer, const char *file,
			    const char *text, size_t len, struct fault *f);

/* Are all entries whole, and is no name or PCI id claimed twice? */
int catalogue_check_gpus(struct catalogue *cat, struct fault *f);
int catalogue_check_models(struct catalogue *cat, struct fault *f);

/* Works out all models, from what their files say: parameters, caches, sides of adapters. */
int catalogue_work_out(struct catalogue *cat, struct fault *f);

/*
 * The model that people call @name (cat_model_find()), worked out. -ENOENT with what there is
 * in @f, or -EINVAL for a model that is not whole.
 */
int catalogue_model(struct catalogue *cat, const char *name, const struct cat_model **out,
		    struct fault *f);

void catalogue_free(struct catalogue *cat);

#endif
