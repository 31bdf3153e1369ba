/* SPDX-License-Identifier: GPL-2.0-only */
/* The service document that says which schemas are used. */
#ifndef FM_METADATA_H
#define FM_METADATA_H

/* XML; newly allocated. */
char *metadata_make(void);

#endif /* FM_METADATA_H */
