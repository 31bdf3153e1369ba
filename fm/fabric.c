// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the transaction engine
 *
 * A request says what a zone is to have. It becomes a list of unbinds and binds, all of which
 * happen or none. A GPU that is part of a transaction is its host's until the end, also
 * when it was unbound already: it may have to go back.
 *
 * What nobody can know is not guessed. A GPU that was found in no host is free only when every host
 * was asked; one whose bind or unbind was cut off is unknown until its host was asked again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/fabric.h"

void fabric_init(struct fabric *fabric, int hosts, int ports, int gpus)
{
	int i;

	*fabric = (struct fabric){ .host_count = hosts, .port_count = ports, .gpu_count = gpus };
	fabric->hosts = mem_zalloc((size_t)hosts + 1, sizeof(*fabric->hosts));
	fabric->ports = mem_zalloc((size_t)ports + 1, sizeof(*fabric->ports));
	fabric->gpus = mem_zalloc((size_t)gpus + 1, sizeof(*fabric->gpus));
	for (i = 0; i < ports; i++)
		fabric->ports[i].gpu = FABRIC_NONE;
	for (i = 0; i < gpus; i++)
		fabric->gpus[i] = (struct fabric_gpu){
			.state = hosts ? GPU_UNKNOWN : GPU_FREE,
			.owner = FABRIC_NONE,
			.port = FABRIC_NONE,
			.home = FABRIC_NONE,
			.identity = { { -1, -1, -1, -1 }, -1 },
		};
}

void fabric_free(struct fabric *fabric)
{
	free(fabric->hosts);
	free(fabric->ports);
	free(fabric->gpus);
	*fabric = (struct fabric){ 0 };
}

int fabric_find_host(const struct fabric *fabric, const char *name)
{
	int i;

	for (i = 0; i < fabric->host_count; i++)
		if (!strcmp(fabric->hosts[i].name, name))
			return i;
	return FABRIC_NONE;
}

int fabric_find_gpu(const struct fabric *fabric, const char *name)
{
	int i;

	for (i = 0; i < fabric->gpu_count; i++)
		if (!strcmp(fabric->gpus[i].name, name))
			return i;
	return FABRIC_NONE;
}

int fabric_find_port(const struct fabric *fabric, int host, const char *name)
{
	int i;

	for (i = 0; i < fabric->port_count; i++)
		if (fabric->ports[i].host == host && !strcmp(fabric->ports[i].name, name))
			return i;
	return FABRIC_NONE;
}

/* A host that may have a GPU that was not found, or FABRIC_NONE. */
static int host_of_unknown(const struct fabric *fabric, const struct fabric_gpu *gpu)
{
	int i;

	for (i = 0; i < fabric->host_count; i++)
		if (fabric->hosts[i].state == HOST_UNSEEN ||
		    (gpu->fresh && fabric->hosts[i].state == HOST_LOST))
			return i;
	return FABRIC_NONE;
}

static void gpu_place(struct fabric *fabric, int gpu, int port)
{
	int old = fabric->gpus[gpu].port, i;

	if (old != FABRIC_NONE && fabric->ports[old].gpu == gpu)
		fabric->ports[old].gpu = FABRIC_NONE;
	fabric->gpus[gpu].port = port;
	if (port == FABRIC_NONE)
		return;
	fabric->ports[port].gpu = gpu;
	for (i = 0; i < fabric->gpu_count; i++)
		if (fabric->gpus[i].home == port)
			fabric->gpus[i].home = FABRIC_NONE;
	fabric->gpus[gpu].home = port;
}

static void gpu_release(struct fabric *fabric, int gpu)
{
	gpu_place(fabric, gpu, FABRIC_NONE);
	fabric->gpus[gpu].there = false;
	fabric->gpus[gpu].home = FABRIC_NONE;
	fabric->gpus[gpu].owner = FABRIC_NONE;
	fabric->gpus[gpu].state = GPU_FREE;
}

void fabric_settle(struct fabric *fabric)
{
	int i;

	for (i = 0; i < fabric->gpu_count; i++) {
		struct fabric_gpu *gpu = &fabric->gpus[i];
		bool known = host_of_unknown(fabric, gpu) == FABRIC_NONE;

		gpu->fresh &= !known && gpu->owner == FABRIC_NONE;
		if (gpu->owner == FABRIC_NONE &&
		    (gpu->state == GPU_FREE || gpu->state == GPU_UNKNOWN))
			gpu->state = known ? GPU_FREE : GPU_UNKNOWN;
	}
}

static bool is_found(const struct fabric_place *found, size_t n, int gpu)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (found[i].gpu == gpu)
			return true;
	return false;
}

