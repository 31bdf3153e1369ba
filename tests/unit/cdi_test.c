// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/publish/cdi.c ctl/host/gpunodes.c ctl/host/vendor.c ctl/host/devnodes.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c ctl/base/text.c ctl/base/conf.c ctl/base/fault.c ctl/base/conf_dir.c
// packages: json-c libnl-3.0 libudev
/*
 * Container devices: a sysfs of the test's own, two GPUs of a composition, and
 * the rules of the published schema: which fields there are and of which type, what
 * names look like, which version they need, and that nothing is empty.
 */
#include <json-c/json.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "publish/cdi.h"
#include "sysroot.h"
#include "tap.h"

static char dir[] = "/tmp/cdi_test.XXXXXX";
static char *sys, *proc;
static struct places places;
static struct vendors vendors;

static struct gf_function functions[] = {
	{ .address = (char *)"0000:41:00.0", .class = 0x030200, .driver = (char *)"nvidia" },
	{ .address = (char *)"0000:42:00.0", .class = 0x030000, .driver = (char *)"amdgpu" },
	{ .address = (char *)"0000:42:00.1", .class = 0x040300, .driver = (char *)"snd_hda_intel" },
};

static struct gf_slot slots[] = {
	{ .id = 1, .name = (char *)"sim0-1", .state = GF_STATE_READY,
	  .functions = &functions[0], .n_functions = 1, .composition = (char *)"train70b" },
	{ .id = 2, .name = (char *)"sim0-2", .state = GF_STATE_READY,
	  .functions = &functions[1], .n_functions = 2, .composition = (char *)"train70b" },
	{ .id = 3, .name = (char *)"sim0-3", .state = GF_STATE_READY },
};

static struct gf_membership members[] = {
	{ .slot_id = 1, .slot_name = (char *)"sim0-1" },
	{ .slot_id = 2, .slot_name = (char *)"sim0-2" },
};

static struct gf_composition compositions[] = {
	{ .name = (char *)"train70b", .state = GPUFABRIC_COMPOSITION_STATE_ACTIVE,
	  .members = members, .n_members = 2 },
};

static struct gf_fabric fabric = { slots, 3, NULL, 0, compositions, 1 };

static bool only(struct json_object *object, const char *const *keys)
{
	json_object_object_foreach(object, key, value) {
		size_t i;

		(void)value;
		for (i = 0; keys[i] && strcmp(keys[i], key);)
			i++;
		if (!keys[i])
			return false;
	}
	return true;
}

static struct json_object *member(struct json_object *object, const char *key, enum json_type type)
{
	struct json_object *value;

	if (!json_object_is_type(object, json_type_object) ||
	    !json_object_object_get_ex(object, key, &value) || !json_object_is_type(value, type))
		return NULL;
	return value;
}

static bool node_good(struct json_object *node)
{
	static const char *const keys[] = { "path", "type", "major", "minor", "permissions", NULL };
	struct json_object *path = member(node, "path", json_type_string);
	struct json_object *type = member(node, "type", json_type_string);

	return path && type && only(node, keys) && member(node, "major", json_type_int) &&
	       member(node, "minor", json_type_int) &&
	       !strncmp(json_object_get_string(path), "/dev/", 5) &&
	       (!strcmp(json_object_get_string(type), "c") || !strcmp(json_object_get_string(type), "b")) &&
	       !strcmp(json_object_get_string(member(node, "permissions", json_type_string)), "rw");
}

static bool device_good(struct json_object *device, bool digits)
{
	static const char *const keys[] = { "name", "containerEdits", NULL };
	static const char *const edits_keys[] = { "env", "deviceNodes", NULL };
	struct json_object *name = member(device, "name", json_type_string);
	struct json_object *edits = member(device, "containerEdits", json_type_object);
	struct json_object *nodes = member(edits, "deviceNodes", json_type_array);
	size_t i;

	if (!name || !nodes || !only(device, keys) || !only(edits, edits_keys) ||
	    !json_object_array_length(nodes) || !cdi_name_valid(json_object_get_string(name)))
		return false;
	if (!digits && strchr("0123456789", json_object_get_string(name)[0]))
		return false;
	for (i = 0; i < json_object_array_length(nodes); i++)
		if (!node_good(json_object_array_get_idx(nodes, i)))
			return false;
	return true;
}

