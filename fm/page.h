/* SPDX-License-Identifier: GPL-2.0-only */
/* The page for people, at "/". */
#ifndef FM_PAGE_H
#define FM_PAGE_H

/* The file fm/page.html. */
extern const char page_html[];

/* What a browser may do with it, for Content-Security-Policy; the caller frees. */
char *page_policy(void);

#endif /* FM_PAGE_H */
