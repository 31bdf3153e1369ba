// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: how fast estimates are
 *
 *	build/size-rate CATALOGUE DIR
 *
 * A safetensors index of 1,000 shards, a GGUF file with a header of 200 MB and 1,000
 * shards without an index, all made in DIR, with the time and the memory of reading
 * them; then estimates of every model on every kind of GPU, a second on one core, and
 * searches for their number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "catalogue/catalogue.h"
#include "size/estimate.h"
#include "size/physics.h"
#include "size/source.h"

static double now(void)
{
	struct timespec t;

	/* of this process: the machine may be busy */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What this process had at most in memory since clear_peak(), in KiB. */
static long peak_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %ld kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

/* getrusage() would count what the program that started this one had. */
static void clear_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");

	if (!file)
		return;
	fputs("5", file);
	fclose(file);
}

static void rate(const struct catalogue *cat)
{
	double start = now(), took, sum = 0;
	size_t n = 0, m, g, fitting = 0;

	do {
		for (m = 0; m < cat->n_models; m++) {
			struct size_layout layout = { .gpus = 1, .tp = 1, .pp = 1 };
			struct size_estimate e;
			struct size_request req;
			enum gpu_trust trust;
			struct fault f;

			for (g = 0; g < cat->n_gpus; g++) {
				size_request_init(&req);
				req.model = &cat->models[m];
				req.engine = &engine_generic;
				req.task = (enum size_task)(n % SIZE_TASKS);
				if (size_request_check(&req, &f))
					continue;
				size_estimate(&req, &layout, &e);
				fitting += e.p95[MEMORY_DEVICE] / 1048576 <=
					   (double)cat_gpu_memory_mib(&cat->gpus[g], &trust);
				sum += e.p95[MEMORY_DEVICE];
				n++;
			}
		}
		took = now() - start;
	} while (took < 1);
	printf("%zu models x %zu kinds: %.0f estimates a second (%zu fit, mean %.0f GiB)\n",
	       cat->n_models, cat->n_gpus, (double)n / took, fitting,
	       sum / (double)n / (1 << 30));
}

/* How many GPUs of each kind, which is a search of layouts. */
static void search_rate(const struct catalogue *cat)
{
	double start = now(), took;
	size_t n = 0, m, g, fitting = 0;
	struct size_request req;
	struct size_fit fit;
	struct fault f;

	do {
		for (m = 0; m < cat->n_models; m++) {
			size_request_init(&req);
			req.model = &cat->models[m];
			req.engine = &engine_generic;
			req.batch = 16;
			if (size_request_check(&req, &f))
				continue;
			for (g = 0; g < cat->n_gpus; g++, n++)
				fitting += !size_fit_gpu(&req, &cat->gpus[g], &fit, &f) &&
					   fit.layout.gpus;
		}
		took = now() - start;
	} while (took < 1);
	printf("%zu models x %zu kinds: %.0f numbers of GPUs a second (%zu fit)\n", cat->n_models,
	       cat->n_gpus, (double)n / took, fitting);
}

static void make_index(const char *path)
{
	FILE *file = fopen(path, "w");
	int i, j;

	if (!file)
		return;
	fprintf(file, "{\"metadata\":{\"total_size\":1342177280000},\"weight_map\":{");
	for (i = 0; i < 1000; i++)
		for (j = 0; j < 60; j++)
			fprintf(file,
				"%s\n\"model.layers.%d.mlp.experts.%d.down_proj.weight\":\"model-%05d-of-01000.safetensors\"",
				i + j ? "," : "", i, j, i + 1);
	fprintf(file, "}}\n");
	fclose(file);
}

static void put(FILE *file, uint64_t n, int bytes)
{
	while (bytes--) {
		putc((int)(n & 255), file);
		n >>= 8;
	}
}

static void put_text(FILE *file, const char *s)
{
	put(file, strlen(s), 8);
	fputs(s, file);
}