/* By the rules; also that no name is there twice. */
static bool spec_good(const char *text, const char *version)
{
	static const char *const keys[] = { "cdiVersion", "kind", "devices", NULL };
	struct json_object *spec = json_tokener_parse(text), *devices, *is;
	bool good, digits = !strcmp(version, "0.5.0");
	size_t i, j;

	devices = member(spec, "devices", json_type_array);
	is = member(spec, "cdiVersion", json_type_string);
	good = devices && is && only(spec, keys) && json_object_array_length(devices) &&
	       !strcmp(json_object_get_string(is), version) &&
	       !strcmp(json_object_get_string(member(spec, "kind", json_type_string)), "gpufabric.io/gpu");
	for (i = 0; good && i < json_object_array_length(devices); i++) {
		struct json_object *device = json_object_array_get_idx(devices, i);

		good = device_good(device, digits);
		for (j = 0; good && j < i; j++)
			good = strcmp(json_object_get_string(member(device, "name", json_type_string)),
				      json_object_get_string(member(json_object_array_get_idx(devices, j),
								    "name", json_type_string)));
	}
	json_object_put(spec);
	return good;
}

/* "/dev/a c 1:2, ..." of a device, NULL when there is none; the caller frees. */
static char *nodes_of(const char *text, const char *name)
{
	struct json_object *spec = json_tokener_parse(text), *nodes;
	struct json_object *devices = member(spec, "devices", json_type_array);
	struct text t = { 0 };
	size_t i, j;

	for (i = 0; i < json_object_array_length(devices); i++) {
		struct json_object *device = json_object_array_get_idx(devices, i);

		if (strcmp(json_object_get_string(member(device, "name", json_type_string)), name))
			continue;
		nodes = member(member(device, "containerEdits", json_type_object), "deviceNodes", json_type_array);
		for (j = 0; j < json_object_array_length(nodes); j++) {
			struct json_object *node = json_object_array_get_idx(nodes, j);

			text_add(&t, "%s%s %s %d:%d", j ? ", " : "",
				 json_object_get_string(member(node, "path", json_type_string)),
				 json_object_get_string(member(node, "type", json_type_string)),
				 json_object_get_int(member(node, "major", json_type_int)),
				 json_object_get_int(member(node, "minor", json_type_int)));
		}
	}
	json_object_put(spec);
	return t.text;
}

static void has_nodes(const char *text, const char *name, const char *want)
{
	char *is = nodes_of(text, name);

	is_str(is, want, name);
	free(is);
}

#define OF_FIRST "/dev/nvidia3 c 195:3, /dev/nvidiactl c 1:3"
#define OF_SECOND "/dev/dri/card1 c 226:1, /dev/dri/by-path/pci-0000:42:00.0-card c 226:1"

static void test_print(void)
{
	char *text = cdi_print(&fabric, &places, &vendors);

	ok(spec_good(text, "0.3.0"), "the document is by the rules of 0.3.0");
	has_nodes(text, "sim0-1", OF_FIRST);
	has_nodes(text, "sim0-2", OF_SECOND);
	has_nodes(text, "train70b", OF_FIRST ", " OF_SECOND);
	has_nodes(text, "sim0-3", NULL);
	ok(strstr(text, "\"NVIDIA_VISIBLE_DEVICES=void\""), "with the variable of the driver");
	free(text);

	slots[0].name = (char *)"3-1";
	text = cdi_print(&fabric, &places, &vendors);
	ok(spec_good(text, "0.5.0"), "a name that begins with a digit needs 0.5.0");
	free(text);

	slots[0].name = (char *)"train70b";
	text = cdi_print(&fabric, &places, &vendors);
	ok(spec_good(text, "0.3.0"), "a slot called like a composition does not make two of a name");
	has_nodes(text, "train70b", OF_FIRST ", " OF_SECOND);
	free(text);

	slots[0].name = (char *)"odd/name";
	compositions[0].name = (char *)"train-";
	text = cdi_print(&fabric, &places, &vendors);
	ok(spec_good(text, "0.3.0"), "what cannot be a name is left out");
	ok(!strstr(text, "odd/name") && !strstr(text, "train-"), "all of it");
	free(text);
	slots[0].name = (char *)"sim0-1";
	compositions[0].name = (char *)"train70b";
}

static void test_states(void)
{
	char *text;

	slots[0].state = GF_STATE_DRAINING;
	text = cdi_print(&fabric, &places, &vendors);
	has_nodes(text, "sim0-1", NULL);
	has_nodes(text, "train70b", NULL);
	has_nodes(text, "sim0-2", OF_SECOND);
	free(text);
	slots[0].state = GF_STATE_READY;
	compositions[0].state = GPUFABRIC_COMPOSITION_STATE_COMPOSING;
	text = cdi_print(&fabric, &places, &vendors);
	has_nodes(text, "train70b", NULL);
	free(text);
	compositions[0].state = GPUFABRIC_COMPOSITION_STATE_ACTIVE;
	slots[0].state = GF_STATE_OFF;
	slots[1].state = GF_STATE_OFF;
	text = cdi_print(&fabric, &places, &vendors);
	is_str(text, NULL, "without devices there is no document");
	slots[0].state = GF_STATE_READY;
	slots[1].state = GF_STATE_READY;
}

