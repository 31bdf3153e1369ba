// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the kernel's log
 *
 * Sysfs shows windows as they are and not who made them, which decides whether a
 * parameter of the kernel can make others: firmware's are kept. The log has it: a
 * bridge whose window the kernel placed is named while it has no driver yet ("pci"
 * and not "pcieport" in front). Host bridges say what addresses they have, and
 * whether firmware let go of hot-plug.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>

#include "base/text.h"
#include "host/klog.h"

#define JOURNAL_MAX (64u << 20)
#define JOURNAL_NAME "kernel: "
/* A card that was away for longer was taken out; its driver may need a while to let go. */
#define DIP_S 10
#define ACTION_READ_ALL 3
#define ACTION_SIZE 10
/* Prefetchable windows are the third of a bridge's resources, in kernels that number them. */
#define PREF_NUMBERED_SRIOV "BAR 15: assigned ["
#define PREF_NUMBERED "BAR 9: assigned ["

/*
 * After "[  0.123456] " and "<6>", which dmesg and the kernel put in front, and "kernel: " of the
 * journal. @at: the time, negative for none.
 */
static const char *klog_message_of(const char *line, double *at)
{
	*at = -1;
	if (*line == '<')
		line += strcspn(line, ">\n") + (line[strcspn(line, ">\n")] == '>');
	if (sscanf(line, "[%lf]", at) != 1)
		*at = -1;
	if (*line == '[' && line[strcspn(line, "]\n")] == ']') {
		line += strcspn(line, "]\n") + 1;
		while (*line == ' ')
			line++;
	}
	if (!strncmp(line, JOURNAL_NAME, strlen(JOURNAL_NAME)))
		line += strlen(JOURNAL_NAME);
	return line;
}

/* "[mem 0x100000000000-0x1fffffffffff 64bit pref]" */
static bool parse_range(const char *text, struct pci_range *range)
{
	const char *end = strchr(text, ']');
	const char *flag;

	if (!end ||
	    sscanf(text, "[mem 0x%16" SCNx64 "-0x%16" SCNx64, &range->start, &range->end) != 2 ||
	    range->end < range->start)
		return false;
	range->flags = PCI_RES_MEM;
	flag = strstr(text, " 64bit");
	if (flag && flag < end)
		range->flags |= PCI_RES_WIDE;
	flag = strstr(text, " pref");
	if (flag && flag < end)
		range->flags |= PCI_RES_PREFETCH;
	return true;
}

static void take_root(struct klog *log, const char *message)
{
	const char *at = strstr(message, ": root bus resource [mem ");
	struct klog_window window;

	if (!at || strstr(at, "(ignored)") ||
	    sscanf(message, "pci_bus %8x:%2x: root", &window.domain, &window.bus) != 2 ||
	    !parse_range(strchr(at, '['), &window.range))
		return;
	log->windows = mem_grow(log->windows, log->n_windows + 1, sizeof(*log->windows));
	log->windows[log->n_windows++] = window;
}

static void take_device(struct klog *log, const char *message)
{
	char address[24];
	const char *rest, *brackets;
	bool pref;
	int len = 0;

	if (sscanf(message, "pci %23[0-9a-f:.]%n", address, &len) != 1 || len < 8)
		return;
	address[strlen(address) - (address[strlen(address) - 1] == ':')] = '\0';
	rest = message + len;
	while (*rest == ' ' || *rest == ':')
		rest++;
	brackets = strchr(rest, '[');
	if (!brackets)
		return;
	pref = strstr(brackets, "pref]");
	if (!(pref && !strncmp(rest, "bridge window [mem", 18) && strstr(rest, "]: assigned")) &&
	    strncmp(rest, PREF_NUMBERED_SRIOV, strlen(PREF_NUMBERED_SRIOV)) &&
	    strncmp(rest, PREF_NUMBERED, strlen(PREF_NUMBERED)))
		return;
	log->sized = mem_grow(log->sized, log->n_sized + 1, sizeof(*log->sized));
	snprintf(log->sized[log->n_sized++], sizeof(*log->sized), "%s", address);
}

static void take_osc(struct klog *log, const char *message)
{
	const char *controls = strstr(message, "_OSC: OS now controls [");
	bool refuses = strstr(message, "_OSC: platform does not support [") &&
		       strstr(message, "PCIeHotplug");

	if (controls && strstr(controls, "PCIeHotplug"))
		log->granted = true;
	if (!refuses && !(controls && !strstr(controls, "PCIeHotplug")) &&
	    !strstr(message, "_OSC failed") && !strstr(message, "_OSC: not requesting OS control"))
		return;
	log->refused = true;
	free(log->os_refused);
	log->os_refused = mem_strdup(message);
}

