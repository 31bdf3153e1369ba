/* SPDX-License-Identifier: GPL-2.0-only */
/* HTTPS: libmicrohttpd with GnuTLS in front of the service. */
#ifndef FM_HTTP_H
#define FM_HTTP_H

#include <stdint.h>

#include "base/fault.h"
#include "fm/service.h"

struct http;

/*
 * Listens and answers in threads of its own. The service may be exchanged between http_hold() and
 * http_release(), when no request is looked at; @address is filled with where it listens.
 */
struct http *http_start(struct service *service, struct fault *f);
/* Where it listens, such as 127.0.0.1:8443. */
const char *http_address(const struct http *http);
void http_hold(struct http *http);
void http_release(struct http *http);
/*
 * Every now and then: tells those who have waited for long of their task, and closes
 * connections that take too long for a request.
 */
void http_tick(struct http *http);
/* Answers those who wait, and ends. The manager is stopping by then. */
void http_stop(struct http *http);

/* For manager_start(): a request's task has ended. */
void http_told(void *waiter);

#endif /* FM_HTTP_H */