static void lacks(const char *name, const char *want)
{
	struct fault fault = { "" };

	ok(cdi_lacks(&fabric, &places, &vendors, name, &fault) == !!want, "%s %s", name, want ? "lacks something" : "has all");
	is_str(fault.text, want ? want : "", want ? "which is said" : "and nothing is said");
}

static void test_lacks(void)
{
	lacks("train70b", NULL);
	lacks("sim0-1", NULL);
	lacks("nobody", "there is no composition or slot nobody");
	functions[1].driver = NULL;
	functions[1].address = (char *)"0000:43:00.0";
	lacks("sim0-1", NULL);
	lacks("sim0-2", "the GPU in slot sim0-2 has no device node: no driver is bound to it, load one");
	lacks("train70b", "the GPU in slot sim0-2 has no device node: no driver is bound to it, load one");
	functions[1].driver = (char *)"amdgpu";
	lacks("train70b", "the GPU in slot sim0-2 has no device node: its driver amdgpu has made none");
	functions[1].address = (char *)"0000:42:00.0";
	slots[0].state = GF_STATE_OFF;
	lacks("sim0-1", "slot sim0-1 is off");
	lacks("train70b", "slot sim0-1 is off");
	slots[0].state = GF_STATE_READY;
	members[0].slot_id = 9;
	lacks("train70b", "a slot of composition train70b is gone");
	members[0].slot_id = 1;
	compositions[0].state = GPUFABRIC_COMPOSITION_STATE_COMPOSING;
	lacks("train70b", "composition train70b is composing");
	compositions[0].state = GPUFABRIC_COMPOSITION_STATE_ACTIVE;
	compositions[0].n_members = 0;
	lacks("train70b", "composition train70b has no GPU");
	compositions[0].n_members = 2;
	compositions[0].name = (char *)"train-";
	lacks("train-", "no container device can be called train-: a name has up to 63 letters, digits and _-.:, "
			"with a letter or digit at both ends");
	compositions[0].name = (char *)"train70b";
}

/* What is not required is not in the document either. */
static void test_half(void)
{
	char *text;

	functions[1].driver = NULL;
	functions[1].address = (char *)"0000:43:00.0";
	text = cdi_print(&fabric, &places, &vendors);
	has_nodes(text, "sim0-1", OF_FIRST);
	has_nodes(text, "sim0-2", NULL);
	has_nodes(text, "train70b", NULL);
	free(text);
	functions[1].driver = (char *)"amdgpu";
	functions[1].address = (char *)"0000:42:00.0";
}

static int without(const char *text, const char *name, char **left, size_t *removed)
{
	struct fault fault = { "" };

	return cdi_without(text, strlen(text), &name, 1, left, removed, &fault);
}

static void test_without(void)
{
	char *text = cdi_print(&fabric, &places, &vendors), *left, *last;
	const char *both[] = { "sim0-1", "train70b" };
	struct fault fault = { "" };
	const char **names;
	size_t removed, n;

	is_int(without(text, "nobody", &left, &removed), 0, "a name that is not there");
	is_str(left, text, "changes nothing");
	free(left);
	is_int(cdi_without(text, strlen(text), both, 2, &left, &removed, &fault), 0, "two names");
	is_int((intmax_t)removed, 2, "are removed");
	ok(spec_good(left, "0.3.0"), "what is left is by the rules");
	has_nodes(left, "sim0-2", OF_SECOND);
	has_nodes(left, "train70b", NULL);
	is_int(without(left, "sim0-2", &last, &removed), 0, "the last name");
	is_str(last, NULL, "leaves no document");
	free(left);
	free(text);

	ok(without("", "a", &left, &removed) < 0 && !left, "an empty file is refused");
	ok(without("[]", "a", &left, &removed) < 0, "another document");
	ok(without("{\"kind\":\"vendor.com/gpu\",\"devices\":[]}", "a", &left, &removed) < 0, "somebody else's");
	ok(without("{\"kind\":\"gpufabric.io/gpu\",\"devices\":[1]}", "a", &left, &removed) < 0, "no device");
	ok(without("{\"kind\":\"gpufabric.io/gpu\",\"devices\":[{\"name\":\"\"}]}", "a", &left, &removed) < 0,
	   "no name");

	names = cdi_together(&fabric, "train70b", &n);
	ok(n == 3 && !strcmp(names[1], "sim0-1") && !strcmp(names[2], "sim0-2"), "slots go with their composition");
	free(names);
	names = cdi_together(&fabric, "sim0-2", &n);
	ok(n == 2 && !strcmp(names[1], "train70b"), "a composition goes with its slot");
	free(names);
	names = cdi_together(&fabric, "nobody", &n);
	ok(n == 1 && !strcmp(names[0], "nobody"), "else it is the name alone");
	free(names);
}

