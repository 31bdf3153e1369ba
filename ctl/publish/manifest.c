// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: manifests
 *
 * install.yaml is a part of the program; {WORDS} in it are replaced. What is put into YAML
 * is plain: names, paths and kinds that need no quotes, or texts in a comment.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "publish/manifest.h"

#define NAME_MAX_LABEL 63

__asm__(".pushsection .rodata\n"
	".global manifest_text\n"
	"manifest_text:\n"
	".incbin \"ctl/publish/install.yaml\"\n"
	".byte 0\n"
	".popsection\n");

char *manifest_name(const char *text)
{
	struct text name = { 0 };

	for (; *text && name.len < NAME_MAX_LABEL; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x80 && isalnum(c))
			text_add(&name, "%c", tolower(c));
		else if (name.len && name.text[name.len - 1] != '-')
			text_add(&name, "-");
	}
	while (name.len && name.text[name.len - 1] == '-')
		name.text[--name.len] = '\0';
	if (!name.len)
		text_add(&name, "gpus");
	return name.text;
}

char *manifest_claim(const struct manifest_claim *claim)
{
	struct text t = { 0 };

	text_add(&t, "# %s\n", claim->why);
	text_add(&t,
		 "apiVersion: resource.k8s.io/v1\n"
		 "kind: ResourceClaimTemplate\n"
		 "metadata:\n"
		 "  name: %s\n"
		 "spec:\n"
		 "  spec:\n"
		 "    devices:\n"
		 "      requests:\n"
		 "      - name: gpus\n"
		 "        exactly:\n"
		 "          deviceClassName: gpufabric.io\n"
		 "          allocationMode: ExactCount\n"
		 "          count: %u\n"
		 "          selectors:\n"
		 "          - cel:\n"
		 "              expression: device.attributes[\"gpufabric.io\"].kind == \"%s\"",
		 claim->name, claim->count, claim->kind);
	return t.text;
}

/* It can stand in YAML as it is, without quotes. */
static bool is_plain(const char *value)
{
	static const char others[] = "/._-:@";

	if (!*value || *value == '-' || *value == ':' || *value == '@' ||
	    value[strlen(value) - 1] == ':')
		return false;
	for (; *value; value++)
		if (!isalnum((unsigned char)*value) && !strchr(others, *value))
			return false;
	return true;
}

char *manifest_install(const struct manifest_install *install, struct fault *fault)
{
	const struct {
		const char *word, *value;
		bool path;
	} words[] = {
		{ "NAMESPACE", install->namespace, false },
		{ "IMAGE", install->image, false },
		{ "KUBELET", install->kubelet, true },
		{ "CONFIG", install->config, true },
		{ "CDI", install->cdi, true },
	};
	const char *at = manifest_text, *next;
	struct text t = { 0 };
	size_t i, n = sizeof(words) / sizeof(*words), len;

	for (i = 0; i < n; i++)
		if (!is_plain(words[i].value) || (words[i].path && *words[i].value != '/')) {
			fault_set(fault, EINVAL, "\"%s\" cannot stand in a manifest%s",
				  words[i].value,
				  words[i].path ? ": it has to be an absolute path" : "");
			return NULL;
		}
	while ((next = strchr(at, '{'))) {
		text_add(&t, "%.*s", (int)(next - at), at);
		for (i = 0; i < n; i++) {
			len = strlen(words[i].word);
			if (!strncmp(next + 1, words[i].word, len) && next[len + 1] == '}')
				break;
		}
		text_add(&t, "%s", i < n ? words[i].value : "{");
		at = next + (i < n ? len + 2 : 1);
	}
	text_add(&t, "%s", at);
	while (t.len && t.text[t.len - 1] == '\n')
		t.text[--t.len] = '\0';
	return t.text;
}
