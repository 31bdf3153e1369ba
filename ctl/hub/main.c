// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the program that reads the Hugging Face Hub
 *
 *     /usr/libexec/gpuctl/hub hf:OWNER/NAME[/FILE][@REVISION]
 *
 * gpuctl starts it, so that gpuctl itself neither speaks to the network nor is linked with
 * what does. Of a model it brings config files and headers into the cache, never weights,
 * as a folder that looks like the model's. It prints lines of a word and a text: "path",
 * what is to be sized; "warning"; "error"; and ends with an exit code of gpuctl.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "hub/cache.h"
#include "hub/worker.h"

/* Without the network: by the commit that was named, or that the revision was last. */
static bool is_there(const struct hub_cache *cache, const struct hub_name *name,
		     const struct hub_settings *settings, char sha[HUB_SHA_LENGTH + 1])
{
	if (hub_is_sha(name->revision))
		memcpy(sha, name->revision, HUB_SHA_LENGTH + 1);
	else if (!settings->offline || !hub_cache_commit(cache, name->revision, sha))
		return false;
	return hub_cache_has(cache, sha);
}

/* By the network; @sha is filled. */
static int hub_bring(const struct hub_cache *cache, const struct hub_name *name,
		     const struct hub_settings *settings, char sha[HUB_SHA_LENGTH + 1],
		     struct fault *f)
{
	struct hub_work work = { .settings = settings, .name = name };
	char *known = hub_cache_list(cache), *unfinished = NULL;
	int ret = hub_cache_begin(cache, &unfinished, &work.folder, f);

	work.known = known;
	if (!ret)
		ret = hub_work(&work, f);
	if (!ret && !hub_cache_has(cache, work.sha))
		ret = hub_cache_keep(cache, unfinished, work.folder, work.owner, work.sha, f);
	if (!ret)
		ret = hub_cache_set_commit(cache, name->revision, work.sha, f);
	memcpy(sha, work.sha, sizeof(work.sha));
	if (work.folder >= 0)
		close(work.folder);
	hub_cache_drop(cache, unfinished);
	free(unfinished);
	free(known);
	return ret;
}

static int say_path(const struct hub_cache *cache, const struct hub_name *name, const char *sha,
		    struct fault *f)
{
	char *folder = hub_cache_path(cache, sha, ""), *path, file[HUB_FILE_MAX];
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret;

	ret = hub_pick_file(fd, name, file, f);
	if (fd >= 0)
		close(fd);
	if (!ret) {
		path = hub_cache_path(cache, sha, file);
		hub_say("path", path);
		free(path);
	}
	free(folder);
	return ret;
}

static int fetch(const struct hub_name *name, const struct hub_settings *settings, struct fault *f)
{
	struct hub_cache cache = { .fd = -1, .lock = -1 };
	char sha[HUB_SHA_LENGTH + 1] = "";
	int ret = hub_cache_open(&cache, settings, name, f);

	if (!ret && !is_there(&cache, name, settings, sha)) {
		if (settings->offline) {
			fault_set(f, ENOENT,
				  "HF_HUB_OFFLINE is set, and %s at %s is not in the cache: run the command once without it",
				  name->repo, name->revision);
			ret = CTL_FAILED;
		} else {
			ret = hub_bring(&cache, name, settings, sha, f);
		}
	}
	if (!ret)
		ret = say_path(&cache, name, sha, f);
	hub_cache_close(&cache);
	return ret;
}

int main(int argc, char **argv)
{
	struct hub_settings settings = { 0 };
	struct hub_name name;
	struct fault f = { "" };
	char *warning;
	int ret;

	umask(077);
	signal(SIGPIPE, SIG_IGN);
	/* who asked is gone: nobody waits for the answer */
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	ret = argc == 2 && !hub_name_read(argv[1], &name, &f) ? CTL_DONE : CTL_USAGE;
	if (!ret)
		ret = hub_settings_read(&settings, &f);
	if (settings.token_loose) {
		warning = mem_printf("others may read the token in %s: chmod 600 it",
				     settings.token_loose);
		text_tame(warning, false);
		hub_say("warning", warning);
		free(warning);
	}
	if (!ret)
		ret = fetch(&name, &settings, &f);
	if (ret && argc == 2 && *f.text)
		hub_say("error", f.text);
	else if (argc != 2)
		hub_say("error", "usage: hub hf:OWNER/NAME[/FILE][@REVISION]");
	hub_settings_free(&settings);
	return ret;
}
