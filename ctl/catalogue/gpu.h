/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * GPU products: what is known of each, how well, and how to find one.
 */
#ifndef GPUCTL_CATALOGUE_GPU_H
#define GPUCTL_CATALOGUE_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf.h"
#include "base/fault.h"

/* Vendor id of every simulated device; its subsystem ids say what it imitates. */
#define GPU_VENDOR_SIMULATED 0x6767

/* How a product is built. Only a card can be in a slot of a fabric. */
enum gpu_form {
	GPU_FORM_CARD, /* pcie-card */
	GPU_FORM_MODULE, /* module: SXM, OAM, soldered; sized, never hot-plugged */
	GPU_FORM_SERVICE, /* service: rented, not sold; sized only */
};

enum gpu_trust {
	GPU_UNKNOWN, /* nothing known */
	GPU_FROM_LABEL, /* memory only: derived from the marketing figure */
	GPU_ASSUMED, /* remembered or inferred */
	GPU_VERIFIED, /* seen in the source that the entry names */
};

/* The numbers of a product. Names, units and ranges: gpu_fact_types[]. */
enum gpu_fact {
	GPU_MEMORY_MIB, /* usable, per device, as the driver reports it */
	GPU_MEMORY_LABEL_GIB, /* as sold, per product */
	GPU_DEVICES, /* devices that one product shows as; 1 if unknown */
	GPU_BANDWIDTH_GBS, /* memory bandwidth, 1e9 bytes/s */
	GPU_FP32_TFLOPS, /* without TF32, which PyTorch leaves off for products of matrices */
	GPU_FP16_TFLOPS, /* dense */
	GPU_FP8_TFLOPS, /* dense */
	GPU_TDP_W,
	GPU_IDLE_W,
	GPU_LINK_GBS, /* GPU to GPU link, both directions, 1e9 bytes/s */
	GPU_PCIE_GEN,
	GPU_PCIE_WIDTH,
	GPU_BAR1_MIB, /* the large prefetchable BAR */
	GPU_CAPABILITY, /* CUDA compute capability: 9.0 is Hopper */
	GPU_FACTS
};

/**
 * struct gpu_fact_type - how a number is written
 * @key: in the files; with "assumed." before it for an assumed value
 * @unit: for people, "" where the key says all
 * @min: smallest value that is believed
 * @max: largest value that is believed
 * @whole: no decimals
 */
struct gpu_fact_type {
	const char *key;
	const char *unit;
	double min;
	double max;
	bool whole;
};

extern const struct gpu_fact_type gpu_fact_types[GPU_FACTS];

/**
 * struct gpu_pci_id - one PCI identity of a product
 * @vendor: PCI vendor id
 * @device: PCI device id
 * @subvendor: valid if @sub
 * @subdevice: valid if @sub
 * @sub: several products share vendor and device: the subsystem must match too
 * @vf: a virtual function of the product
 */
struct gpu_pci_id {
	uint16_t vendor;
	uint16_t device;
	uint16_t subvendor;
	uint16_t subdevice;
	bool sub;
	bool vf;
};

/**
 * struct cat_gpu - one product
 * @id: name of its section, unique
 * @name: full product name
 * @brief: name for narrow columns, not unique; never NULL
 * @vendor: nvidia, amd, ...
 * @driver: kernel drivers expected, separated by blanks; NULL if none
 * @link: GPU to GPU link: none, nvlink, nvlink-bridge, xgmi, ...; may be NULL
 * @source: where the verified values were seen
 * @note: anything else worth knowing; may be NULL
 * @aliases: other names; several products may answer to one
 * @pci: identities; none for a service
 *
 * The remaining members belong to gpu.c. All strings are owned by the entry.
 */
struct cat_gpu {
	char *id;
	char *name;
	char *brief;
	char *vendor;
	char *driver;
	char *link;
	char *source;
	char *note;
	char **aliases;
	size_t n_aliases;
	enum gpu_form form;
	struct gpu_pci_id *pci;
	size_t n_pci;
	struct gpu_pci_id *pci_vf;
	size_t n_pci_vf;

	double verified[GPU_FACTS];
	double assumed[GPU_FACTS];
	uint32_t known_verified;
	uint32_t known_assumed;
	uint64_t seen;
	unsigned int layer;
	bool has_form;
};

/* Takes one item; @layer counts directories, a later one may override. */
int cat_gpu_item(struct cat_gpu **gpus, size_t *n, unsigned int layer, const struct conf_item *item,
		 struct fault *f);

/* Is everything there that an entry needs? Fills @brief. */
int cat_gpu_complete(struct cat_gpu *gpu, struct fault *f);

void cat_gpu_free(struct cat_gpu *gpus, size_t n);

/* A number and how well it is known; @value is untouched if GPU_UNKNOWN. */
enum gpu_trust cat_gpu_fact(const struct cat_gpu *gpu, enum gpu_fact fact, double *value);

/*
 * Usable MiB of one device: verified, else assumed, else the label less the
 * sixteenth that in-band ECC takes at most; 0 if nothing is known.
 */
uint64_t cat_gpu_memory_mib(const struct cat_gpu *gpu, enum gpu_trust *trust);

/* Is it of the kind that models run on today? Lists begin with those. */
bool cat_gpu_for_models(const struct cat_gpu *gpu);

const char *cat_gpu_form_name(enum gpu_form form);
const char *cat_gpu_trust_name(enum gpu_trust trust);

/**
 * struct gpu_identity - what a PCI device is
 * @gpu: its product, NULL if the catalogue has none
 * @simulated: a device of the simulator that imitates @gpu
 * @vf: a virtual function of @gpu
 */
struct gpu_identity {
	const struct cat_gpu *gpu;
	bool simulated;
	bool vf;
};

/* Identity of a device by the ids in its config space. */
struct gpu_identity cat_gpu_by_pci(const struct cat_gpu *gpus, size_t n, uint16_t vendor,
				   uint16_t device, uint16_t subvendor, uint16_t subdevice);

/*
 * What to call a device in a listing: "H100 PCIe", "H100 PCIe (sim)",
 * "MI300X VF", or the ids in hex for a device that the catalogue lacks.
 * Returns @buf.
 */
const char *cat_gpu_label(const struct gpu_identity *id, uint16_t vendor, uint16_t device,
			  uint16_t subvendor, uint16_t subdevice, char *buf, size_t size);

/*
 * Does @gpu answer to @name? Names are compared without regard to case and
 * punctuation: id, name, brief and aliases, with or without the vendor.
 */
bool cat_gpu_answers(const struct cat_gpu *gpu, const char *name);

/* All that answer to @name, at most @max in @out; returns how many there are. */
size_t cat_gpu_matches(const struct cat_gpu *gpus, size_t n, const char *name,
		       const struct cat_gpu **out, size_t max);

/*
 * The one that @name means. An id or full name wins over an alias, and among
 * several that share an alias the only card wins. -ENOENT or -ENOTUNIQ, with
 * the candidates in the text.
 */
int cat_gpu_find(const struct cat_gpu *gpus, size_t n, const char *name, const struct cat_gpu **out,
		 struct fault *f);

#endif
