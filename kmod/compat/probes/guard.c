// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mutex.h>

static DEFINE_MUTEX(lock);

static int __maybe_unused locked(void)
{
	scoped_guard(mutex, &lock)
		return 1;
	guard(mutex)(&lock);
	return 0;
}
