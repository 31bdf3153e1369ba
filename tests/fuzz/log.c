// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/size/log.c
/* Logs of engines: any bytes; what is understood is an amount that a GPU can have. */
#include "fuzz.h"
#include "size/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct size_log log;

	size_log_parse((const char *)data, size, &log);
	must(log.allocated >= 0 && log.allocated <= 1e15);
	must(log.reserved >= 0 && log.reserved <= 1e15);
	must(log.lines || (log.weights <= 0 && log.kv <= 0 && log.work <= 0));
	return 0;
}
