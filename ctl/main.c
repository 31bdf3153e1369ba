// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl without a screen: the program screen has one. */
#include <stddef.h>

#include "tool/tool.h"

int main(int argc, char **argv)
{
	return tool_main(argc, argv, NULL);
}
