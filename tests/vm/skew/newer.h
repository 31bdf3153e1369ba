/* SPDX-License-Identifier: GPL-2.0-only */
/* A gpuctl of an interface that the module does not have yet. */
#undef GPUFABRIC_FAMILY_VERSION
#define GPUFABRIC_FAMILY_VERSION 2
#undef GPUCTL_VERSION
#define GPUCTL_VERSION "2.0.0"