static int parse(const char *text)
{
	struct vendors other = { NULL, 0 };
	struct fault fault = { "" };
	int err = vendors_parse(&other, "file", text, strlen(text), &fault);

	vendors_free(&other);
	return err;
}

static void test_vendors(void)
{
	is_int(parse("[nvidia]\nshared = /dev/a /dev/b\nskip = x*\nlinks = a*:/dev/b\nenv = A=b\n"), 0, "a section");
	ok(parse("[nvidia]\nshared = /etc/shadow\n") < 0, "what is not below /dev is refused");
	ok(parse("[nvidia]\nshared = /dev/../etc/shadow\n") < 0, "also by way of it");
	ok(parse("[nvidia]\nlinks = a*\n") < 0, "a link without a path");
	ok(parse("[nvidia]\nlinks = a*:relative\n") < 0, "or with one elsewhere");
	ok(parse("[nvidia]\nenv = A\n") < 0, "a variable without a value");
	ok(parse("[nvidia]\nmounts = /\n") < 0, "an unknown key");
	is_str(vendors_find(&vendors, "nvidia")->driver, "nvidia", "a driver's section");
	is_str(vendors_find(&vendors, "habanalabs")->driver, "any", "that for others");
	is_str(vendors_find(&vendors, NULL)->driver, "any", "and without a driver");
}

static void test_names(void)
{
	ok(cdi_name_valid("a") && cdi_name_valid("3-2") && cdi_name_valid("a.b_c:d"), "names");
	ok(!cdi_name_valid("") && !cdi_name_valid("-a") && !cdi_name_valid("a-") && !cdi_name_valid("a/b") &&
	   !cdi_name_valid("a b") && !cdi_name_valid("a\n"), "none");
}

int main(void)
{
	struct fault fault = { "" };
	char *path, *command;

	if (!mkdtemp(dir))
		return 1;
	sys = mem_printf("%s/sys", dir);
	proc = mem_printf("%s/proc", dir);
	places = (struct places){ proc, dir };
	tree_put(dir, "proc/driver/nvidia/gpus/0000:41:00.0/information", "Device Minor: 3\n");
	sysroot_device(dir, "sys/bus/pci/devices/0000:41:00.0", "pci", "");
	sysroot_device(dir, "sys/bus/pci/devices/0000:42:00.0", "pci", "");
	sysroot_device(dir, "sys/bus/pci/devices/0000:42:00.1", "pci", "");
	sysroot_device(dir, "sys/bus/pci/devices/0000:42:00.0/drm/card1", "drm",
		       "MAJOR=226\nMINOR=1\nDEVNAME=dri/card1\n");
	sysroot_device(dir, "sys/bus/pci/devices/0000:42:00.0/i2c-3", "i2c",
		       "MAJOR=89\nMINOR=3\nDEVNAME=i2c-3\n");
	sysroot_device(dir, "sys/bus/pci/devices/0000:42:00.1/sound/card0", "sound",
		       "MAJOR=116\nMINOR=3\nDEVNAME=card0\n");
	ok(sysroot_mount(sys), "a sysfs");
	/* A node that is there, and of those that share one that is no node. */
	tree_put(dir, "dev/nvidia-uvm", "no device\n");
	path = mem_printf("%s/dev/nvidiactl", dir);
	ok(!symlink("/dev/null", path), "a node");
	free(path);
	if (vendors_load(&vendors, "ctl/catalogue", "/nowhere", &fault))
		printf("# %s\n", fault.text);
	ok(vendors.n > 2, "nodes.d as it is installed");

	test_print();
	test_states();
	test_lacks();
	test_half();
	test_without();
	test_vendors();
	test_names();

	vendors_free(&vendors);
	command = mem_printf("rm -r %s", dir);
	ok(!system(command), "cleaned up");
	free(command);
	free(sys);
	free(proc);
	return tap_done();
}
