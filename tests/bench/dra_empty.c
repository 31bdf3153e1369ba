// SPDX-License-Identifier: GPL-2.0-or-later
/* A gRPC server on a socket that serves nothing, as the driver for Kubernetes makes one. */
#include <signal.h>
#include <stdio.h>

#include "dra/rpc.h"

int main(int argc, char **argv)
{
	static const struct rpc_method none[] = { { .path = NULL } };
	struct rpc *rpc = rpc_open(none, NULL);
	struct reason reason = { "" };
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	if (argc != 2 || !rpc_listen(rpc, argv[1], &reason)) {
		fprintf(stderr, "%s\n", reason.text);
		return 1;
	}
	rpc_start(rpc);
	puts("ready");
	fflush(stdout);
	sigwait(&signals, &signal);
	rpc_close(rpc);
	return 0;
}
