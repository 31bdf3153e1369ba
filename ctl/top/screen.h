/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal as lines of text. */
#ifndef GPUCTL_TOP_SCREEN_H
#define GPUCTL_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* How a line looks; colours come to it where the terminal has them and NO_COLOR is not set. */
enum screen_look {
	SCREEN_PLAIN,
	SCREEN_GOOD,
	SCREEN_BUSY,
	SCREEN_BAD, /* bold as well */
	SCREEN_TITLE, /* reversed */
};

/* Keys that are no characters; above all of those. */
enum screen_key {
	SCREEN_NONE = -1,
	SCREEN_UP = 0x110000,
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_BACK,
	SCREEN_ENTER,
	SCREEN_ESCAPE,
	SCREEN_RESIZED,
	SCREEN_OTHER,
};

/**
 * struct screen - what draws on a terminal
 * @possible: input and output are a terminal that lines can be drawn on
 * @begin: take the terminal; from here on it is given back on every way out: @end, exit(),
 *	and any signal that ends the program. False when that cannot be
 * @end: give it back
 * @height: in lines
 * @width: in columns
 * @clear: begin a picture
 * @line: write a line of it, from column @shift of the text
 * @show: show it
 * @key: the next key that was pressed; SCREEN_NONE when there is none. Never waits
 * @ended: a signal came that ends the program, other than those that gfc_signalled() knows
 *
 * The library that does this takes as long to load as all others of gpuctl, and one command
 * draws. So gpuctl has no screen, and goes on as SCREEN_PROGRAM, which is gpuctl with one.
 */
struct screen {
	bool (*possible)(void);
	bool (*begin)(void);
	void (*end)(void);
	size_t (*height)(void);
	size_t (*width)(void);
	void (*clear)(void);
	void (*line)(size_t line, const char *text, size_t shift, enum screen_look look);
	void (*show)(void);
	int (*key)(void);
	bool (*ended)(void);
};

/* Among the programs that gpuctl starts. */
#define SCREEN_PROGRAM "screen"

#endif /* GPUCTL_TOP_SCREEN_H */
