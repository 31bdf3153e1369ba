/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a Switchtec PAX is asked: its database, bind, unbind, news. All of it takes the lock of
 * the device.
 */
#ifndef FM_PAX_H
#define FM_PAX_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "fm/gfms.h"
#include "fm/mrpc.h"

/* Opens the device where that is needed, and has a sign of life from the switch then. */
int pax_connect(struct mrpc *mrpc, uint64_t deadline, struct fault *f);

/*
 * The database of these switches (bit 0 for the one of index 0) and of the device's own, at one
 * time. The caller frees @gfms, also after an error. @patience: see mrpc_ready(). @news: the count
 * of pax_news() that it has.
 */
int pax_read(struct mrpc *mrpc, unsigned int switches, uint64_t patience, uint64_t deadline,
	     struct gfms *gfms, unsigned int *news, struct fault *f);

/* As mrpc_call() has them. */
int pax_bind(struct mrpc *mrpc, struct gfms_port host, uint8_t log, const uint16_t *pdfids,
	     size_t n, uint64_t deadline, struct fault *f);
int pax_unbind(struct mrpc *mrpc, struct gfms_port host, uint8_t log, uint16_t pdfid,
	       uint64_t deadline, struct fault *f);

/*
 * @count grows whenever something has happened to hosts, endpoints or bindings. Asked at
 * most once in @every_ms, for all who share the device.
 */
int pax_news(struct mrpc *mrpc, uint64_t every_ms, uint64_t deadline, unsigned int *count,
	     struct fault *f);

#endif /* FM_PAX_H */
