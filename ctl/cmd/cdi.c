// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl cdi: compositions and GPUs as devices of container runtimes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/text.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "publish/cdi.h"
#include "publish/publish.h"
#include "session/session.h"

#define SPEC_MAX (16u << 20)

static const struct ctl_option options[] = {
	{ "output", 'o', "DIR",
	  "directory of the file (default " CDI_DIRECTORY "); - prints the file" },
	{ "remove", 'r', "NAME", "take a composition or slot out of the file; may be repeated",
	  "@compositions @slots" },
	{ "require", 0, "NAME",
	  "fail if a GPU of this composition or slot has no device node; may be repeated",
	  "@compositions @slots" },
	{ NULL },
};

static int cdi_failed(struct ctl_ctx *ctx, const char *what, const char *path, int err)
{
	return ctl_fail(ctx, err == -EACCES || err == -EPERM ? CTL_DENIED : CTL_FAILED,
			"cannot %s %s: %s", what, path, replace_error(err));
}

/* Without devices there is no file: readers refuse an empty one. */
static int cdi_put(struct ctl_ctx *ctx, const char *path, const char *text)
{
	int err;

	if (text)
		return publish(ctx, path, text);
	if (!path)
		return CTL_DONE;
	if (ctx->dry_run) {
		out_note(ctx->out, "would", "would ", "remove %s", path);
		return CTL_DONE;
	}
	err = replace_remove(path);
	return err ? cdi_failed(ctx, "remove", path, err) : CTL_DONE;
}

/* The file as it is; *@text NULL when there is none. */
static int cdi_read_spec(struct ctl_ctx *ctx, const char *path, char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), err = 0;
	struct stat st;
	ssize_t n;

	*text = NULL;
	*len = 0;
	if (fd < 0)
		return errno == ENOENT ? CTL_DONE : cdi_failed(ctx, "read", path, -errno);
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size > SPEC_MAX)
		err = -EINVAL;
	if (!err) {
		*text = mem_zalloc((size_t)st.st_size + 1, 1);
		while (*len < (size_t)st.st_size) {
			n = read(fd, *text + *len, (size_t)st.st_size - *len);
			if (n <= 0)
				break;
			*len += (size_t)n;
		}
	}
	close(fd);
	return err ? cdi_failed(ctx, "read", path, err) : CTL_DONE;
}

static int take_out(struct ctl_ctx *ctx, const struct gf_fabric *fabric, const char *path)
{
	struct fault fault = { "" };
	const char *name;
	char *text, *left;
	size_t len, pos = 0, removed, n;
	int ret = cdi_read_spec(ctx, path, &text, &len);

	while (!ret && text && (name = ctl_opt_next(ctx, "remove", &pos))) {
		const char **names = cdi_together(fabric, name, &n);

		if (cdi_without(text, len, names, n, &left, &removed, &fault))
			ret = ctl_fail(ctx, CTL_FAILED, "%s: %s: remove it and run gpuctl cdi",
				       path, fault.text);
		free(names);
		if (ret)
			break;
		free(text);
		text = left;
		len = left ? strlen(left) : 0;
	}
	if (!ret)
		ret = cdi_put(ctx, path, text);
	free(text);
	return ret;
}

static int cdi_require(struct ctl_ctx *ctx, const struct gf_fabric *fabric,
		       const struct places *places, const struct vendors *vendors)
{
	struct fault fault = { "" };
	const char *name;
	size_t pos = 0;

	while ((name = ctl_opt_next(ctx, "require", &pos)))
		if (cdi_lacks(fabric, places, vendors, name, &fault))
			return ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	return CTL_DONE;
}

static int cdi_write_all(struct ctl_ctx *ctx, const struct gf_fabric *fabric, const char *path)
{
	static const struct places places = { "/proc", "" };
	struct fault fault = { "" };
	struct vendors vendors;
	char *text;
	int ret;

	if (vendors_load(&vendors, ctx->data_dir, ctx->config_dir, &fault))
		return ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	text = cdi_print(fabric, &places, &vendors);
	ret = cdi_put(ctx, path, text);
	if (!ret)
		ret = cdi_require(ctx, fabric, &places, &vendors);
	free(text);
	vendors_free(&vendors);
	return ret;
}

static int check_options(struct ctl_ctx *ctx, const char *output)
{
	const char *name;
	size_t pos = 0;

	while ((name = ctl_opt_next(ctx, "remove", &pos)))
		if (!cdi_name_valid(name))
			return ctl_fail(ctx, CTL_USAGE,
					"--remove: \"%s\" is not the name of a device", name);
	if (ctl_flag(ctx, "remove") && output && !strcmp(output, "-"))
		return ctl_fail(ctx, CTL_USAGE,
				"--remove needs a file: name its directory with --output");
	if (ctl_flag(ctx, "remove") && ctl_flag(ctx, "require"))
		return ctl_fail(ctx, CTL_USAGE, "--remove and --require exclude each other");
	return CTL_DONE;
}

static int cdi_change(struct ctl_ctx *ctx, const char *path)
{
	static const struct gf_fabric none;
	struct session session;
	int ret = session_open(ctx, &session, SESSION_LOOK);

	if (!ret) {
		ret = ctl_flag(ctx, "remove") ? take_out(ctx, &session.fabric, path) :
						cdi_write_all(ctx, &session.fabric, path);
		session_close(&session);
	} else if (ret == CTL_NO_MODULE && ctl_flag(ctx, "remove")) {
		/* Names alone, when nobody knows what goes with them. */
		ret = take_out(ctx, &none, path);
	}
	return ret;
}

static int cdi_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const char *output = ctl_opt(ctx, "output");
	char *path = NULL;
	int ret, lock = -1;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (!ret)
		ret = check_options(ctx, output);
	if (ret)
		return ret;
	if (!output || strcmp(output, "-"))
		path = mem_printf("%s/" CDI_FILE, output ? output : CDI_DIRECTORY);
	/* Runtimes look there, whether or not it exists yet. */
	if (!output && !ctx->dry_run)
		mkdir(CDI_DIRECTORY, 0755);
	ret = publish_begin(ctx, path, &lock);
	if (!ret)
		ret = cdi_change(ctx, path);
	publish_end(lock);
	free(path);
	return ret;
}

const struct ctl_command cmd_cdi = {
	.name = "cdi",
	.group = CTL_PLUMBING,
	.args = "",
	.summary = "GPUs for containers: podman run --device " CDI_KIND "=NAME",
	.help = "Writes " CDI_FILE ", a specification of the Container Device Interface, as a\n"
		"whole: one device for each active composition whose GPUs are all ready, and one for each slot whose\n"
		"GPU is ready. Files in nodes.d list the device nodes for each driver, see gpuctl-catalogue(5). Before\n"
		"a detach, --remove takes a composition with its slots, or a slot with its composition, out of the\n"
		"file. If no device is left, gpuctl removes the file. A GPU without a driver has no device nodes, and is\n"
		"left out, and so is its composition; a name that a container device cannot have is left out, too. With\n"
		"--require, gpuctl writes the file, and then fails if something of NAME is left out; the error names the\n"
		"slot or the name.",
	.options = { options },
	.run = cdi_run,
};