/* A vocabulary of 200 MB, then one tensor. */
static void make_gguf(const char *path)
{
	FILE *file = fopen(path, "w");
	int i;

	if (!file)
		return;
	fputs("GGUF", file);
	put(file, 3, 4);
	put(file, 1, 8);
	put(file, 1, 8);
	put_text(file, "tokenizer.ggml.tokens");
	put(file, 9, 4);
	put(file, 8, 4);
	put(file, 4000000, 8);
	for (i = 0; i < 4000000; i++)
		put_text(file, "a token of a vocabulary of some forty bytes");
	put_text(file, "token_embd.weight");
	put(file, 1, 4);
	put(file, 256, 8);
	put(file, 0, 4);
	put(file, 0, 8);
	fclose(file);
}

#define SHARDS 1000
#define SHARD_TENSORS 60

static void shard_path(char path[4096], const char *dir, int i)
{
	snprintf(path, 4096, "%.4000s/model-%05d-of-%05d.safetensors", dir, i, SHARDS);
}

/* A header of sixty tensors; what they hold is a hole in the file. */
static void make_shard(const char *path, int shard)
{
	FILE *file = fopen(path, "w");
	char text[SHARD_TENSORS * 192];
	size_t n = 0;
	int i;

	if (!file)
		return;
	for (i = 0; i < SHARD_TENSORS; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "%c\"model.layers.%d.mlp.experts.%d.down_proj.weight\":{\"dtype\":\"BF16\",\"shape\":[1024,1024],\"data_offsets\":[%d,%d]}",
				      i ? ',' : '{', shard, i, i << 21, (i + 1) << 21);
	text[n++] = '}';
	put(file, n, 8);
	fwrite(text, 1, n, file);
	fflush(file);
	if (ftruncate(fileno(file), (off_t)(8 + n + ((size_t)SHARD_TENSORS << 21))))
		perror(path);
	fclose(file);
}

/* A folder without an index: the header of each shard is read. */
static void make_shards(const char *dir)
{
	char path[4096];
	int i;

	mkdir(dir, 0755);
	for (i = 1; i <= SHARDS; i++) {
		shard_path(path, dir, i);
		make_shard(path, i);
	}
}

static void drop_shards(const char *dir)
{
	char path[4096];
	int i;

	for (i = 1; i <= SHARDS; i++) {
		shard_path(path, dir, i);
		unlink(path);
	}
	rmdir(dir);
}

/* In a process of its own, so that each file is measured alone. */
static bool read_one(const char *path, const struct cat_families *families)
{
	struct size_stored stored;
	struct fault f = { "" };
	struct stat st;
	int status = -1, err;
	double start;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		clear_peak();
		start = now();
		err = stored_open(path, families, &stored, &f);
		start = now() - start;
		if (stat(path, &st))
			memset(&st, 0, sizeof(st));
		printf("%s: ", strrchr(path, '/') + 1);
		if (S_ISDIR(st.st_mode))
			printf("%d headers read", SHARDS);
		else
			printf("%.1f MB read", (double)st.st_size / 1e6);
		printf(" in %.1f ms, %ld KiB of memory at the peak, %llu bytes of tensors%s%s\n",
		       start * 1000, peak_kib(),
		       (unsigned long long)stored.bytes, err ? " " : "", f.text);
		stored_free(&stored);
		fflush(stdout);
		_exit(err ? 1 : 0);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	unlink(path);
	return !status;
}

int main(int argc, char **argv)
{
	struct catalogue cat;
	struct fault f;
	char path[4096];
	bool good;

	if (argc < 3) {
		fprintf(stderr, "usage: size-rate CATALOGUE DIR\n");
		return 2;
	}
	if (catalogue_load(&cat, argv[1], NULL, &f)) {
		fprintf(stderr, "size-rate: %s\n", f.text);
		return 1;
	}
	snprintf(path, sizeof(path), "%s/1000-shards.index.json", argv[2]);
	make_index(path);
	good = read_one(path, &cat.families);
	snprintf(path, sizeof(path), "%s/200-MB-header.gguf", argv[2]);
	make_gguf(path);
	good = read_one(path, &cat.families) && good;
	snprintf(path, sizeof(path), "%s/1000-shards", argv[2]);
	make_shards(path);
	good = read_one(path, &cat.families) && good;
	drop_shards(path);
	rate(&cat);
	search_rate(&cat);
	catalogue_free(&cat);
	return good ? 0 : 1;
}
