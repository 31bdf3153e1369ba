/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal by ncurses, and nothing of it outside of curses.c. */
#ifndef GPUCTL_SCREEN_CURSES_H
#define GPUCTL_SCREEN_CURSES_H

#include "top/screen.h"

extern const struct screen screen_curses;

#endif /* GPUCTL_SCREEN_CURSES_H */
