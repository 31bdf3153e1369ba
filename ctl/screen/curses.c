// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the terminal
 *
 * A program that leaves a terminal in its own mode leaves it useless. So every
 * way out gives it back: the usual end, exit() from deep inside, signals
 * that ask to end (noted, and minded by the loop) and those that a mistake of ours brings.
 */
#include <curses.h>
#include <locale.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

#include "screen/curses.h"

/* Lock-free, so that a handler may set them. */
static atomic_bool active, ended;
static bool coloured;
static SCREEN *terminal;

/* The longest line that is looked at; terminals are narrower. */
#define WIDEST 1024

static bool screen_possible(void)
{
	int error;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return false;
	/* One that cannot move the cursor, such as "dumb", is no screen. */
	return setupterm(NULL, STDOUT_FILENO, &error) == OK && cursor_address;
}

static void screen_end(void)
{
	if (!active)
		return;
	active = false;
	endwin();
}

static void note_end(int signal)
{
	(void)signal;
	ended = true;
}

/* Not the orderly way, but the program is about to die, and its user needs the terminal. */
static void die(int signal)
{
	screen_end();
	raise(signal);
}

static void catch_signals(void)
{
	static const int asking[] = { SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2 };
	static const int dying[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	struct sigaction note = { .sa_handler = note_end };
	struct sigaction last = { .sa_handler = die, .sa_flags = (int)SA_RESETHAND };
	sigset_t block;
	size_t i;

	/* Delivered while the loop waits, as those of gfc_catch_signals(). */
	sigemptyset(&block);
	for (i = 0; i < sizeof(asking) / sizeof(asking[0]); i++) {
		sigaddset(&block, asking[i]);
		sigaction(asking[i], &note, NULL);
	}
	sigprocmask(SIG_BLOCK, &block, NULL);
	for (i = 0; i < sizeof(dying) / sizeof(dying[0]); i++)
		sigaction(dying[i], &last, NULL);
}

static void start_colours(void)
{
	static const short colours[] = {
		[SCREEN_GOOD] = COLOR_GREEN,
		[SCREEN_BUSY] = COLOR_YELLOW,
		[SCREEN_BAD] = COLOR_RED,
	};
	const char *none = getenv("NO_COLOR");
	short i;

	coloured = !(none && *none) && has_colors() && start_color() == OK &&
		   use_default_colors() == OK;
	for (i = SCREEN_GOOD; i <= SCREEN_BAD && coloured; i++)
		init_pair(i, colours[i], -1);
}

static bool screen_begin(void)
{
	/* Names of others may be more than ASCII. */
	setlocale(LC_CTYPE, "");
	catch_signals();
	atexit(screen_end);
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return false;
	active = true;
	start_colours();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	return true;
}

static size_t screen_height(void)
{
	return LINES > 0 ? (size_t)LINES : 0;
}

static size_t screen_width(void)
{
	return COLS > 0 ? (size_t)COLS : 0;
}

static void screen_clear(void)
{
	erase();
}

static attr_t attributes_of(enum screen_look look)
{
	switch (look) {
	case SCREEN_TITLE:
		return A_REVERSE;
	case SCREEN_BAD:
		return A_BOLD | (coloured ? COLOR_PAIR(SCREEN_BAD) : 0);
	case SCREEN_GOOD:
	case SCREEN_BUSY:
		return coloured ? COLOR_PAIR(look) : A_NORMAL;
	default:
		return A_NORMAL;
	}
}

/* As much of the text as the line has columns for; a wide sign takes two. */
static size_t fitting(const wchar_t *text, size_t n)
{
	size_t taken = 0, i;

	for (i = 0; i < n; i++) {
		int width = wcwidth(text[i]);

		taken += width > 0 ? (size_t)width : 0;
		if (taken > screen_width())
			break;
	}
	return i;
}

static void screen_line(size_t line, const char *text, size_t shift, enum screen_look look)
{
	attr_t attributes = attributes_of(look);
	wchar_t wide[WIDEST];
	size_t n, i;

	if (line >= screen_height())
		return;
	n = mbstowcs(wide, text, WIDEST - 1);
	if (n == (size_t)-1) {
		/* Not of this locale: what is ASCII in it can be read all the same. */
		for (n = 0; n < WIDEST - 1 && text[n]; n++)
			wide[n] = (unsigned char)text[n] < 0x80 ? (wchar_t)text[n] : L'?';
	}
	wide[n < WIDEST ? n : WIDEST - 1] = L'\0';
	n = wcslen(wide);
	shift = shift < n ? shift : n;
	attron(attributes);
	move((int)line, 0);
	if (look == SCREEN_TITLE)
		for (i = 0; i < screen_width(); i++)
			addch(' ');
	mvaddnwstr((int)line, 0, wide + shift, (int)fitting(wide + shift, n - shift));
	attroff(attributes);
}

static void screen_show(void)
{
	refresh();
}

static int screen_key(void)
{
	static const struct {
		int curses;
		int key;
	} keys[] = {
		{ KEY_UP, SCREEN_UP },
		{ KEY_DOWN, SCREEN_DOWN },
		{ KEY_LEFT, SCREEN_LEFT },
		{ KEY_RIGHT, SCREEN_RIGHT },
		{ KEY_PPAGE, SCREEN_PAGE_UP },
		{ KEY_NPAGE, SCREEN_PAGE_DOWN },
		{ KEY_HOME, SCREEN_HOME },
		{ KEY_END, SCREEN_END },
		{ KEY_BACKSPACE, SCREEN_BACK },
		{ 127, SCREEN_BACK },
		{ 8, SCREEN_BACK },
		{ KEY_ENTER, SCREEN_ENTER },
		{ '\r', SCREEN_ENTER },
		{ '\n', SCREEN_ENTER },
		{ 27, SCREEN_ESCAPE },
		{ KEY_RESIZE, SCREEN_RESIZED },
		{ 12, SCREEN_RESIZED }, /* Control-L: draw all of it anew */
	};
	int c = getch();
	size_t i;

	if (c == ERR)
		return SCREEN_NONE;
	if (c == 12)
		clearok(stdscr, TRUE);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].curses == c)
			return keys[i].key;
	return c > 31 && c < 127 ? c : SCREEN_OTHER;
}

static bool screen_ended(void)
{
	return ended;
}

const struct screen screen_curses = {
	.possible = screen_possible,
	.begin = screen_begin,
	.end = screen_end,
	.height = screen_height,
	.width = screen_width,
	.clear = screen_clear,
	.line = screen_line,
	.show = screen_show,
	.key = screen_key,
	.ended = screen_ended,
};
