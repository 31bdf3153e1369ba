/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines for whoever reads the driver's log. */
#ifndef DRA_LOG_H
#define DRA_LOG_H

/* One line on standard error, tamed; from any thread. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* DRA_LOG_H */
