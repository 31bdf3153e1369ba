/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * P95 over P50 of trainings with engines that nobody has fitted: with a policy of
 * their own, and with the generic one. Written by "make fit" with TERMS; do not edit.
 */
#ifndef GPUCTL_CATALOGUE_WIDTHS_H
#define GPUCTL_CATALOGUE_WIDTHS_H

#define UNFITTED_TRAIN_P95 1.576
#define UNFITTED_LORA_P95 1.683
#define UNFITTED_QLORA_P95 1.361

#define UNKNOWN_TRAIN_P95 1.576
#define UNKNOWN_LORA_P95 1.683
#define UNKNOWN_QLORA_P95 1.361

#endif
