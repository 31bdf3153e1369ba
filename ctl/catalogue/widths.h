/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * P95 over P50 of trainings with engines that nobody has fitted: train, lora and
 * qlora, with a policy of their own and with the generic one. Written by
 * "make fit" with TERMS; do not edit.
 */
#ifndef GPUCTL_CATALOGUE_WIDTHS_H
#define GPUCTL_CATALOGUE_WIDTHS_H

#define UNFITTED_P95(of) of(1.576), of(1.683), of(1.361)

#define UNKNOWN_P95(of) of(1.576), of(2.187), of(1.361)

#endif
