// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/managers/conf.c ctl/managers/inventory.c ctl/driver/doc.c ctl/driver/job.c ctl/redfish/link.c ctl/base/conf.c ctl/base/conf_dir.c ctl/base/fault.c ctl/base/jread.c ctl/base/text.c ctl/base/trust.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c
// packages: json-c
/*
 * Files of fabric.d, what the program that speaks to managers answers and is asked, and errors of a
 * manager. The first byte says which; each refusal is one line.
 */
#include "driver/job.h"
#include "fuzz.h"
#include "managers/inventory.h"
#include "redfish/link.h"

static void fuzz_conf(const char *text, size_t size)
{
	struct manager_conf conf;
	struct fault f = { "" };
	size_t i;

	if (manager_conf_parse("rack.conf", text, size, &conf, &f)) {
		must(fuzz_is_line(f.text) && !strncmp(f.text, "rack.conf:", 10));
	} else {
		must(!strncmp(conf.url, "https://", 8) && manager_is_id(conf.host));
		for (i = 0; i < conf.n_ports; i++)
			must(manager_port_of(&conf, conf.ports[i].slot) == conf.ports[i].port);
	}
	manager_conf_free(&conf);
}

static void fuzz_login(const char *text, size_t size)
{
	struct manager_login login;
	struct fault f = { "" };

	if (manager_login_parse("login", text, size, &login, &f))
		must(fuzz_is_line(f.text));
	else
		must(login.user && login.password);
	manager_login_free(&login);
}

static void fuzz_reply(const char *text, size_t size)
{
	static const char file[] = "driver=redfish\nurl=https://m\nhost=a\ncredentials=/l\nports=101=s/p\n";
	struct manager_conf conf;
	struct manager_reply reply;
	struct fault f = { "" };
	size_t i;

	must(!manager_conf_parse("rack.conf", file, sizeof(file) - 1, &conf, &f));
	if (manager_reply_read(text, size, &conf, &reply, &f))
		must(fuzz_is_line(f.text));
	else
		must(!reply.exit == !reply.error);
	for (i = 0; i < reply.inventory.n && !*f.text; i++)
		must(manager_is_id(reply.inventory.gpus[i].id));
	manager_reply_free(&reply);
	manager_conf_free(&conf);
}

static void fuzz_job(const char *text, size_t size)
{
	struct job job;
	struct fault f = { "" };

	if (job_read(text, size, &job, &f))
		must(fuzz_is_line(f.text));
	else
		must(job.file && (job.verb == JOB_INVENTORY) == !job.n);
	job_free(&job);
}

static void fuzz_doc(const char *text, size_t size)
{
	struct fault f = { "" };
	struct json_object *doc = doc_parse(text, size, &f);
	char *said;

	if (!doc) {
		must(fuzz_is_line(f.text));
		return;
	}
	said = redfish_complaint(doc);
	must(!*said || fuzz_is_line(said));
	free(said);
	must(!link_path(doc) || manager_is_path(link_path(doc)));
	must(doc_id16(doc, "VendorId") <= 0xffff);
	json_object_put(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy;

	if (!size)
		return 0;
	copy = fuzz_behind(data, size--);
	switch (*data) {
	case 'c':
		fuzz_conf(copy, size);
		break;
	case 'l':
		fuzz_login(copy, size);
		break;
	case 'r':
		fuzz_reply(copy, size);
		break;
	case 'j':
		fuzz_job(copy, size);
		break;
	default:
		fuzz_doc(copy, size);
		break;
	}
	free(copy);
	return 0;
}
