// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: screen
 *
 * gpuctl with a screen: all of its commands, and one of them draws. gpuctl becomes this program
 * when it is to draw, see top/screen.h.
 */
#include "screen/curses.h"
#include "tool/tool.h"

int main(int argc, char **argv)
{
	return tool_main(argc, argv, &screen_curses);
}
