// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: opening a model's files
 *
 * What a path is, is seen from its end and its first bytes. A folder is read
 * as Hugging Face lays it out: config.json, and the index or the one file of
 * weights when it is there.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "source.h"
#include "base/wide.h"

/* Files of one model. */
#define SHARDS_MAX 4096
/* Of a GGUF model; all are open at a time. */
#define PARTS_MAX 256

#define CONFIG_MAX (4u << 20)
#define PATH_LENGTH_MAX 4096

/**
 * struct opened - a file as a source of bytes
 * @fd: its descriptor
 * @path: where it is
 * @reader: who reads it
 */
struct opened {
	int fd;
	const char *path;
	const struct size_reader *reader;
	struct size_source source;
};

/* The bytes are there, or are brought now. */
static int want(const struct size_reader *reader, const char *path, uint64_t offset, size_t n)
{
	return reader->want ? reader->want(reader->arg, path, offset, n) : 0;
}

static int read_fd(void *arg, uint64_t offset, void *buf, size_t n)
{
	const struct opened *file = arg;
	char *to = buf;
	int err = want(file->reader, file->path, offset, n);

	if (err)
		return err;
	while (n) {
		ssize_t got = pread(file->fd, to, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		to += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

static int open_file(const struct size_reader *reader, const char *path, struct opened *file,
		     struct fault *f)
{
	struct stat st;
	int err = want(reader, path, 0, 0);

	if (err)
		return fault_set(f, -err, "%s", strerror(-err));
	/* never wait for a writer of a fifo that somebody put there */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		return fault_set(f, errno, "%s", strerror(errno));
	if (fstat(file->fd, &st) || !S_ISREG(st.st_mode)) {
		close(file->fd);
		return fault_set(f, EINVAL, "not a plain file");
	}
	file->path = path;
	file->reader = reader;
	file->source.read = read_fd;
	file->source.arg = file;
	file->source.size = (uint64_t)st.st_size;
	return 0;
}

static bool ends(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* The bytes of a small file, with a NUL behind them; free() them. */
static char *read_text(const struct opened *file, struct fault *f)
{
	char *text;
	int err;

	if (file->source.size > CONFIG_MAX) {
		fault_set(f, EINVAL, "larger than any config.json: %u bytes at most", CONFIG_MAX);
		return NULL;
	}
	text = malloc(file->source.size + 1);
	if (!text) {
		fault_set(f, ENOMEM, "out of memory");
		return NULL;
	}
	err = file->source.read(file->source.arg, 0, text, file->source.size);
	text[err ? 0 : file->source.size] = '\0';
	if (!err)
		return text;
	fault_set(f, -err, "%s", strerror(-err));
	free(text);
	return NULL;
}

/* hf_quant_config.json beside @path; NULL if there is none, or with @why it cannot be read. */
static struct json_object *read_beside(const struct size_reader *reader, const char *path,
				       struct fault *why)
{
	const char *slash = strrchr(path, '/');
	struct json_object *object = NULL;
	char name[PATH_LENGTH_MAX];
	struct opened file;
	char *text;

	if (snprintf(name, sizeof(name), "%.*shf_quant_config.json",
		     (int)(slash ? slash + 1 - path : 0), path) >= (int)sizeof(name) ||
	    (access(name, F_OK) && errno == ENOENT) || open_file(reader, name, &file, why))
		return NULL;
	text = read_text(&file, why);
	if (text)
		object = size_config_object(text, file.source.size, why);
	free(text);
	close(file.fd);
	return object;
}

static void take_quant(const struct size_quant *quant, const struct quant_sum *sum,
		       struct size_stored *out)
{
	snprintf(out->quant, sizeof(out->quant), "%s", *quant->name ? quant->name : quant->dtype);
	quant_precision(sum, out->quant, &out->precision);
	out->computed = (uint64_t)((sum->bits[0] + sum->bits[1] + sum->bits[2]) / 8);
	out->draft = (uint64_t)(sum->bits[2] / 8);
	memcpy(out->kv, quant->kv, sizeof(out->kv));
	memcpy(out->unclear, quant->unclear, sizeof(out->unclear));
}

static int source_read_model(struct json_object *config, const char *path,
			     const struct size_reader *reader, struct size_stored *out,
			     struct fault *f)
{
	struct fault why = { "" };
	struct json_object *beside = read_beside(reader, path, &why);
	struct size_quant quant;
	struct quant_sum sum = { .quant = &quant };
	int err = quant_read(config, beside, &quant, f);

	if (!err) {
		err = size_config_model(config, reader->families, &out->model, out->unknown,
					quant_tensor, &sum, f);
		/* what is for experts alone in a model of none is for all */
		if (!err && quant.experts_only && !out->model.params.experts) {
			size_model_drop(&out->model);
			quant.experts_only = false;
			memset(sum.bits, 0, sizeof(sum.bits));
			memset(sum.numbers, 0, sizeof(sum.numbers));
			err = size_config_model(config, reader->families, &out->model, out->unknown,
						quant_tensor, &sum, f);
		}
		quant_check_rules(&quant);
		if (!err)
			take_quant(&quant, &sum, out);
		quant_drop(&quant);
	}
	json_object_put(beside);
	if (!err && *why.text)
		snprintf(out->unclear, sizeof(out->unclear), "hf_quant_config.json: %.120s",
			 why.text);
	return err;
}

static int read_config(const struct opened *file, const char *path,
		       const struct size_reader *reader, struct size_stored *out, struct fault *f)
{
	struct json_object *config;
	char *text = read_text(file, f);
	int err = -EINVAL;

	if (!text)
		return err;
	config = size_config_object(text, file->source.size, f);
	if (config)
		err = source_read_model(config, path, reader, out, f);
	json_object_put(config);
	free(text);
	return err;
}

/* --- parts of a GGUF model ------------------------------------------------------- */

/* "NAME-00002-of-00003.gguf": the length of NAME, and of how many parts it is; 0: of one. */
static size_t part_name(const char *path, unsigned int *part, unsigned int *parts)
{
	static const char form[] = "-00000-of-00000.gguf";
	size_t n = strlen(path), len = sizeof(form) - 1, i;
	const char *at = path + n - len;

	if (n <= len)
		return 0;
	for (i = 0; i < len; i++)
		if (form[i] == '0' ? !isdigit((unsigned char)at[i]) : at[i] != form[i])
			return 0;
	*part = (unsigned int)strtoul(at + 1, NULL, 10);
	*parts = (unsigned int)strtoul(at + 10, NULL, 10);
	return *part && *part <= *parts && *parts > 1 && *parts <= PARTS_MAX ? n - len : 0;
}

/**
 * struct part - one part of a GGUF model
 * @path: of it
 * @open: it is there, and is not the one that was named
 */
struct part {
	struct opened file;
	char path[PATH_LENGTH_MAX];
	bool open;
};

/* The file that was named, and the other parts of its model that are beside it. */
static int read_gguf(const struct opened *named, const struct size_reader *reader,
		     struct size_stored *out, struct fault *f)
{
	unsigned int which = 1, parts = 1, i;
	size_t len = part_name(named->path, &which, &parts), n = 0;
	const struct size_source **source = calloc(parts, sizeof(*source));
	struct part *part = calloc(parts, sizeof(*part));
	struct fault ignored = { "" };
	int err;

	for (i = 0; source && part && i < parts; i++) {
		struct part *p = &part[i];

		if (i + 1 == which) {
			source[n++] = &named->source;
			continue;
		}
		p->open = snprintf(p->path, sizeof(p->path), "%.*s-%05u-of-%05u.gguf", (int)len,
				   named->path, i + 1, parts) < (int)sizeof(p->path) &&
			  !access(p->path, F_OK) && !open_file(reader, p->path, &p->file, &ignored);
		if (p->open)
			source[n++] = &p->file.source;
	}
	err = source && part ? gguf_read(source, n, reader->families, out, f) :
			       fault_set(f, ENOMEM, "out of memory");
	for (i = 0; part && i < parts; i++)
		if (part[i].open)
			close(part[i].file.fd);
	free(source);
	free(part);
	return err;
}

static int read_one(const char *path, const struct size_reader *reader, struct size_stored *out,
		    struct fault *f)
{
	struct opened file;
	char magic[4] = "";
	int err = open_file(reader, path, &file, f);

	if (err)
		return err;
	if (file.source.size >= sizeof(magic))
		read_fd(&file, 0, magic, sizeof(magic));
	if (!memcmp(magic, "GGUF", 4) || ends(path, ".gguf"))
		err = read_gguf(&file, reader, out, f);
	else if (ends(path, ".index.json"))
		err = safetensors_index(&file.source, out, f);
	else if (ends(path, ".safetensors"))
		err = safetensors_read(&file.source, out, f);
	else
		err = read_config(&file, path, reader, out, f);
	close(file.fd);
	return err;
}

static int path_in(char path[PATH_LENGTH_MAX], const char *dir, const char *name)
{
	return snprintf(path, PATH_LENGTH_MAX, "%s/%s", dir, name) < PATH_LENGTH_MAX;
}

/* What the config said goes on to what the weights said. */
static void keep_shape(struct size_stored *weights, struct size_stored *config)
{
	weights->model = config->model;
	weights->precision = config->precision;
	weights->computed = config->computed;
	weights->draft = config->draft;
	memcpy(weights->quant, config->quant, sizeof(config->quant));
	memcpy(weights->kv, config->kv, sizeof(config->kv));
	memcpy(weights->unclear, config->unclear, sizeof(config->unclear));
	memcpy(weights->unknown, config->unknown, sizeof(config->unknown));
	memcpy(weights->why, config->why, sizeof(config->why));
	weights->precision.name = weights->precision.name ? weights->quant : NULL;
}

/* Adds the tensors of one more file. */
static int add_stored(struct size_stored *sum, const struct size_stored *one, struct fault *f)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < one->n_dtypes; i++)
		err = stored_add(sum, one->dtype[i].name, one->dtype[i].params, one->dtype[i].bytes,
				 f);
	sum->missing = add_saturate(sum->missing, one->missing);
	sum->shards++;
	return err;
}

static bool has_file(const char *dir, const char *name)
{
	char path[PATH_LENGTH_MAX];

	return path_in(path, dir, name) && !access(path, F_OK);
}

/* The text of a file of a folder, NULL if there is none that can be read; free() it. */
static char *text_of(const struct size_reader *reader, const char *dir, const char *name)
{
	char path[PATH_LENGTH_MAX], *text;
	struct fault ignored = { "" };
	struct opened file;

	if (!path_in(path, dir, name) || open_file(reader, path, &file, &ignored))
		return NULL;
	text = read_text(&file, &ignored);
	close(file.fd);
	return text;
}

/**
 * struct shards - which files of a folder are its weights
 * @index: text of the index, or NULL; it names them
 * @folders: of a pipeline, what model_index.json names; or NULL
 * @extras: other copies and adapters as well: there is nothing else
 */
struct shards {
	const char *index;
	struct json_object *folders;
	bool extras;
};

/* A file of the same name without the word for its format, or the first of its shards. */
static bool has_twin(const char *dir, const char *name)
{
	static const char *const formats[] = { ".fp16", ".bf16", ".fp32", ".non_ema" };
	struct dirent *entry;
	const char *at = NULL;
	bool found = false;
	size_t i, n;
	DIR *open;

	for (i = 0; !at && i < sizeof(formats) / sizeof(formats[0]); i++)
		at = strstr(name, formats[i]);
	if (!at)
		return false;
	n = (size_t)(at - name);
	open = opendir(dir);
	while (open && !found && (entry = readdir(open)))
		found = !strncmp(entry->d_name, name, n) && ends(entry->d_name, ".safetensors") &&
			(entry->d_name[n] == '-' || !strcmp(entry->d_name + n, ".safetensors"));
	if (open)
		closedir(open);
	return found;
}

/* Files that repeat what others hold, or belong to something else. */
static bool is_extra(const char *dir, const char *name)
{
	return !strncmp(name, "consolidated", 12) || !strncmp(name, "adapter", 7) ||
	       !strncmp(name, "optimizer", 9) || has_twin(dir, name);
}

static bool is_shard(const struct shards *shards, const char *dir, const char *name)
{
	char quoted[PATH_LENGTH_MAX];

	if (!ends(name, ".safetensors"))
		return false;
	if (shards->index)
		return snprintf(quoted, sizeof(quoted), "\"%s\"", name) < (int)sizeof(quoted) &&
		       strstr(shards->index, quoted);
	return shards->extras || !is_extra(dir, name);
}

/* "unet": ["diffusers", "UNet2DConditionModel"]; one that is not loaded has nulls. */
static bool is_folder(const struct shards *shards, const char *name)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(shards->folders, name, &value);
	return json_object_is_type(value, json_type_array) &&
	       json_object_array_length(value) == 2 && json_object_array_get_idx(value, 1);
}

/* The safetensors files of a folder; that there are none is no error. */
static int read_shards(const char *dir, const struct size_reader *reader,
		       const struct shards *shards, struct size_stored *sum, struct fault *f)
{
	const struct shards inner = { .extras = shards->extras };
	struct size_stored *one = malloc(sizeof(*one));
	char path[PATH_LENGTH_MAX];
	struct dirent *entry;
	struct stat st;
	DIR *open = opendir(dir);
	int err = 0;

	while (one && open && !err && (entry = readdir(open)) && sum->shards < SHARDS_MAX) {
		if (*entry->d_name == '.' || !path_in(path, dir, entry->d_name) || stat(path, &st))
			continue;
		if (S_ISDIR(st.st_mode) && shards->folders && is_folder(shards, entry->d_name)) {
			/* a pipeline has a folder for each of its models */
			err = read_shards(path, reader, &inner, sum, f);
		} else if (S_ISREG(st.st_mode) && !shards->folders &&
			   is_shard(shards, dir, entry->d_name)) {
			err = read_one(path, reader, one, f);
			if (!err)
				err = add_stored(sum, one, f);
		}
	}
	if (open)
		closedir(open);
	free(one);
	return err;
}

/* The files themselves: those that an index names, or all that are no second copy. */
static int sum_files(const char *dir, const struct size_reader *reader, bool pipeline,
		     struct size_stored *weights, struct fault *f)
{
	char *index = pipeline ? NULL : text_of(reader, dir, "model.safetensors.index.json");
	char *list = pipeline ? text_of(reader, dir, "model_index.json") : NULL;
	struct shards shards = { .index = index };
	struct fault ignored = { "" };
	int err;

	if (list)
		shards.folders = size_config_object(list, strlen(list), &ignored);
	memset(weights, 0, sizeof(*weights));
	err = read_shards(dir, reader, &shards, weights, f);
	if (!err && !weights->bytes) {
		shards.index = NULL;
		shards.extras = true;
		err = read_shards(dir, reader, &shards, weights, f);
	}
	json_object_put(shards.folders);
	free(index);
	free(list);
	return err;
}

/* Files of PyTorch's older format: what is beside their tensors is a thousandth. */
static int sum_pickles(const char *dir, struct size_stored *weights, struct fault *f)
{
	char path[PATH_LENGTH_MAX];
	struct dirent *entry;
	DIR *open = opendir(dir);
	struct stat st;
	int err = 0;

	while (open && !err && (entry = readdir(open))) {
		const char *name = entry->d_name;

		if (!(ends(name, ".bin") && (!strncmp(name, "pytorch_model", 13) ||
					     !strncmp(name, "diffusion_pytorch", 17))) &&
		    !(ends(name, ".pth") && strncmp(name, "optimizer", 9)))
			continue;
		if (path_in(path, dir, name) && !stat(path, &st) && S_ISREG(st.st_mode))
			err = stored_add(weights, "pickle", 0, (uint64_t)st.st_size, f);
	}
	if (open)
		closedir(open);
	return err;
}

/* The weights of a folder, if they are there; the config has the shape. */
static int read_weights(const char *dir, const struct size_reader *reader, struct size_stored *out,
			struct fault *f)
{
	static const char *const names[] = {
		"model.safetensors.index.json",
		"model.safetensors",
		"consolidated.safetensors",
	};
	struct size_stored *weights = calloc(1, sizeof(*weights));
	bool pipeline = has_file(dir, "model_index.json");
	char path[PATH_LENGTH_MAX];
	size_t i = 0;
	int err = 0;

	if (!weights)
		return fault_set(f, ENOMEM, "out of memory");
	while (!pipeline && i < 3 && !has_file(dir, names[i]))
		i++;
	if (!pipeline && i < 3 && path_in(path, dir, names[i]))
		err = read_one(path, reader, weights, f);
	if (err)
		fault_prefix(f, "%s", names[i]);
	/* an index without its sum, or none: the files themselves */
	if (!err && !weights->bytes && !weights->params)
		err = sum_files(dir, reader, pipeline, weights, f);
	if (!err && !weights->bytes && !weights->params)
		err = sum_pickles(dir, weights, f);
	if (!err && (weights->bytes || weights->params)) {
		keep_shape(weights, out);
		*out = *weights;
		out->precision.name = out->precision.name ? out->quant : NULL;
	}
	free(weights);
	return err;
}

/* An index says how many bytes; the config beside it says what they are. */
static void read_neighbour(const char *path, const struct size_reader *reader,
			   struct size_stored *out)
{
	const char *slash = strrchr(path, '/');
	struct size_stored *config = calloc(1, sizeof(*config));
	char name[PATH_LENGTH_MAX];
	struct fault why = { "" };

	if (config &&
	    snprintf(name, sizeof(name), "%.*sconfig.json", (int)(slash ? slash + 1 - path : 0),
		     path) < (int)sizeof(name) &&
	    !access(name, F_OK)) {
		if (!read_one(name, reader, config, &why))
			keep_shape(out, config);
		else
			snprintf(out->why, sizeof(out->why), "config.json: %.200s", why.text);
	}
	free(config);
}

/*
 * The GGUF models of a folder that has no other weights: their number, and the path of
 * the first by name. Encoders of images are files of their own.
 */
static unsigned int find_gguf(const char *dir, char path[PATH_LENGTH_MAX])
{
	char first[PATH_LENGTH_MAX] = "";
	unsigned int n = 0, part, parts;
	struct dirent *entry;
	DIR *open = opendir(dir);

	while (open && (entry = readdir(open))) {
		const char *name = entry->d_name;

		if (ends(name, ".safetensors") || ends(name, ".safetensors.index.json") ||
		    !strcmp(name, "model_index.json")) {
			n = 0;
			break;
		}
		if (*name == '.' || !ends(name, ".gguf") || strstr(name, "mmproj") ||
		    (part_name(name, &part, &parts) && part > 1))
			continue;
		n++;
		if (!*first || strcmp(name, first) < 0)
			snprintf(first, sizeof(first), "%s", name);
	}
	if (open)
		closedir(open);
	return path_in(path, dir, first) ? n : 0;
}

/* A config.json that is of no use is a reason to say so, not to forget the bytes. */
static int read_folder(const char *path, const struct size_reader *reader, struct size_stored *out,
		       struct fault *f)
{
	char name[PATH_LENGTH_MAX];
	struct fault why = { "" };
	unsigned int models = find_gguf(path, name);
	int err, refused = 0;

	if (models == 1)
		return read_one(name, reader, out, f);
	if (models)
		return fault_set(f, EINVAL, "%u GGUF models: name one, such as %.200s", models,
				 name);
	/* Mistral's own checkpoints have params.json */
	if (!path_in(name, path, has_file(path, "config.json") ? "config.json" : "params.json"))
		return fault_set(f, ENAMETOOLONG, "name too long");
	if (!access(name, F_OK)) {
		refused = read_one(name, reader, out, &why);
		if (refused) {
			stored_free(out);
			snprintf(out->why, sizeof(out->why), "config.json: %.200s", why.text);
		}
	} else {
		snprintf(out->why, sizeof(out->why), "there is no config.json");
	}
	err = read_weights(path, reader, out, f);
	if (!err && !out->model.id && !out->bytes && !out->params)
		return fault_set(f, refused ? -refused : ENOENT, "%.240s", out->why);
	return err;
}

/* Numbers of a model of an unknown family: the file counts them, the formula guesses. */
static void settle_params(struct size_stored *out)
{
	struct model_params *p = &out->model.params;
	uint64_t others = p->small + p->embedding + p->head + p->vision;
	uint64_t total = out->params;
	uint64_t bits = out->precision.linear ? out->precision.linear : 16 * SIZE_BIT;

	if (!total && out->bytes)
		total = wide_saturate((u128)out->bytes * SIZE_BYTE / bits);
	if (!out->model.id || !*out->unknown || total <= others || !total)
		return;
	p->linear = total - others;
	p->total = total;
	p->active = p->active < total ? p->active : total;
	if (!p->experts)
		p->active = total;
}

/* Bytes that are there and bytes by formula are of the same weights. */
static void compare_bytes(struct size_stored *out)
{
	double stored = (double)out->bytes, computed = (double)out->computed;
	double loaded = computed - (double)out->draft;

	if (!stored || !loaded || *out->unclear || *out->unknown)
		return;
	/* further tokens' layers may be left out */
	if (stored >= loaded * 0.95 && stored <= computed * 1.05)
		return;
	snprintf(out->unclear, sizeof(out->unclear),
		 "the files hold %.4g GB of weights, but the shape makes %.4g GB", stored / 1e9,
		 computed / 1e9);
}

int stored_read(const char *path, const struct size_reader *reader, struct size_stored *out,
		struct fault *f)
{
	struct stat st;
	int err;

	memset(out, 0, sizeof(*out));
	if (stat(path, &st)) {
		err = fault_set(f, errno, "%s", strerror(errno));
	} else if (!S_ISDIR(st.st_mode)) {
		err = read_one(path, reader, out, f);
		if (!err && !out->model.id)
			read_neighbour(path, reader, out);
		if (!err && !out->model.id && !out->bytes && !out->params)
			err = fault_set(f, EINVAL,
					"metadata.total_size is missing: name the folder or a shard");
	} else {
		err = read_folder(path, reader, out, f);
	}
	if (err) {
		fault_prefix(f, "%.200s", path);
		stored_free(out);
	} else {
		settle_params(out);
		compare_bytes(out);
	}
	return err;
}

int stored_open(const char *path, const struct cat_families *families, struct size_stored *out,
		struct fault *f)
{
	const struct size_reader reader = { .families = families };

	return stored_read(path, &reader, out, f);
}

bool stored_is_path(const char *word)
{
	struct stat st;

	if (ends(word, ".json") || ends(word, ".gguf") || ends(word, ".safetensors") ||
	    *word == '/' || *word == '.')
		return true;
	/* a folder is one whatever its name; a file has a name of its own kind */
	return !stat(word, &st) && (strchr(word, '/') || S_ISDIR(st.st_mode));
}
