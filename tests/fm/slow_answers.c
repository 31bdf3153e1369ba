// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a manager that is late to answer
 *
 * Loaded before libmicrohttpd: whoever ends the manager does so while its threads still have
 * answers to send, as they do on a busy machine.
 */
#include <dlfcn.h>
#include <microhttpd.h>
#include <unistd.h>

#define LATE_US 200000

enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned int status,
				   struct MHD_Response *response)
{
	enum MHD_Result (*queue)(struct MHD_Connection *, unsigned int, struct MHD_Response *) =
		dlsym(RTLD_NEXT, "MHD_queue_response");

	usleep(LATE_US);
	return queue(connection, status, response);
}
