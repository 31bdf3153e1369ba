/* SPDX-License-Identifier: GPL-2.0-only */
/* A gpuctl of the module's interface, with numbers that were added to that later. */
#define GPUFABRIC_CMD_CLEAR 200
#define GPUFABRIC_A_REASON 200
#define GPUFABRIC_ATTACH_FLAG_HARM (1 << 30)
#undef GPUCTL_VERSION
#define GPUCTL_VERSION "0.9.0"
