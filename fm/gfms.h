/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The GFMS database of a Switchtec PAX as bytes: which hosts, endpoints and bindings there are.
 * Pure: nothing here reads a clock, a file or a socket, and nothing that a device says is believed
 * before its length was checked.
 */
#ifndef FM_GFMS_H
#define FM_GFMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define GFMS_SWITCHES_MAX 16
/* A bind names the functions of one device, at most 8. */
#define GFMS_FUNCTIONS_MAX 8
#define GFMS_DUMP_MAX (256u << 10)

#define GFMS_BIND_SIZE 36
#define GFMS_UNBIND_SIZE 8
#define GFMS_DUMP_START_SIZE 8
#define GFMS_DUMP_GET_SIZE 12
/* A part of a dump: three words of its own, then data. */
#define GFMS_PART_SIZE 1024
#define GFMS_PART_HEAD 12
#define GFMS_EVENTS_SIZE 1024

enum gfms_dump_step {
	GFMS_DUMP_START = 1,
	GFMS_DUMP_GET = 2,
	GFMS_DUMP_FINISH = 3,
};

/* A physical port of a switch of the fabric. */
struct gfms_port {
	uint8_t sw, phys;
};

/**
 * struct gfms_host - a host's virtual switch
 * @at: where the host is attached
 * @log_count: number of logical ports
 */
struct gfms_host {
	struct gfms_port at;
	unsigned int log_count;
};

/**
 * struct gfms_binding - a function in a logical port
 * @host: whose port
 * @log: which of them
 */
struct gfms_binding {
	struct gfms_port host;
	uint8_t log;
	uint16_t pdfid;
};

/**
 * struct gfms_function - a function of a device
 * @at: where the device is attached, perhaps behind a switch of its own
 * @device: the same number for all functions of one device
 * @physical: no virtual function of another one
 * @pci: vendor, device, and those of the subsystem
 */
struct gfms_function {
	struct gfms_port at;
	unsigned int device;
	uint16_t id, pdfid;
	bool physical;
	uint16_t pci[4];
	uint32_t class_code;
};

/**
 * struct gfms - all switches that were read
 * @bindings: the database says each twice, for the port and for the function, and so does this
 *	list. It has one that is said once, too: what is bound by one account is not free.
 * @devices: number of devices
 */
struct gfms {
	struct gfms_host *hosts;
	size_t host_count;
	struct gfms_binding *bindings;
	size_t binding_count;
	struct gfms_function *functions;
	size_t function_count;
	unsigned int devices;
};

/* Adds what a whole dump of switch @sw has; -EPROTO leaves @gfms with a part of it. */
int gfms_read(struct gfms *gfms, uint8_t sw, const uint8_t *data, size_t len, struct fault *f);
void gfms_free(struct gfms *gfms);

bool gfms_port_is(struct gfms_port a, struct gfms_port b);
const struct gfms_host *gfms_find_host(const struct gfms *gfms, struct gfms_port at);

/*
 * Length of a whole dump in bytes, from the answer to its start; and how many bytes of data the
 * part has that was asked for from byte @offset of @total. 0 with the reason.
 */
size_t gfms_dump_length(const uint8_t answer[8], struct fault *f);
size_t gfms_part_length(const uint8_t part[GFMS_PART_SIZE], size_t offset, size_t total,
			struct fault *f);

/*
 * News in a list of events: 1, or 0 when none of them concerns hosts, endpoints or bindings.
 * @left: events that wait. -EPROTO with the reason.
 */
int gfms_events(const uint8_t answer[GFMS_EVENTS_SIZE], unsigned int *left, struct fault *f);

/* Requests, without the number of the command. */
void gfms_put_bind(uint8_t to[GFMS_BIND_SIZE], struct gfms_port host, uint8_t log,
		   const uint16_t *pdfids, size_t n);
void gfms_put_unbind(uint8_t to[GFMS_UNBIND_SIZE], struct gfms_port host, uint8_t log,
		     uint16_t pdfid);
/* @to: GFMS_DUMP_GET_SIZE bytes; returns how many of them are the request. */
size_t gfms_put_dump(uint8_t *to, enum gfms_dump_step step, size_t offset);
void gfms_put_events(uint8_t to[4]);

#endif /* FM_GFMS_H */
