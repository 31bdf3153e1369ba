/* SPDX-License-Identifier: GPL-2.0-only */
/* Events on their way to a listener: an answer that does not end. */
#ifndef FM_STREAM_H
#define FM_STREAM_H

#include <microhttpd.h>

#include "fm/events.h"
#include "fm/peers.h"

/* For events_init(). */
extern const struct events_link stream_link;

/*
 * The answer to a listener; NULL when there are too many. The listener leaves when the answer
 * is destroyed.
 */
struct MHD_Response *stream_new(struct events *events, struct peers *peers,
				struct MHD_Connection *connection, const struct listener_info *who,
				const char *after);

#endif /* FM_STREAM_H */
