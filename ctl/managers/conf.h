/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of fabric.d: a fabric manager, and what it calls this host and its ports. */
#ifndef GPUCTL_MANAGERS_CONF_H
#define GPUCTL_MANAGERS_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define MANAGER_DIR "fabric.d"
/* A Redfish Id, as it stands in a path. */
#define MANAGER_ID_MAX 64
#define MANAGER_PORTS_MAX 4096
#define MANAGER_TIMEOUT_MAX_MS 600000
#define MANAGER_RETURN_NEVER UINT64_MAX

/* How the manager is spoken to. */
enum manager_driver {
	MANAGER_REDFISH,
	MANAGER_LIQID,
};

/* How a change is asked for. */
enum manager_way {
	MANAGER_ZONE, /* PATCH of a zone's endpoints, all at once */
	MANAGER_ACTIONS, /* Zone.AddEndpoint and Zone.RemoveEndpoint, one by one */
	MANAGER_BLOCKS, /* PATCH of a system's resource blocks, all at once */
	MANAGER_COMPOSE, /* CompositionService.Compose with a manifest */
};

/**
 * struct manager_port - a port of this host
 * @slot: name of the slot that the kernel has there
 * @port: SWITCH/PORT, or the port's whole path at the manager; the slot's name where the manager
 *	does not know ports
 */
struct manager_port {
	char *slot;
	char *port;
};

/**
 * struct manager_kind - what GPUs with these PCI ids are in the catalogue
 */
struct manager_kind {
	uint32_t vendor;
	uint32_t device;
	char *kind;
};

/**
 * struct manager_secret - something in PEM: a file, or the blocks themselves
 * @file: path, NULL where it stands in the configuration or is not given
 * @pem: the blocks, NULL where there is a file or nothing
 */
struct manager_secret {
	char *file;
	char *pem;
};

/**
 * struct manager_conf - a file NAME.conf
 * @name: of the manager: that of the file without its suffix
 * @file: path
 * @url: https://HOST[:PORT]
 * @driver: who speaks to it
 * @host: what the manager calls this host
 * @p2p: "on" or "off" for what GPUs of this host say to each other; NULL: as it is
 * @fabric: Id of the fabric there, NULL for the only one
 * @way: how a change is asked for
 * @basic: user and password go with each request, instead of a session
 * @authorities: who may vouch for the server; nothing: those of the system
 * @certificate: ours, and @key: its key
 * @credentials: file with user and password, NULL for none
 * @timeout_ms: for what is asked of the manager for one request
 * @return_ms: a GPU that no composition has and nobody holds goes back after this time, or
 *	MANAGER_RETURN_NEVER
 * @ports: of this host, @n_ports of them, in the order of the file
 * @kinds: @n_kinds of them
 */
struct manager_conf {
	char *name;
	char *file;
	char *url;
	enum manager_driver driver;
	char *host;
	const char *p2p;
	char *fabric;
	enum manager_way way;
	bool basic;
	struct manager_secret authorities;
	struct manager_secret certificate;
	struct manager_secret key;
	char *credentials;
	uint64_t timeout_ms;
	uint64_t return_ms;
	struct manager_port *ports;
	size_t n_ports;
	struct manager_kind *kinds;
	size_t n_kinds;
};

/**
 * struct manager_login - a file of credentials
 */
struct manager_login {
	char *user;
	char *password;
};

/*
 * All of these: 0, or a negative errno with file, line and reason; to be freed in either case.
 * Parsing is pure; reading also judges who else can read and write the file, -EPERM then.
 */
int manager_conf_parse(const char *file, const char *text, size_t len, struct manager_conf *conf,
		       struct fault *f);
int manager_conf_read(const char *file, struct manager_conf *conf, struct fault *f);
void manager_conf_free(struct manager_conf *conf);

int manager_login_parse(const char *file, const char *text, size_t len, struct manager_login *login,
			struct fault *f);
int manager_login_read(const char *file, struct manager_login *login, struct fault *f);
void manager_login_free(struct manager_login *login);

/* "redfish", "liqid". */
const char *manager_driver_text(enum manager_driver driver);

/* A word that is an Id of Redfish, and a path below /redfish/v1 that leads nowhere else. */
bool manager_is_id(const char *text);
bool manager_is_path(const char *text);

/* "rack1" of ".../rack1.conf"; NULL where that is no name. The caller frees. */
char *manager_name_of(const char *file);

#endif /* GPUCTL_MANAGERS_CONF_H */
