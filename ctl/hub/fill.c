// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: filling a folder
 *
 * Every file of the listing that a model may be read from is made, with its size and
 * nothing in it, which takes no room on the disk. Then the reader of folders reads it as it
 * reads any other, and before each read the bytes are brought that it is about to see. So
 * what is asked of the server is what sizing reads, and no rule of which files matter is
 * written down twice.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "hub/fill.h"

/* Of one file: texts, and headers of weights. */
#define TEXT_MAX (16u << 20)
#define HEADER_MAX (128u << 20)
/* A request brings so much at least, and twice as much each time, up to the larger one. */
#define CHUNK_MIN (128u << 10)
#define CHUNK_MAX (8u << 20)

static void fill_question(const struct hub_fill *fill, const char *file, struct hub_question *q)
{
	const struct hub_settings *s = fill->http->settings;

	*q = (struct hub_question){
		.host = s->host,
		.endpoint = s->endpoint,
		.repo = fill->name->repo,
		.revision = fill->name->revision,
		.file = file,
		.token = s->token,
	};
}

/* --- the listing ------------------------------------------------------------------ */

/**
 * struct body - an answer as it comes
 */
struct body {
	char *text;
	size_t len;
	size_t room;
};

static int take_text(void *arg, uint64_t offset, const char *data, size_t n)
{
	struct body *body = arg;

	(void)offset;
	if (body->len + n > body->room) {
		body->room = 2 * (body->len + n);
		body->text = mem_grow(body->text, body->room, 1);
	}
	memcpy(body->text + body->len, data, n);
	body->len += n;
	return 0;
}

int hub_fill_list(struct hub_fill *fill)
{
	char *revision = hub_quote(fill->name->revision);
	struct body body = { 0 };
	struct hub_question question;
	struct hub_get get = {
		.question = &question, .max = HUB_LISTING_MAX, .sink = take_text, .arg = &body
	};
	char *url = mem_printf("%s/api/models/%s/revision/%s?blobs=true",
			       fill->http->settings->endpoint, fill->name->repo, revision);

	fill_question(fill, NULL, &question);
	get.url = url;
	fill->ret = hub_http_get(fill->http, &get, &fill->fault);
	if (!fill->ret &&
	    hub_listing_read(body.text ? body.text : "", body.len, fill->listing, &fill->fault)) {
		fault_prefix(&fill->fault, "%s", question.host);
		fill->ret = CTL_FAILED;
	}
	free(body.text);
	free(url);
	free(revision);
	return fill->ret;
}

/* --- files without contents --------------------------------------------------------- */

static int fill_fail(struct hub_fill *fill, int err, const char *name)
{
	fault_set(&fill->fault, err, "cannot write %s to the cache: %s", name, strerror(err));
	fill->ret = CTL_FAILED;
	return fill->ret;
}

static int make_folders(const char *name)
{
	char *path = mem_strdup(name), *slash;
	int err = 0;

	for (slash = strchr(path, '/'); !err && slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			err = errno;
		*slash = '/';
	}
	free(path);
	return err;
}

