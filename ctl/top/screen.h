/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal as lines of text: ncurses, and nothing of it outside of screen.c. */
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

/* True when input and output are a terminal that lines can be drawn on. */
bool screen_possible(void);

/*
 * Take the terminal; from here on it is given back on every way out: screen_end(), exit(),
 * and any signal that ends the program. False when that cannot be.
 */
bool screen_begin(void);
void screen_end(void);

size_t screen_lines(void);
size_t screen_columns(void);

/* Begin a picture; write lines of it, from column @shift of the text; show it. */
void screen_clear(void);
void screen_line(size_t line, const char *text, size_t shift, enum screen_look look);
void screen_show(void);

/* The next key that was pressed; SCREEN_NONE when there is none. Never waits. */
int screen_key(void);

/* A signal came that ends the program, other than those that gfc_signalled() knows. */
bool screen_ended(void);

#endif /* GPUCTL_TOP_SCREEN_H */
