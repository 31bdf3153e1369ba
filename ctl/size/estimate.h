/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Methods: ways to get from a workload to memory, or straight to GPUs. A new
 * one is a row in size_methods[]; `size`, `size compare` and compose see it
 * at once.
 */
#ifndef GPUCTL_SIZE_ESTIMATE_H
#define GPUCTL_SIZE_ESTIMATE_H

#include "need.h"

#define SIZE_TASK(task) (1u << (task))
#define SIZE_ALL_TASKS (SIZE_TASK(SIZE_TASKS) - 1)
#define SIZE_ALL_TRAINING (SIZE_ALL_TASKS & ~SIZE_TASK(SIZE_INFER))

/**
 * struct size_method - one way to size a workload
 * @name: for --method
 * @rule: its formula
 * @reading: what it counts and what it leaves out
 * @tasks: bit mask of the tasks that it knows
 * @needs_model: a count of parameters is not enough
 * @check: are its own inputs there? NULL: it has none
 * @terms: memory of one GPU of a layout; formulas are filled for one GPU only
 * @gpus: number of GPUs without regard to memory; exactly one of @terms and
 *	@gpus is set. -ENODATA if the product's speed is not known
 *
 * The request was checked before @terms and @gpus are called.
 */
struct size_method {
	const char *name;
	const char *rule;
	const char *reading;
	unsigned int tasks;
	bool needs_model;
	int (*check)(const struct size_request *req, struct fault *f);
	void (*terms)(const struct size_request *req, const struct size_layout *layout,
		      struct size_terms *terms);
	int (*gpus)(const struct size_request *req, const struct cat_gpu *gpu, double *gpus,
		    struct fault *f);
};

/* Ends with NULL; the first is the default. */
extern const struct size_method *const size_methods[];

/* -ENOENT with the known names in the text. */
int size_method_find(const char *name, const struct size_method **out, struct fault *f);

/* The rows themselves; formula.c and rules.c. */
extern const struct size_method size_method_engine;
extern const struct size_method size_method_formula;
extern const struct size_method size_rules[];
extern const size_t size_n_rules;

/* Formulas in words for the terms of size_method_engine, which is fast without. */
void size_explain(const struct size_request *req, const struct size_layout *layout,
		  struct size_terms *terms);

/* Appends a term; saturates the total. */
void size_term_add(struct size_terms *terms, const char *name, uint64_t bytes, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
