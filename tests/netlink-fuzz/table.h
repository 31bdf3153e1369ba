/* SPDX-License-Identifier: GPL-2.0-only */
/* What the spec says, as a table; table.py writes it. */
#ifndef FUZZ_TABLE_H
#define FUZZ_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum fuzz_kind {
	FUZZ_NONE,
	FUZZ_U8,
	FUZZ_U32,
	FUZZ_S32,
	FUZZ_U64,
	FUZZ_UINT,
	FUZZ_STRING,
	FUZZ_BINARY,
	FUZZ_NEST,
};

struct fuzz_set;

/**
 * struct fuzz_attr - an attribute
 * @name: its name
 * @kind: its type; FUZZ_NONE when no attribute has this number
 * @min: least value
 * @max: greatest value, or longest string or bytes, 0 for any
 * @nested: what is in a nest
 * @private: only for readers with CAP_SYS_ADMIN
 */
struct fuzz_attr {
	const char *name;
	enum fuzz_kind kind;
	uint64_t min, max;
	const struct fuzz_set *nested;
	bool private;
};

/**
 * struct fuzz_set - the attributes that can stand in one place
 * @name: its name
 * @attrs: indexed by their types
 * @max: greatest type
 */
struct fuzz_set {
	const char *name;
	const struct fuzz_attr *attrs;
	unsigned int max;
};

/**
 * struct fuzz_command - a command
 * @name: its name
 * @number: its number
 * @reads: it changes nothing
 * @does: it can be a request for one thing
 * @dumps: it can be a dump
 * @takes: a bit for each attribute that it takes
 */
struct fuzz_command {
	const char *name;
	uint8_t number;
	bool reads;
	bool does;
	bool dumps;
	uint64_t takes;
};

extern const struct fuzz_set *const fuzz_message;
extern const struct fuzz_command fuzz_commands[];
extern const unsigned int fuzz_n_commands;

#endif /* FUZZ_TABLE_H */