int fabric_found(struct fabric *fabric, int host, const struct fabric_place *found, size_t n)
{
	int i, twice = FABRIC_NONE;
	size_t k;

	fabric->hosts[host].state = HOST_UP;
	for (i = 0; i < fabric->gpu_count; i++) {
		struct fabric_gpu *gpu = &fabric->gpus[i];

		if (gpu->owner != host || is_found(found, n, i))
			continue;
		gpu_place(fabric, i, FABRIC_NONE);
		gpu->there = false;
		if (gpu->state == GPU_UNKNOWN)
			gpu_release(fabric, i);
		else if (gpu->state == GPU_BOUND)
			gpu->state = GPU_GONE;
	}
	for (k = 0; k < n; k++) {
		struct fabric_gpu *gpu = &fabric->gpus[found[k].gpu];

		if (gpu->owner != host && gpu->owner != FABRIC_NONE) {
			gpu->state = GPU_TWICE;
			twice = found[k].gpu;
			continue;
		}
		if (gpu->state == GPU_TWICE)
			continue;
		gpu->owner = host;
		gpu->there = true;
		if (gpu->state != GPU_BINDING && gpu->state != GPU_UNBINDING)
			gpu->state = GPU_BOUND;
		gpu_place(fabric, found[k].gpu, found[k].port);
	}
	fabric_settle(fabric);
	return twice;
}

void fabric_lost(struct fabric *fabric, int host)
{
	if (fabric->hosts[host].state == HOST_UP)
		fabric->hosts[host].state = HOST_LOST;
}

void fabric_off(struct fabric *fabric, int host)
{
	int i;

	fabric->hosts[host].state = HOST_OFF;
	for (i = 0; i < fabric->gpu_count; i++)
		if (fabric->gpus[i].owner == host && fabric->gpus[i].state == GPU_TWICE)
			gpu_place(fabric, i, FABRIC_NONE);
		else if (fabric->gpus[i].owner == host)
			gpu_release(fabric, i);
	fabric_settle(fabric);
}

bool fabric_lapse(struct fabric *fabric, int host)
{
	bool any = false;
	int i;

	for (i = 0; i < fabric->gpu_count && !fabric->hosts[host].busy; i++) {
		if (fabric->gpus[i].owner != host || fabric->gpus[i].state != GPU_GONE)
			continue;
		gpu_release(fabric, i);
		any = true;
	}
	if (any)
		fabric_settle(fabric);
	return any;
}

void fabric_gone(struct fabric *fabric, int host, int gpu)
{
	if (fabric->gpus[gpu].owner != host || fabric->gpus[gpu].state != GPU_BOUND)
		return;
	gpu_place(fabric, gpu, FABRIC_NONE);
	fabric->gpus[gpu].there = false;
	fabric->gpus[gpu].state = GPU_GONE;
}

static bool refuse(struct fabric_answer *answer, enum fabric_refusal why, int gpu, int port,
		   int host)
{
	*answer = (struct fabric_answer){ why, gpu, port, host };
	return false;
}

static bool is_wanted(const int *want, size_t n, int gpu)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (want[i] == gpu)
			return true;
	return false;
}

static int wish_of(const struct fabric_place *wishes, size_t n, int gpu)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (wishes[i].gpu == gpu)
			return wishes[i].port;
	return FABRIC_NONE;
}

static void txn_add(struct fabric_txn *txn, const struct fabric *fabric, bool bind, int gpu,
		    int port)
{
	txn->steps = mem_push(txn->steps, txn->count, sizeof(*txn->steps));
	txn->steps[txn->count++] = (struct fabric_step){
		.bind = bind,
		.gpu = gpu,
		.port = port,
		.before = fabric->gpus[gpu].state,
	};
}

/* It is in the zone of @host, and where it is nobody can say. */
static bool gpu_stays(const struct fabric_gpu *gpu, int host)
{
	return gpu->owner == host && (gpu->state == GPU_TWICE || gpu->state == GPU_UNKNOWN);
}

/* May @host have this GPU, or has it already? */
static bool gpu_may_come(const struct fabric *fabric, int host, int i, struct fabric_answer *answer)
{
	const struct fabric_gpu *gpu = &fabric->gpus[i];

	if (gpu->owner != FABRIC_NONE && gpu->owner != host)
		return refuse(answer, REFUSED_IN_USE, i, FABRIC_NONE, gpu->owner);
	/* One that has a fault of its own keeps no other from coming and going. */
	if (gpu_stays(gpu, host))
		return true;
	switch (gpu->state) {
	case GPU_FREE:
	case GPU_GONE:
	case GPU_BOUND:
		return true;
	case GPU_TWICE:
		return refuse(answer, REFUSED_TWICE, i, FABRIC_NONE, FABRIC_NONE);
	case GPU_UNKNOWN:
		return refuse(answer, REFUSED_UNKNOWN, i, FABRIC_NONE,
			      host_of_unknown(fabric, gpu));
	default:
		return refuse(answer, REFUSED_BUSY, i, FABRIC_NONE, host);
	}
}

