/* SPDX-License-Identifier: GPL-2.0-only */
/* Empty slots as if fabric managers had bound GPUs to them, for the one search. Pure. */
#ifndef GPUCTL_CHOOSE_IMAGINE_H
#define GPUCTL_CHOOSE_IMAGINE_H

#include "choose/choose.h"

/**
 * struct imagine_port - an empty slot at a port of a manager
 * @place: what is known of a slot without its GPU
 * @manager: number of the manager
 */
struct imagine_port {
	struct choose_slot place;
	size_t manager;
};

/**
 * struct imagine_gpu - a GPU that a manager can bind
 * @kind: name of its kind, as in struct choose_slot
 * @gpu: catalogue entry, NULL when the catalogue has none
 * @vendor: PCI vendor id, 0 when unknown
 * @device: PCI device id, 0 when unknown
 * @memory: bytes, 0 when unknown
 * @manager: number of the manager
 */
struct imagine_gpu {
	const char *kind;
	const struct cat_gpu *gpu;
	uint16_t vendor, device;
	uint64_t memory;
	size_t manager;
};

/**
 * struct imagine - what is here, and what could come
 * @slots: slots with a card, @n of them
 * @ports: empty slots, @n_ports of them
 * @gpus: GPUs of managers, @n_gpus of them
 * @wants: of the request, @n_wants of them; those with a word get their GPUs first
 * @fewest: the fewest GPUs count before kinds, as for a workload
 */
struct imagine {
	const struct choose_slot *slots;
	size_t n;
	const struct imagine_port *ports;
	size_t n_ports;
	const struct imagine_gpu *gpus;
	size_t n_gpus;
	const struct choose_want *wants;
	size_t n_wants;
	bool fewest;
};

/**
 * struct imagined - what was chosen
 * @ports: ports that get a GPU, and of the same index in
 * @gpus: which GPU that is; @n of them
 * @here: slots with a card that were chosen, @n_here of them
 * @why: in words
 */
struct imagined {
	size_t *ports;
	size_t *gpus;
	size_t n;
	size_t *here;
	size_t n_here;
	char *why;
};

/* The search for a request: as choose(), with any error. */
typedef int (*imagine_fn)(void *arg, struct choose_slot *slots, size_t n,
			  struct choose_result *result);

/*
 * A port can have one GPU. So the ports are filled in several ways, each kind first at one time and
 * those of each switch first; @search looks at each of these, and the best of what it
 * finds is taken. Returns 0, or the last error of @search when it finds nothing.
 */
int imagine(const struct imagine *what, imagine_fn search, void *arg, struct imagined *best);
void imagined_free(struct imagined *imagined);

#endif /* GPUCTL_CHOOSE_IMAGINE_H */
