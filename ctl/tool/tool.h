/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUCTL_TOOL_TOOL_H
#define GPUCTL_TOOL_TOOL_H

struct screen;

/*
 * All of gpuctl. @screen draws on terminals, NULL when another program does. Returns an
 * exit status.
 */
int tool_main(int argc, char **argv, const struct screen *screen);

#endif /* GPUCTL_TOOL_TOOL_H */
