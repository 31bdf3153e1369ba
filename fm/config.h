/* SPDX-License-Identifier: GPL-2.0-only */
/* What fm.conf says; gpufabric-fm(8) describes it. */
#ifndef FM_CONFIG_H
#define FM_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define CONFIG_HOSTS_MAX 256
#define CONFIG_PORTS_MAX 64
#define CONFIG_GPUS_MAX 1024
#define CONFIG_LEASE_MIN_MS 5000
#define CONFIG_LEASE_MAX_MS 3600000

enum config_driver {
	DRIVER_QMP, /* the switch is QEMU */
	DRIVER_SWITCHTEC, /* the switch is a Switchtec PAX */
	DRIVER_SIM, /* simulators in the hosts are the switch */
};

enum config_fence {
	FENCE_NONE, /* an admin says it: gpufabric-fm evict */
	FENCE_QMP_GONE, /* nobody listens on the QMP socket: QEMU is dead */
	FENCE_PROGRAM, /* a program confirms it */
	FENCE_LEASE, /* the lease that its service renews is over */
};

/**
 * struct config_host - [host.NAME]
 * @qmp: socket of its virtual machine; NULL unless the switch is QEMU
 * @agent: socket of the agent of its simulator; NULL unless simulators are the switch
 * @upstream: switch and physical port where it is attached to a PAX; negative otherwise
 * @ports: bus names, numbers of logical ports, or slots of a simulator, @port_count of them
 * @fence: who says that the host is off; @program for FENCE_PROGRAM, @lease_ms for FENCE_LEASE
 */
struct config_host {
	char *name;
	char *qmp;
	char *agent;
	int upstream[2];
	char **ports;
	size_t port_count;
	enum config_fence fence;
	char *program;
	uint64_t lease_ms;
};

/**
 * struct config_gpu - [gpu.NAME]
 * @device: what device_add is told: DRIVER,PROPERTY=VALUE,...; NULL unless the switch is QEMU
 * @card: what a simulator is told to put in; NULL unless simulators are the switch
 * @endpoint: switch and physical port where it is attached to a PAX; negative otherwise
 * @pdfid: or the id of one of its functions there; negative otherwise
 * @pci: vendor, device, and those of the subsystem; negative where not known
 * @class_code: such as 0x030200, negative where not known
 * @serial: may be NULL, as may @model; with a simulator it says which card this is
 */
struct config_gpu {
	char *name;
	char *device;
	char *card;
	int endpoint[2];
	int pdfid;
	int pci[4];
	int class_code;
	char *serial;
	char *model;
};

/**
 * struct config - the whole file
 * @folder: where it is, and certificates, accounts and files of hosts with it
 * @device: of the switch, for drivers that have one
 * @certificate_needed: connections without a client certificate are refused
 * @connections: at a time, in all and by address
 * @unbind_ms: how long a guest may take to let go of a GPU
 * @bind_ms: how long an answer of the switch may take
 * @session_ms: a session that is not used for so long ends
 */
struct config {
	char *folder;
	char *listen;
	char *fabric;
	char *names;
	enum config_driver driver;
	char *device;
	bool certificate_needed;
	unsigned int connections, connections_per_address;
	uint64_t unbind_ms, bind_ms, session_ms, request_ms, task_ms;
	struct config_host *hosts;
	size_t host_count;
	struct config_gpu *gpus;
	size_t gpu_count;
};

/* Reads @len bytes of @text; free in either case. */
int config_parse(const char *file, const char *text, size_t len, struct config *config,
		 struct fault *f);
/* The same from FOLDER/fm.conf. */
int config_read(const char *folder, struct config *config, struct fault *f);
void config_free(struct config *config);

/* "10.0.0.1:8443", "[::]:8443", "host:8443" in two parts; both are newly allocated. */
bool config_address(const char *listen, char **host, char **port);

/* The key that says where a host is. */
const char *config_place_key(const struct config *config);

/* Would this host, or this GPU, be another one in @now? Both have its name. */
bool config_host_moves(const struct config *config, const struct config_host *host,
		       const struct config *now, const struct config_host *as);
bool config_gpu_moves(const struct config_gpu *gpu, const struct config_gpu *as);

/* May something be called so? Lower or upper case letters, digits, and - . _ inside; 64 at most. */
bool config_name_valid(const char *name);

#endif /* FM_CONFIG_H */
