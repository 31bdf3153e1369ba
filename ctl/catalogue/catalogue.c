// SPDX-License-Identifier: GPL-2.0-only
/*
 * The catalogues without I/O: texts in, checked entries out. What no single
 * line can show is checked over all of them: an entry without a needed key, an
 * id that two entries claim, a PCI id that two products claim.
 */
#include <errno.h>
#include <string.h>

#include "catalogue.h"

/* A section of models.d that begins so describes a family. */
#define FAMILY_SECTION "family."

/**
 * struct taking - where the items of one text go
 * @cat: the catalogue that grows
 * @layer: number of the directory
 */
struct taking {
	struct catalogue *cat;
	unsigned int layer;
};

static int catalogue_take_gpu(const struct conf_item *item, void *arg, struct fault *f)
{
	struct taking *t = arg;

	return cat_gpu_item(&t->cat->gpus, &t->cat->n_gpus, t->layer, item, f);
}

static int take_model(const struct conf_item *item, void *arg, struct fault *f)
{
	struct taking *t = arg;

	if (!strncmp(item->section, FAMILY_SECTION, strlen(FAMILY_SECTION)))
		return family_item(&t->cat->families, t->layer,
				   item->section + strlen(FAMILY_SECTION), item, f);
	return cat_model_item(&t->cat->models, &t->cat->n_models, t->layer, item, f);
}

int catalogue_parse_gpus(struct catalogue *cat, unsigned int layer, const char *file,
			 const char *text, size_t len, struct fault *f)
{
	struct taking t = { .cat = cat, .layer = layer };

	return conf_parse(file, text, len, catalogue_take_gpu, &t, f);
}

int catalogue_parse_models(struct catalogue *cat, unsigned int layer, const char *file,
			   const char *text, size_t len, struct fault *f)
{
	struct taking t = { .cat = cat, .layer = layer };

	return conf_parse(file, text, len, take_model, &t, f);
}

static int catalogue_take_engine(const struct conf_item *item, void *arg, struct fault *f)
{
	struct taking *t = arg;

	if (!strcmp(item->section, "speed"))
		return engine_speed_item(t->cat->speed, item, f);
	return engine_item(&t->cat->engines, &t->cat->n_engines, t->layer, item, f);
}

int catalogue_parse_engines(struct catalogue *cat, unsigned int layer, const char *file,
			    const char *text, size_t len, struct fault *f)
{
	struct taking t = { .cat = cat, .layer = layer };

	return conf_parse(file, text, len, catalogue_take_engine, &t, f);
}

static bool same_pci(const struct gpu_pci_id *a, const struct gpu_pci_id *b)
{
	return a->vendor == b->vendor && a->device == b->device && a->sub == b->sub &&
	       a->subvendor == b->subvendor && a->subdevice == b->subdevice;
}

static const struct gpu_pci_id *shared(const struct gpu_pci_id *a, size_t na,
				       const struct gpu_pci_id *b, size_t nb)
{
	size_t i, j;

	for (i = 0; i < na; i++)
		for (j = 0; j < nb; j++)
			if (same_pci(&a[i], &b[j]))
				return &a[i];
	return NULL;
}

static int check_pair(const struct cat_gpu *a, const struct cat_gpu *b, struct fault *f)
{
	const struct gpu_pci_id *id;

	id = shared(a->pci, a->n_pci, b->pci, b->n_pci);
	if (!id)
		id = shared(a->pci_vf, a->n_pci_vf, b->pci_vf, b->n_pci_vf);
	if (!id)
		id = shared(a->pci, a->n_pci, b->pci_vf, b->n_pci_vf);
	if (!id)
		id = shared(a->pci_vf, a->n_pci_vf, b->pci, b->n_pci);
	if (id)
		return fault_set(f, EEXIST,
				 "[%s] and [%s] both claim PCI id %04x:%04x; add the subsystem ids that tell them apart",
				 a->id, b->id, id->vendor, id->device);
	return 0;
}

/* Of every two the one or the other is of directory @layer, or a later one. */
static int catalogue_check_pairs(const struct catalogue *cat, unsigned int layer, struct fault *f)
{
	size_t i, j;
	int err = 0;

	for (i = 0; !err && i < cat->n_gpus; i++)
		for (j = 0; !err && j < i; j++)
			if (cat->gpus[i].layer >= layer || cat->gpus[j].layer >= layer)
				err = check_pair(&cat->gpus[j], &cat->gpus[i], f);
	return err;
}

int catalogue_check_gpus(struct catalogue *cat, struct fault *f)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < cat->n_gpus; i++)
		err = cat_gpu_complete(&cat->gpus[i], f);
	/* What was shipped was checked by who shipped it. */
	return err ? err : catalogue_check_pairs(cat, 1, f);
}

static int model_work_out(struct catalogue *cat, struct cat_model *model, struct fault *f)
{
	int err = 0;

	if (!model->whole)
		err = cat_model_complete(model, &cat->families, f);
	model->whole = !err;
	return err;
}

int catalogue_check_models(struct catalogue *cat, struct fault *f)
{
	size_t i;
	int err;

	err = families_link(&cat->families, f);
	/* As with GPUs. */
	for (i = 0; i < cat->n_models && !err; i++)
		if (cat->models[i].layer)
			err = model_work_out(cat, &cat->models[i], f);
	for (i = 0; i < cat->n_engines && !err; i++)
		err = engine_complete(&cat->engines[i], f);
	return err;
}

int catalogue_work_out(struct catalogue *cat, struct fault *f)
{
	int err = catalogue_check_pairs(cat, 0, f);
	size_t i;

	for (i = 0; i < cat->n_models && !err; i++)
		err = model_work_out(cat, &cat->models[i], f);
	return err;
}

int catalogue_model(struct catalogue *cat, const char *name, const struct cat_model **out,
		    struct fault *f)
{
	const struct cat_model *found;
	int err;

	*out = NULL;
	err = cat_model_find(cat->models, cat->n_models, name, &found, f);
	if (!err)
		err = model_work_out(cat, &cat->models[found - cat->models], f);
	if (!err)
		*out = found;
	return err;
}

void catalogue_free(struct catalogue *cat)
{
	cat_gpu_free(cat->gpus, cat->n_gpus);
	cat_model_free(cat->models, cat->n_models);
	families_free(&cat->families);
	engine_free(cat->engines, cat->n_engines);
	memset(cat, 0, sizeof(*cat));
}
