/* SPDX-License-Identifier: GPL-2.0-only */
/* Events as entries of systemd's journal, with a field for each fact. */
#ifndef GPUCTL_JOURNAL_H
#define GPUCTL_JOURNAL_H

#include "module/model.h"

/**
 * struct journal_entry - fields of one entry
 * @fields: "NAME=value" each, owned
 * @n: how many
 */
struct journal_entry {
	char **fields;
	size_t n;
};

/*
 * What an event is in the journal; @fabric as it was before the event. The
 * fields are in gpuctl.8, so they stay what they are.
 */
void journal_entry(struct journal_entry *entry, const struct gf_fabric *fabric,
		   const struct gf_message *event);
/* A sentence of the watch itself, such as that changes were lost. */
void journal_note(struct journal_entry *entry, const char *event, const char *message);
void journal_free(struct journal_entry *entry);

/* Hand it to the journal; 0 or a negative errno. Without a journal nothing is kept. */
int journal_send(const struct journal_entry *entry);

/* Tell systemd that we are at work, where it started us and waits for that. */
void journal_ready(void);

#endif /* GPUCTL_JOURNAL_H */
