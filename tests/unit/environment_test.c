// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/publish/environment.c ctl/host/visible.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c ctl/base/text.c
/* What a process of a composition finds in its environment, and the three ways to print it. */
#include <stdlib.h>
#include <string.h>

#include "publish/environment.h"
#include "tap.h"
#include "tree.h"

static char dir[] = "/tmp/environment_test.XXXXXX";

static void fill(struct environment *environment, const char *const *values)
{
	static const char *const names[] = { "A", "B", "C", "D" };

	memset(environment, 0, sizeof(*environment));
	for (; *values; values++) {
		environment->items[environment->n].name = names[environment->n];
		environment->items[environment->n].value = mem_strdup(*values);
		environment->n++;
	}
}

static void test_composition(void)
{
	struct gf_function functions[] = {
		{ .vendor = 0x10de, .address = "0000:41:00.0", .class = 0x030200 },
		{ .vendor = 0x10de, .address = "0000:42:00.0", .class = 0x030200 },
	};
	struct gf_slot slots[] = {
		{ .id = 1, .name = "s1", .functions = &functions[0], .n_functions = 1 },
		{ .id = 2, .name = "s2", .functions = &functions[1], .n_functions = 1 },
		{ .id = 3, .name = "s3" },
	};
	struct gf_membership members[] = { { .slot_id = 2 }, { .slot_id = 3 }, { .slot_id = 1 }, { .slot_id = 9 } };
	struct gf_fabric fabric = { .slots = slots, .n_slots = 3 };
	struct gf_composition composition = { .name = "train", .members = members, .n_members = 4 };
	char *proc = mem_printf("%s/proc", dir), *sys = mem_printf("%s/sys", dir);
	struct environment environment;
	struct text text = { 0 };

	tree_put(dir, "proc/driver/nvidia/gpus/0000:41:00.0/information", "GPU UUID: \t GPU-1111\n");
	tree_put(dir, "proc/driver/nvidia/gpus/0000:42:00.0/information", "GPU UUID: \t GPU-2222\n");
	environment_of(proc, sys, &fabric, &composition, NULL, &environment);
	environment_write(&environment, ENVIRONMENT_PLAIN, &text);
	is_str(text.text,
	       "GPUFABRIC_COMPOSITION=train\nGPUFABRIC_SLOTS=s2 s1\nGPUFABRIC_ADDRESSES=0000:42:00.0 0000:41:00.0\n"
	       "CUDA_VISIBLE_DEVICES=GPU-2222,GPU-1111\n",
	       "members in their order, without those that have no GPU");
	environment_free(&environment);
	free(text.text);
	text = (struct text){ 0 };
	environment_of(proc, sys, &fabric, &composition, &slots[0], &environment);
	environment_write(&environment, ENVIRONMENT_PLAIN, &text);
	is_str(text.text,
	       "GPUFABRIC_COMPOSITION=train\nGPUFABRIC_SLOTS=s1\nGPUFABRIC_ADDRESSES=0000:41:00.0\nCUDA_VISIBLE_DEVICES=GPU-1111\n",
	       "a process for one slot sees that one alone");
	environment_free(&environment);
	free(text.text);
	composition.n_members = 0;
	text = (struct text){ 0 };
	environment_of(proc, sys, &fabric, &composition, NULL, &environment);
	environment_write(&environment, ENVIRONMENT_PLAIN, &text);
	is_str(text.text, "GPUFABRIC_COMPOSITION=train\nGPUFABRIC_SLOTS=\nGPUFABRIC_ADDRESSES=\n",
	       "without members nothing of a former value is left to be seen");
	environment_free(&environment);
	free(text.text);
	free(proc);
	free(sys);
}

static void test_formats(void)
{
	struct environment environment;
	struct text text = { 0 };

	fill(&environment, (const char *[]){ "GPU-1,GPU-2", "a b", "it's $(id) `id` \\", "", NULL });
	environment_write(&environment, ENVIRONMENT_SHELL, &text);
	is_str(text.text,
	       "export A=GPU-1,GPU-2\nexport B='a b'\nexport C='it'\\''s $(id) `id` \\'\nexport D=''\n",
	       "a shell gets quotes where it needs them");
	free(text.text);
	text = (struct text){ 0 };
	environment_write(&environment, ENVIRONMENT_PLAIN, &text);
	is_str(text.text, "A=GPU-1,GPU-2\nB=a b\nC=it's $(id) `id` \\\nD=\n", "plain has none");
	free(text.text);
	text = (struct text){ 0 };
	environment_write(&environment, ENVIRONMENT_NULL, &text);
	ok(text.len == sizeof("A=GPU-1,GPU-2\0B=a b\0C=it's $(id) `id` \\\0D=") &&
		   !memcmp(text.text, "A=GPU-1,GPU-2\0B=a b\0C=it's $(id) `id` \\\0D=", text.len),
	   "a NUL ends each, the last one too");
	free(text.text);
	environment_free(&environment);
}

int main(void)
{
	char *command;

	if (!mkdtemp(dir))
		return 1;
	test_composition();
	test_formats();
	command = mem_printf("rm -r %s", dir);
	ok(!system(command), "cleaned up");
	free(command);
	return tap_done();
}
