/* SPDX-License-Identifier: GPL-2.0-only */
/* An event as a line for people; gpuctl watch and gpuctl top show them alike. */
#ifndef GPUCTL_EVENT_TEXT_H
#define GPUCTL_EVENT_TEXT_H

#include "module/model.h"
#include "session/identity.h"

#define EVENT_CLOCK 16

/* "18:43:07.120", local time; the buffer is returned. */
const char *event_clock(char buf[EVENT_CLOCK], uint64_t ms);

/*
 * What happened, without the time: "slot         3-2        off -> attaching ...".
 * @fabric is as it was before the event. Newly allocated.
 */
char *event_text(const struct gf_message *event, const struct gf_fabric *fabric,
		 const struct knowledge *knowledge);

#endif /* GPUCTL_EVENT_TEXT_H */
