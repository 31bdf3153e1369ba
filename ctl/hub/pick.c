// SPDX-License-Identifier: GPL-2.0-only
/*
 * What of a model's folder is to be sized. Folders of GGUF files have the same model many
 * times over, once for each format: which one is for the user to say.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/ctl.h"
#include "hub/worker.h"

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

static bool is_of_folder(const char *name)
{
	return !strcmp(name, "config.json") || !strcmp(name, "model_index.json") ||
	       ends_with(name, ".safetensors") || ends_with(name, ".safetensors.index.json");
}

/* "NAME-00002-of-00003.gguf" is of the model whose first part is read with it. */
static bool is_further(const char *name)
{
	const char *at = strstr(name, "-of-");

	return at && at - name > 6 && at[-6] == '-' && strncmp(at - 5, "00001", 5) &&
	       strspn(at - 5, "0123456789") == 5;
}

/* The first of the GGUF files by name goes to @file; their number, or -1 for a folder. */
static int count_files(DIR *open, char file[HUB_FILE_MAX])
{
	struct dirent *entry;
	int n = 0;

	*file = '\0';
	while ((entry = readdir(open))) {
		if (is_of_folder(entry->d_name))
			return -1;
		if (!ends_with(entry->d_name, ".gguf") || is_further(entry->d_name))
			continue;
		n++;
		if (!*file || strcmp(entry->d_name, file) < 0)
			snprintf(file, HUB_FILE_MAX, "%s", entry->d_name);
	}
	return n;
}

static int pick_only(int folder, const struct hub_name *name, char file[HUB_FILE_MAX],
		     struct fault *f)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n;
	DIR *open = fd < 0 ? NULL : fdopendir(fd);

	if (!open) {
		fault_set(f, errno, "the cache: %s", strerror(errno));
		return CTL_FAILED;
	}
	n = count_files(open, file);
	closedir(open);
	if (n == 1)
		return CTL_DONE;
	if (!n) {
		fault_set(f, ENOENT,
			  "the model %s has neither a config.json nor safetensors nor GGUF files",
			  name->repo);
		return CTL_USAGE;
	}
	if (n > 1) {
		fault_set(f, EINVAL,
			  "the model %s has %d GGUF files: name one, such as " HUB_PREFIX "%s/%s",
			  name->repo, n, name->repo, file);
		return CTL_USAGE;
	}
	*file = '\0';
	return CTL_DONE;
}

int hub_pick_file(int folder, const struct hub_name *name, char file[HUB_FILE_MAX], struct fault *f)
{
	if (!*name->file)
		return pick_only(folder, name, file, f);
	memcpy(file, name->file, HUB_FILE_MAX);
	if (!faccessat(folder, file, F_OK, 0))
		return CTL_DONE;
	fault_set(f, ENOENT, "the model %s has no config, safetensors or GGUF file %s", name->repo,
		  file);
	return CTL_USAGE;
}