/* What leaves the zone. */
static bool plan_unbinds(const struct fabric *fabric, const int *want, size_t n,
			 struct fabric_txn *txn, struct fabric_answer *answer)
{
	int i, host = txn->host;

	for (i = 0; i < fabric->gpu_count; i++) {
		const struct fabric_gpu *gpu = &fabric->gpus[i];

		if (gpu->owner != host || is_wanted(want, n, i))
			continue;
		if (gpu->state == GPU_TWICE)
			return refuse(answer, REFUSED_TWICE, i, FABRIC_NONE, FABRIC_NONE);
		if (gpu->state == GPU_UNKNOWN)
			return refuse(answer, REFUSED_UNKNOWN, i, FABRIC_NONE, host);
		if (gpu->state == GPU_BOUND && fabric->hosts[host].state != HOST_UP)
			return refuse(answer, REFUSED_AWAY, i, FABRIC_NONE, host);
		txn_add(txn, fabric, false, i, gpu->port);
	}
	return true;
}

/* Is the port free once the unbinds are done, and not given to a bind? */
static bool port_is_free(const struct fabric *fabric, const struct fabric_txn *txn, int port,
			 bool now)
{
	int gpu = fabric->ports[port].gpu;
	bool leaves = false;
	size_t i;

	if (fabric->ports[port].taken)
		return false;
	for (i = 0; i < txn->count; i++) {
		if (txn->steps[i].bind && txn->steps[i].port == port)
			return false;
		if (!txn->steps[i].bind && txn->steps[i].gpu == gpu)
			leaves = true;
	}
	return gpu == FABRIC_NONE || (leaves && !now);
}

/* A port that is free now is better than one that has yet to be freed. */
static int port_choose(const struct fabric *fabric, const struct fabric_txn *txn)
{
	int i, pass;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < fabric->port_count; i++)
			if (fabric->ports[i].host == txn->host &&
			    port_is_free(fabric, txn, i, pass == 0))
				return i;
	return FABRIC_NONE;
}

static bool wish_is_good(const struct fabric *fabric, const struct fabric_txn *txn, int gpu,
			 int port, struct fabric_answer *answer)
{
	if (fabric->ports[port].host != txn->host)
		return refuse(answer, REFUSED_PORT_FOREIGN, gpu, port, txn->host);
	if (fabric->gpus[gpu].owner == txn->host && fabric->gpus[gpu].state == GPU_BOUND) {
		if (fabric->gpus[gpu].port == port)
			return true;
		return refuse(answer, REFUSED_ELSEWHERE, gpu, fabric->gpus[gpu].port, txn->host);
	}
	if (!port_is_free(fabric, txn, port, false))
		return refuse(answer, REFUSED_PORT_TAKEN, gpu, port, txn->host);
	return true;
}

/* What comes into the zone: those with a wish first, as the others take what is left. */
static bool plan_binds(const struct fabric *fabric, const int *want, size_t n,
		       const struct fabric_place *wishes, size_t wish_count, struct fabric_txn *txn,
		       struct fabric_answer *answer)
{
	size_t i;
	int pass;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < n; i++) {
			int port = wish_of(wishes, wish_count, want[i]);
			const struct fabric_gpu *gpu = &fabric->gpus[want[i]];
			bool wished = port != FABRIC_NONE;

			if (wished == !!pass || is_wanted(want, i, want[i]))
				continue;
			if (!gpu_may_come(fabric, txn->host, want[i], answer) ||
			    (!pass && !wish_is_good(fabric, txn, want[i], port, answer)))
				return false;
			/* A slot that the host powered off stays so until it asks for the port. */
			if (gpu_stays(gpu, txn->host))
				continue;
			if (gpu->owner == txn->host &&
			    (gpu->state == GPU_BOUND || (gpu->state == GPU_GONE && pass)))
				continue;
			if (fabric->hosts[txn->host].state != HOST_UP)
				return refuse(answer, REFUSED_AWAY, want[i], FABRIC_NONE,
					      txn->host);
			if (pass)
				port = port_choose(fabric, txn);
			if (port == FABRIC_NONE)
				return refuse(answer, REFUSED_NO_PORT, want[i], FABRIC_NONE,
					      txn->host);
			txn_add(txn, fabric, true, want[i], port);
		}
	return true;
}

bool fabric_begin(struct fabric *fabric, int host, const int *want, size_t n,
		  const struct fabric_place *wishes, size_t wish_count, struct fabric_txn *txn,
		  struct fabric_answer *answer)
{
	size_t i;

