// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: opening a model's files
 *
 * What a path is, is seen from its end and its first bytes. A folder is read
 * as Hugging Face lays it out: config.json, and the index or the one file of
 * weights when it is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "source.h"

#define CONFIG_MAX (4u << 20)
#define PATH_LENGTH_MAX 4096

/**
 * struct opened - a file as a source of bytes
 * @fd: its descriptor
 */
struct opened {
	int fd;
	struct size_source source;
};

static int read_fd(void *arg, uint64_t offset, void *buf, size_t n)
{
	const struct opened *file = arg;
	char *to = buf;

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

static int open_file(const char *path, struct opened *file, struct fault *f)
{
	struct stat st;

	/* never wait for a writer of a fifo that somebody put there */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		return fault_set(f, errno, "%s", strerror(errno));
	if (fstat(file->fd, &st) || !S_ISREG(st.st_mode)) {
		close(file->fd);
		return fault_set(f, EINVAL, "not a plain file");
	}
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

static int read_config(const struct opened *file, struct size_stored *out, struct fault *f)
{
	char *text;
	int err;

	if (file->source.size > CONFIG_MAX)
		return fault_set(f, EINVAL, "larger than any config.json: %u bytes at most",
				 CONFIG_MAX);
	text = malloc(file->source.size + 1);
	if (!text)
		return fault_set(f, ENOMEM, "out of memory");
	err = file->source.read(file->source.arg, 0, text, file->source.size);
	if (err)
		fault_set(f, -err, "%s", strerror(-err));
	else
		err = size_config_parse(text, file->source.size, &out->model, out->quant, f);
	free(text);
	return err;
}

static int read_one(const char *path, struct size_stored *out, struct fault *f)
{
	struct opened file;
	char magic[4] = "";
	int err = open_file(path, &file, f);

	if (err)
		return err;
	if (file.source.size >= sizeof(magic))
		read_fd(&file, 0, magic, sizeof(magic));
	if (!memcmp(magic, "GGUF", 4) || ends(path, ".gguf"))
		err = gguf_read(&file.source, out, f);
	else if (ends(path, ".index.json"))
		err = safetensors_index(&file.source, out, f);
	else if (ends(path, ".safetensors"))
		err = safetensors_read(&file.source, out, f);
	else
		err = read_config(&file, out, f);
	close(file.fd);
	return err;
}

static int path_in(char path[PATH_LENGTH_MAX], const char *dir, const char *name)
{
	return snprintf(path, PATH_LENGTH_MAX, "%s/%s", dir, name) < PATH_LENGTH_MAX;
}

/* The weights of a folder, if they are there; the config has the shape. */
static int read_weights(const char *dir, struct size_stored *out, struct fault *f)
{
	static const char *const names[] = { "model.safetensors.index.json", "model.safetensors" };
	struct size_stored weights;
	char path[PATH_LENGTH_MAX];
	size_t i;
	int err;

	for (i = 0; i < 2; i++) {
		if (!path_in(path, dir, names[i]) || access(path, F_OK))
			continue;
		err = read_one(path, &weights, f);
		if (err) {
			fault_prefix(f, "%s", names[i]);
			return err;
		}
		weights.model = out->model;
		memcpy(weights.quant, out->quant, sizeof(out->quant));
		*out = weights;
		return 0;
	}
	return 0;
}

/* An index says how many bytes; the config beside it says what they are. */
static void read_neighbour(const char *path, struct size_stored *out)
{
	const char *slash = strrchr(path, '/');
	struct size_stored config;
	char name[PATH_LENGTH_MAX];
	struct fault ignored;

	if (snprintf(name, sizeof(name), "%.*sconfig.json", (int)(slash ? slash + 1 - path : 0),
		     path) >= (int)sizeof(name) || access(name, F_OK))
		return;
	memset(&config, 0, sizeof(config));
	if (read_one(name, &config, &ignored))
		return;
	out->model = config.model;
	memcpy(out->quant, config.quant, sizeof(out->quant));
}

int stored_open(const char *path, struct size_stored *out, struct fault *f)
{
	char name[PATH_LENGTH_MAX];
	struct stat st;
	int err;

	memset(out, 0, sizeof(*out));
	if (stat(path, &st)) {
		err = fault_set(f, errno, "%s", strerror(errno));
	} else if (!S_ISDIR(st.st_mode)) {
		err = read_one(path, out, f);
		if (!err && !out->model.id)
			read_neighbour(path, out);
	} else if (!path_in(name, path, "config.json")) {
		err = fault_set(f, ENAMETOOLONG, "name too long");
	} else {
		err = read_one(name, out, f);
		if (err)
			fault_prefix(f, "config.json");
		else
			err = read_weights(path, out, f);
	}
	if (err) {
		fault_prefix(f, "%.200s", path);
		stored_free(out);
	}
	return err;
}

bool stored_is_path(const char *word)
{
	struct stat st;

	if (ends(word, ".json") || ends(word, ".gguf") || ends(word, ".safetensors") ||
	    *word == '/' || *word == '.')
		return true;
	return strchr(word, '/') && !stat(word, &st);
}
