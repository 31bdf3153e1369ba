// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the page for people
 *
 * One file, which is a part of the program. The browser runs its one script and takes its one style
 * sheet because their digests are in the policy; it loads nothing else, and asks nobody but us.
 */
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/page.h"

__asm__(".pushsection .rodata\n"
	".global page_html\n"
	"page_html:\n"
	".incbin \"fm/page.html\"\n"
	".byte 0\n"
	".popsection\n");

/* The digest of what stands between two tags, as a policy has it; the caller frees. */
static char *page_digest(const char *from, const char *to)
{
	const char *begin = strstr(page_html, from), *end = begin ? strstr(begin, to) : NULL;
	unsigned char digest[32];
	gnutls_datum_t raw = { digest, sizeof(digest) }, text = { 0 };
	char *copy;

	if (!end)
		return mem_strdup("'none'");
	begin += strlen(from);
	if (gnutls_hash_fast(GNUTLS_DIG_SHA256, begin, (size_t)(end - begin), digest) ||
	    gnutls_base64_encode2(&raw, &text))
		return mem_strdup("'none'");
	copy = mem_printf("'sha256-%.*s'", (int)text.size, (const char *)text.data);
	gnutls_free(text.data);
	return copy;
}

char *page_policy(void)
{
	char *script = page_digest("<script>", "</script>"),
	     *style = page_digest("<style>", "</style>");
	char *policy =
		mem_printf("default-src 'none'; script-src %s; style-src %s; connect-src 'self'; "
			   "img-src data:; base-uri 'none'; form-action 'none'; "
			   "frame-ancestors 'none'",
			   script, style);

	free(script);
	free(style);
	return policy;
}