	*txn = (struct fabric_txn){ .host = host };
	*answer = (struct fabric_answer){ REFUSED_NOT, FABRIC_NONE, FABRIC_NONE, FABRIC_NONE };
	if (fabric->hosts[host].busy)
		return refuse(answer, REFUSED_BUSY, FABRIC_NONE, FABRIC_NONE, host);
	if (!plan_unbinds(fabric, want, n, txn, answer) ||
	    !plan_binds(fabric, want, n, wishes, wish_count, txn, answer)) {
		fabric_txn_free(txn);
		return false;
	}
	fabric->hosts[host].busy = true;
	for (i = 0; i < txn->count; i++) {
		struct fabric_gpu *gpu = &fabric->gpus[txn->steps[i].gpu];

		gpu->state = txn->steps[i].bind ? GPU_BINDING : GPU_UNBINDING;
		gpu->owner = host;
	}
	return true;
}

void fabric_step(struct fabric *fabric, struct fabric_txn *txn, size_t step,
		 enum fabric_step_state state)
{
	struct fabric_step *s = &txn->steps[step];

	s->state = state;
	if (state == STEP_DONE) {
		gpu_place(fabric, s->gpu, s->bind ? s->port : FABRIC_NONE);
		fabric->gpus[s->gpu].there = s->bind;
	} else if (state == STEP_UNDONE) {
		gpu_place(fabric, s->gpu, s->bind ? FABRIC_NONE : s->port);
		fabric->gpus[s->gpu].there = !s->bind && s->port != FABRIC_NONE;
	}
}

static bool txn_failed(const struct fabric_txn *txn)
{
	size_t i;

	for (i = 0; i < txn->count; i++)
		if (txn->steps[i].state != STEP_DONE)
			return true;
	return false;
}

void fabric_finish(struct fabric *fabric, const struct fabric_txn *txn)
{
	bool failed = txn_failed(txn);
	size_t i;

	fabric->hosts[txn->host].busy = false;
	for (i = 0; i < txn->count; i++) {
		const struct fabric_step *step = &txn->steps[i];
		struct fabric_gpu *gpu = &fabric->gpus[step->gpu];

		if (gpu->state == GPU_TWICE)
			continue;
		if (step->state == STEP_UNSURE)
			gpu->state = GPU_UNKNOWN;
		else if (gpu->there)
			gpu->state = GPU_BOUND;
		else if (!failed || (step->bind && step->before == GPU_FREE))
			gpu_release(fabric, step->gpu);
		else
			gpu->state = GPU_GONE;
	}
	fabric_settle(fabric);
}

void fabric_txn_free(struct fabric_txn *txn)
{
	free(txn->steps);
	txn->steps = NULL;
	txn->count = 0;
}

void fabric_explain(const struct fabric *fabric, const struct fabric_answer *answer,
		    struct fault *why)
{
	const char *gpu = answer->gpu < 0 ? "" : fabric->gpus[answer->gpu].name;
	const char *host = answer->host < 0 ? "" : fabric->hosts[answer->host].name;
	const char *port = answer->port < 0 ? "" : fabric->ports[answer->port].name;

	switch (answer->refusal) {
	case REFUSED_IN_USE:
		fault_set(why, EBUSY, "%s is in the zone of %s", gpu, host);
		break;
	case REFUSED_UNKNOWN:
		fault_set(why, EBUSY,
			  "%s may be in %s, which does not answer: if that host is off, run gpufabric-fm evict %s",
			  gpu, host, host);
		break;
	case REFUSED_TWICE:
		fault_set(why, EIO,
			  "%s was seen in two hosts: take it out of one of them and restart the manager",
			  gpu);
		break;
	case REFUSED_BUSY:
		fault_set(why, EBUSY, "another request for the zone of %s is under way", host);
		break;
	case REFUSED_AWAY:
		fault_set(why, EHOSTDOWN,
			  "%s does not answer, so %s can be neither bound nor unbound", host, gpu);
		break;
	case REFUSED_NO_PORT:
		fault_set(why, ENOSPC, "%s has no free port for %s", host, gpu);
		break;
	case REFUSED_PORT_TAKEN:
		fault_set(why, EBUSY, "port %s of %s is not free", port, host);
		break;
	case REFUSED_PORT_FOREIGN:
		fault_set(why, EINVAL, "port %s is not one of %s", port, host);
		break;
	case REFUSED_ELSEWHERE:
		fault_set(why, EBUSY, "%s is in port %s of %s: remove it from the zone first", gpu,
			  port, host);
		break;
	default:
		fault_set(why, 0, "nothing is wrong");
	}
}
