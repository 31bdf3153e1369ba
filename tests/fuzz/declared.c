// SPDX-License-Identifier: GPL-2.0-only
// sources: tool
// packages: json-c libnl-3.0 libnl-genl-3.0 libudev libsystemd
/*
 * Files of slots.d, the admin's word for what sits where, with the catalogue
 * as it comes and without one; then the identity of a slot by them.
 */
#include "base/text.h"
#include "fuzz.h"
#include "linux/gpufabric.h"
#include "session/identity.h"

static struct catalogue catalogue;

static void ask(const struct knowledge *knowledge, const char *name)
{
	struct gf_slot slot = { .name = (char *)name, .numa_node = -1 };
	struct identity identity;
	char buf[48], driver[64];

	identity_of(knowledge, &slot, &identity);
	must(identity.label[0]);
	must(strlen(identity.label) < sizeof(identity.label));
	must(identity_text(buf, &identity, 1));
	identity_loaded_driver(&identity, driver, sizeof(driver));
}

static void forget(struct knowledge *knowledge)
{
	/* The catalogue is read once for all inputs. */
	memset(&knowledge->catalogue, 0, sizeof(knowledge->catalogue));
	knowledge_free(knowledge);
}

static void read_text(const char *text, const struct catalogue *known)
{
	struct knowledge knowledge = { .catalogue = *known };
	struct fault fault = { "" };
	size_t i;

	if (declared_parse(&knowledge, "rack.conf", text, &fault))
		must(!strncmp(fault.text, "rack.conf:", 10));
	else
		must(!fault.text[0]);
	for (i = 0; i < knowledge.n_declared; i++) {
		must(knowledge.declared[i].pattern && *knowledge.declared[i].pattern);
		must(!knowledge.declared[i].name || !knowledge.declared[i].ids.vendor);
		must(knowledge.declared[i].name || knowledge.declared[i].ids.vendor ||
		     knowledge.declared[i].group);
	}
	ask(&knowledge, "sim0-0");
	ask(&knowledge, "3-2");
	forget(&knowledge);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct catalogue none;
	struct fault fault = { "" };
	char *text;

	if (!catalogue.n_gpus)
		must(!catalogue_load(&catalogue, "ctl/catalogue", NULL, &fault));
	text = fuzz_text(data, size < 4096 ? size : 4096);
	read_text(text, &catalogue);
	read_text(text, &none);
	free(text);
	return 0;
}
