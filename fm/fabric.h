/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fabric as the manager knows it, and what a request makes of it. Pure: nothing here
 * reads a clock, a file or a socket. Hosts, ports and GPUs are numbered as the configuration
 * has them; the numbers never change. The caller holds the manager's lock.
 */
#ifndef FM_FABRIC_H
#define FM_FABRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

#define FABRIC_NAME_MAX 64
#define FABRIC_NONE (-1)

enum fabric_host_state {
	HOST_UNSEEN, /* not reached since the manager started: may have any GPU */
	HOST_UP,
	HOST_LOST, /* was reached, no longer answers: has what it had */
	HOST_OFF, /* confirmed to be off: has nothing */
};

enum fabric_gpu_state {
	GPU_FREE,
	GPU_BOUND, /* in its owner */
	GPU_GONE, /* its owner's, but no longer in it: the host has powered the slot off */
	GPU_BINDING,
	GPU_UNBINDING,
	GPU_UNKNOWN, /* somebody who does not answer may have it */
	GPU_TWICE, /* was seen in two hosts: nobody gets it before the manager is restarted */
};

/**
 * struct fabric_host - a host
 * @name: of the account and of the zone, too
 * @state: whether it can be asked
 * @busy: a transaction is under way; there is one at a time
 * @asked: it is being asked what it has, or has told: nobody can say that it is off
 */
struct fabric_host {
	char name[FABRIC_NAME_MAX + 1];
	enum fabric_host_state state;
	bool busy;
	bool asked;
};

/**
 * struct fabric_port - a downstream port, which belongs to one host for ever
 * @gpu: what is in it, or FABRIC_NONE
 * @taken: something that is none of the manager's is in it
 */
struct fabric_port {
	char name[FABRIC_NAME_MAX + 1];
	int host;
	int gpu;
	bool taken;
};

/* Vendor, device, and those of the subsystem, and the class; negative where not known. */
struct fabric_identity {
	int pci[4];
	int class_code;
};

/**
 * struct fabric_gpu - a GPU of the pool
 * @owner: the host whose zone lists it, or FABRIC_NONE
 * @port: where it is, or FABRIC_NONE
 * @there: its owner has it, also where that is in none of the fabric's ports; stays so until a
 *	look, an event or an answer says otherwise
 * @home: the port where it is or was last, as long as its owner has it and nothing else came
 *	to that port, or FABRIC_NONE: its owner finds it by this one
 * @identity: what clients are told of it
 * @fresh: it came into the configuration while hosts were there: any that has not answered since
 *	may have it
 */
struct fabric_gpu {
	char name[FABRIC_NAME_MAX + 1];
	enum fabric_gpu_state state;
	int owner;
	int port;
	bool there;
	int home;
	struct fabric_identity identity;
	bool fresh;
};

struct fabric {
	struct fabric_host *hosts;
	struct fabric_port *ports;
	struct fabric_gpu *gpus;
	int host_count, port_count, gpu_count;
};

/* A GPU and the port where it is or is wanted. */
struct fabric_place {
	int gpu;
	int port;
};

enum fabric_refusal {
	REFUSED_NOT,
	REFUSED_IN_USE, /* @gpu is in the zone of @host */
	REFUSED_UNKNOWN, /* @gpu may be in @host, which does not answer */
	REFUSED_TWICE, /* @gpu was seen in two hosts */
	REFUSED_BUSY, /* @host has a transaction, or @gpu is part of one */
	REFUSED_AWAY, /* @host does not answer */
	REFUSED_NO_PORT, /* no free port is left for @gpu */
	REFUSED_PORT_TAKEN, /* @port is not free */
	REFUSED_PORT_FOREIGN, /* @port is not one of @host's */
	REFUSED_ELSEWHERE, /* @gpu is in @port already, and wanted in another one */
};

/* Why a request is refused: numbers where the reason has them, else FABRIC_NONE. */
struct fabric_answer {
	enum fabric_refusal refusal;
	int gpu, port, host;
};

enum fabric_step_state {
	STEP_OPEN,
	STEP_DONE,
	STEP_FAILED, /* as it was before */
	STEP_UNSURE, /* nobody knows: the host went away meanwhile, also while it was undone */
	STEP_UNDONE,
	STEP_STUCK, /* was done, and its undoing was refused: is as it was done */
};

/**
 * struct fabric_step - one bind or unbind
 * @bind: which of the two
 * @gpu: which GPU
 * @port: where to, where from; FABRIC_NONE for a GPU that is in no port
 * @before: state of the GPU before the transaction
 */
struct fabric_step {
	bool bind;
	int gpu;
	int port;
	enum fabric_gpu_state before;
	enum fabric_step_state state;
};

/**
 * struct fabric_txn - a request that was accepted
 * @steps: unbinds first, as binds may want their ports, and as they are undone more easily;
 *	owned, see fabric_txn_free()
 */
struct fabric_txn {
	int host;
	struct fabric_step *steps;
	size_t count;
};

void fabric_init(struct fabric *fabric, int hosts, int ports, int gpus);
void fabric_free(struct fabric *fabric);
int fabric_find_host(const struct fabric *fabric, const char *name);
int fabric_find_gpu(const struct fabric *fabric, const char *name);
/* @host's port of this name. */
int fabric_find_port(const struct fabric *fabric, int host, const char *name);

/*
 * What was found in @host, all of it. Returns the number of a GPU that is now known to be
 * in two hosts, or FABRIC_NONE.
 */
int fabric_found(struct fabric *fabric, int host, const struct fabric_place *found, size_t n);
/*
 * GPUs that nobody has are free as soon as every host was asked. Called by all that changes a
 * host's state; whoever sets one by hand calls it afterwards.
 */
void fabric_settle(struct fabric *fabric);
/* The host no longer answers. */
void fabric_lost(struct fabric *fabric, int host);
/*
 * The host is off, by somebody who knows: its GPUs are free, except for one that was seen in
 * another host, too. Not while it is busy.
 */
void fabric_off(struct fabric *fabric, int host);
/*
 * The host has promised to use nothing of the fabric by now: GPUs of its zone that are not in it are
 * free. Returns whether there were any. Nothing while it is busy.
 */
bool fabric_lapse(struct fabric *fabric, int host);
/* The GPU has left its port without being asked. */
void fabric_gone(struct fabric *fabric, int host, int gpu);

/*
 * @host's zone is to have these @n GPUs, each in the port of its wish or in any. True: @txn has
 * the steps (perhaps none), and GPUs and host are marked until fabric_finish().
 * False: nothing was changed, @answer says why.
 */
bool fabric_begin(struct fabric *fabric, int host, const int *want, size_t n,
		  const struct fabric_place *wishes, size_t wish_count, struct fabric_txn *txn,
		  struct fabric_answer *answer);
/* How a step, or its undoing, ended. */
void fabric_step(struct fabric *fabric, struct fabric_txn *txn, size_t step,
		 enum fabric_step_state state);
/* The end, also after steps were undone; what became of each decides. */
void fabric_finish(struct fabric *fabric, const struct fabric_txn *txn);
void fabric_txn_free(struct fabric_txn *txn);

/* Words for a refusal. */
void fabric_explain(const struct fabric *fabric, const struct fabric_answer *answer,
		    struct fault *why);

#endif /* FM_FABRIC_H */