static struct klog_dip *dip_of(struct klog *log, const char *port, const char *slot)
{
	struct klog_dip *dip;
	size_t i;

	for (i = 0; i < log->n_dips; i++)
		if (!strcmp(log->dips[i].port, port))
			return &log->dips[i];
	log->dips = mem_grow(log->dips, log->n_dips + 1, sizeof(*log->dips));
	dip = &log->dips[log->n_dips++];
	memset(dip, 0, sizeof(*dip));
	snprintf(dip->port, sizeof(dip->port), "%s", port);
	snprintf(dip->slot, sizeof(dip->slot), "%s", slot);
	return dip;
}

/* "pcieport 0000:00:1c.0: pciehp: Slot(11): Link Down": a card that goes unasked, or comes. */
static void take_pciehp(struct klog *log, const char *message, double at)
{
	struct klog_dip *dip;
	char port[24], slot[24];
	int len = 0;

	if (sscanf(message, "pcieport %23[0-9a-f:.] pciehp: Slot(%23[^)]): %n", port, slot, &len) !=
		    2 ||
	    !len)
		return;
	port[strlen(port) - (port[strlen(port) - 1] == ':')] = '\0';
	message += len;
	dip = dip_of(log, port, slot);
	if (!strcmp(message, "Link Down") || !strcmp(message, "Card not present")) {
		dip->down = true;
		dip->since = at;
	} else if (!strcmp(message, "Link Up") || !strcmp(message, "Card present")) {
		dip->count += dip->down && dip->since >= 0 && at >= dip->since &&
			      at - dip->since <= DIP_S;
		dip->down = false;
	}
}

void klog_parse(struct klog *log, const char *text)
{
	const char *line = text;

	memset(log, 0, sizeof(*log));
	while (*line) {
		size_t len = strcspn(line, "\n");
		char *copy = mem_printf("%.*s", (int)(len < 4096 ? len : 4096), line);
		double at;
		const char *message = klog_message_of(copy, &at);

		if (!strncmp(message, "Linux version ", 14))
			log->complete = true;
		else if (!strncmp(message, "pci_bus ", 8))
			take_root(log, message);
		else if (!strncmp(message, "pci ", 4))
			take_device(log, message);
		else if (!strncmp(message, "pcieport ", 9))
			take_pciehp(log, message, at);
		else if (!strncmp(message, "acpi ", 5))
			take_osc(log, message);
		free(copy);
		line += len + (line[len] == '\n');
	}
}

void klog_free(struct klog *log)
{
	free(log->windows);
	free(log->sized);
	free(log->os_refused);
	free(log->dips);
	memset(log, 0, sizeof(*log));
}

bool klog_sized(const struct klog *log, const char *address)
{
	size_t i;

	for (i = 0; i < log->n_sized; i++)
		if (!strcmp(log->sized[i], address))
			return true;
	return false;
}

static bool begins_with_boot(const char *text)
{
	struct klog log;
	bool begins;

	klog_parse(&log, text);
	begins = log.complete;
	klog_free(&log);
	return begins;
}

/* The journal has kept what the kernel's buffer has lost. */
static char *read_journal(void)
{
	FILE *f =
		popen("exec /usr/bin/journalctl -k -b -o short-monotonic --no-hostname --no-pager 2>/dev/null",
		      "re");
	struct text t = { 0 };
	char *line = NULL;
	size_t room = 0;

	if (!f)
		return NULL;
	while (getline(&line, &room, f) > 0 && t.len < JOURNAL_MAX)
		text_add(&t, "%s", line);
	free(line);
	pclose(f);
	return t.text;
}

static char *read_buffer(void)
{
	int size = klogctl(ACTION_SIZE, NULL, 0), n;
	char *text;

	if (size <= 0)
		return NULL;
	text = mem_zalloc((size_t)size + 1, 1);
	n = klogctl(ACTION_READ_ALL, text, size);
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

char *klog_read(void)
{
	char *text = read_buffer(), *journal;

	if (text && begins_with_boot(text))
		return text;
	journal = read_journal();
	if (journal && begins_with_boot(journal)) {
		free(text);
		return journal;
	}
	free(journal);
	return text;
}
