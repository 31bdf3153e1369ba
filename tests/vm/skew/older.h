/* SPDX-License-Identifier: GPL-2.0-only */
/* A gpuctl from before the module's interface. */
#undef GPUFABRIC_FAMILY_VERSION
#define GPUFABRIC_FAMILY_VERSION 0
#undef GPUCTL_VERSION
#define GPUCTL_VERSION "0.0.9"
