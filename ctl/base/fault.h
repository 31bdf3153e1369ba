/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why something failed, in words for the user. The pure parts of the tool
 * never print: they fill one of these, return a negative errno, and the
 * command prints the text once.
 */
#ifndef GPUCTL_CATALOGUE_FAULT_H
#define GPUCTL_CATALOGUE_FAULT_H

#define FAULT_TEXT_MAX 768

/**
 * struct fault - the reason of a failure
 * @text: one line without a newline, "" as long as nothing failed
 */
struct fault {
	char text[FAULT_TEXT_MAX];
};

/* Replaces the text; returns -@err, so that callers can return it. */
int fault_set(struct fault *f, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "where: " before the text that is already there. */
void fault_prefix(struct fault *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends to the text; what does not fit is cut. */
void fault_add(struct fault *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