static int make_file(const struct hub_file *file)
{
	int err = make_folders(file->name), fd;

	if (err)
		return err;
	fd = open(file->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	err = ftruncate(fd, (off_t)file->size) ? errno : 0;
	close(fd);
	return err;
}

/* In the folder itself, one of its folders (pipelines), or beside the file that was named. */
static bool may_be_read(const struct hub_fill *fill, const char *name)
{
	const char *slash = strchr(name, '/');
	const char *file = fill->name->file, *last = strrchr(file, '/');

	if (!slash || !strchr(slash + 1, '/'))
		return true;
	return last && !strncmp(name, file, (size_t)(last + 1 - file));
}

int hub_fill_make(struct hub_fill *fill)
{
	size_t i;
	int err;

	for (i = 0; i < fill->listing->n && !fill->ret; i++) {
		if (!may_be_read(fill, fill->listing->file[i].name))
			continue;
		err = make_file(&fill->listing->file[i]);
		if (err)
			fill_fail(fill, err, fill->listing->file[i].name);
	}
	return fill->ret;
}

/* --- contents ------------------------------------------------------------------------- */

static int take_bytes(void *arg, uint64_t offset, const char *data, size_t n)
{
	const int *fd = arg;

	while (n) {
		ssize_t put = pwrite(*fd, data, n, (off_t)offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put ? -errno : -EIO;
		data += put;
		offset += (uint64_t)put;
		n -= (size_t)put;
	}
	return 0;
}

static uint64_t bound_of(const struct hub_file *file)
{
	size_t len = strlen(file->name);

	return len > 5 && !strcmp(file->name + len - 5, ".json") ? TEXT_MAX : HEADER_MAX;
}

/* The size that an answer says; the listing's has to be the same. */
static int settle_size(struct hub_fill *fill, struct hub_file *file, const struct hub_answer *a,
		       int fd)
{
	if (!a->sized || (file->sized && a->total != file->size) || a->total > HUB_FILE_SIZE_MAX) {
		fault_set(&fill->fault, EIO, "%s gives another size of %s than the listing",
			  fill->http->settings->host, file->name);
		fill->ret = CTL_FAILED;
	} else if (!file->sized && ftruncate(fd, (off_t)a->total)) {
		fill_fail(fill, errno, file->name);
	}
	file->size = a->total;
	file->sized = true;
	return fill->ret;
}

static int fill_fetch(struct hub_fill *fill, struct hub_file *file, uint64_t offset, uint64_t n,
		      int fd)
{
	char *path = hub_quote_path(file->name);
	struct hub_question question;
	struct hub_get get = {
		.question = &question, .from = offset, .n = n, .sink = take_bytes, .arg = &fd
	};
	char *url = mem_printf("%s/%s/resolve/%s/%s", fill->http->settings->endpoint,
			       fill->name->repo, fill->listing->sha, path);

	fill_question(fill, file->name, &question);
	get.url = url;
	fill->ret = hub_http_get(fill->http, &get, &fill->fault);
	if (!fill->ret)
		fill->ret = settle_size(fill, file, &get.answer, fd);
	/* a server that sends all of a file from its beginning has sent what is before, too */
	if (offset != file->to)
		file->from = offset;
	file->to = offset + n < file->size ? offset + n : file->size;
	file->brought += n;
	free(url);
	free(path);
	return fill->ret;
}

/* The range to ask for: what is wanted, and some of what will be wanted next. */
static int bring(struct hub_fill *fill, struct hub_file *file, uint64_t offset, uint64_t n, int fd)
{
	uint64_t end = offset + n, chunk = file->brought < CHUNK_MIN ? CHUNK_MIN : file->brought;

	if (offset >= file->from && offset < file->to)
		offset = file->to;
	if (chunk > CHUNK_MAX)
		chunk = CHUNK_MAX;
	if (end < offset + chunk)
		end = offset + chunk;
	if (file->sized && end > file->size)
		end = file->size;
	if (end <= offset)
		return CTL_DONE;
	if (end > bound_of(file)) {
		fault_set(&fill->fault, EFBIG,
			  "gpuctl reads %s only up to %llu MiB: no config and no header is longer",
			  file->name, (unsigned long long)(bound_of(file) >> 20));
		fill->ret = CTL_FAILED;
		return fill->ret;
	}
	return fill_fetch(fill, file, offset, end - offset, fd);
}

int hub_fill_want(void *arg, const char *path, uint64_t offset, size_t n)
{
	struct hub_fill *fill = arg;
	struct hub_file *file;
	int fd;

	if (fill->ret)
		return -ECANCELED;
	while (!strncmp(path, "./", 2))
		path += 2;
	file = hub_listing_find(fill->listing, path);
	if (!file || (!n && file->sized) || (n && offset >= file->from && offset + n <= file->to))
		return 0;
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	bring(fill, file, offset, n, fd);
	close(fd);
	return fill->ret ? -ECANCELED : 0;
}
