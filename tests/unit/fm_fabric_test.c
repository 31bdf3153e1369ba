// SPDX-License-Identifier: GPL-2.0-only
// sources: fm/fabric.c ctl/base/text.c ctl/base/fault.c
/* The transaction engine of the fabric manager: who gets what, all or none, and nothing twice. */
#include <stdlib.h>
#include <string.h>

#include "fm/fabric.h"
#include "tap.h"

enum { A, B };
enum { G0, G1, G2 };
enum { A0, A1, B0, B1 };

static struct fabric fabric;
static struct fabric_txn txn;
static struct fabric_answer answer;

static void setup(void)
{
	static const char *const gpus[] = { "gpu0", "gpu1", "gpu2" }, *const ports[] = { "p0", "p1", "p0", "p1" };
	int i;

	fabric_init(&fabric, 2, 4, 3);
	strcpy(fabric.hosts[A].name, "a");
	strcpy(fabric.hosts[B].name, "b");
	for (i = 0; i < 3; i++)
		strcpy(fabric.gpus[i].name, gpus[i]);
	for (i = 0; i < 4; i++) {
		strcpy(fabric.ports[i].name, ports[i]);
		fabric.ports[i].host = i / 2;
	}
}

static void setup_seen(void)
{
	setup();
	fabric_found(&fabric, A, NULL, 0);
	fabric_found(&fabric, B, NULL, 0);
}

static bool begin(int host, const int *want, size_t n)
{
	return fabric_begin(&fabric, host, want, n, NULL, 0, &txn, &answer);
}

static void carry_out(void)
{
	size_t i;

	for (i = 0; i < txn.count; i++)
		fabric_step(&fabric, &txn, i, STEP_DONE);
	fabric_finish(&fabric, &txn);
	fabric_txn_free(&txn);
}

static bool get(int host, const int *want, size_t n)
{
	bool good = begin(host, want, n);

	if (good)
		carry_out();
	return good;
}

static const char *explain(void)
{
	static struct fault f;

	fabric_explain(&fabric, &answer, &f);
	return f.text;
}

/* A GPU that comes into the configuration while hosts are there. */
static void comes_later(void)
{
	const struct fabric_place found[] = { { G2, A1 } };

	setup_seen();
	fabric.gpus[G2].fresh = true;
	fabric.gpus[G2].state = GPU_UNKNOWN;
	fabric_lost(&fabric, A);
	fabric_lost(&fabric, B);
	fabric_settle(&fabric);
	ok(fabric.gpus[G1].state == GPU_FREE, "what was free stays free, although nobody answers");
	fabric_found(&fabric, B, NULL, 0);
	ok(!begin(B, (int[]){ G2 }, 1) && answer.refusal == REFUSED_UNKNOWN && answer.host == A,
	   "a new one may be in a host that has not answered since");
	ok(get(B, (int[]){ G1 }, 1), "which concerns no other");
	fabric_found(&fabric, A, found, 1);
	ok(!begin(B, (int[]){ G1, G2 }, 2) && answer.refusal == REFUSED_IN_USE && answer.host == A,
	   "and there it is");
	fabric_free(&fabric);
	setup_seen();
	fabric.gpus[G2].fresh = true;
	fabric_lost(&fabric, A);
	fabric_settle(&fabric);
	fabric_off(&fabric, A);
	ok(get(B, (int[]){ G2 }, 1), "a host that is off does not have it");
	fabric_free(&fabric);
}

/* One GPU that nobody can say anything of does not hold up the others of its zone. */
static void fault_of_one(void)
{
	const struct fabric_place in_a[] = { { G0, A0 } }, in_b[] = { { G0, B0 } };

	setup();
	fabric_found(&fabric, A, in_a, 1);
	ok(fabric_found(&fabric, B, in_b, 1) == G0, "a GPU is in two hosts");
	ok(get(A, (int[]){ G0, G1 }, 2), "another one comes to its zone");
	ok(get(A, (int[]){ G0 }, 1), "and leaves it");
	ok(!begin(A, (int[]){ G1 }, 1) && answer.refusal == REFUSED_TWICE, "it does not leave itself");
	ok(!begin(B, (int[]){ G0 }, 1) && answer.refusal == REFUSED_IN_USE, "nor come to the other zone");
	fabric_free(&fabric);
}

static void starts(void)
{
	const struct fabric_place found[] = { { G1, B1 } };

	setup();
	ok(!begin(A, (int[]){ G0 }, 1) && answer.refusal == REFUSED_UNKNOWN, "before hosts were asked nothing is free");
	fabric_found(&fabric, A, NULL, 0);
	ok(!begin(A, (int[]){ G0 }, 1) && answer.refusal == REFUSED_UNKNOWN && answer.host == B,
	   "one was not asked: it may have it");
	is_str(explain(), "gpu0 may be in b, which does not answer: if that host is off, run gpufabric-fm evict b", "which is said");
	is_int(fabric_found(&fabric, B, found, 1), FABRIC_NONE, "the other one has a GPU");
	ok(fabric.gpus[G1].owner == B && fabric.gpus[G1].state == GPU_BOUND && fabric.ports[B1].gpu == G1, "it is known where");
	ok(fabric.gpus[G0].state == GPU_FREE, "the rest is free");
	fabric_free(&fabric);
	setup();
	fabric_found(&fabric, A, NULL, 0);
	fabric_off(&fabric, B);
	ok(fabric.gpus[G0].state == GPU_FREE, "one that is off need not be asked");
	fabric_free(&fabric);
}

static void requests(void)
{
	const struct fabric_place wish = { G1, A0 }, foreign = { G0, B0 };
	struct fabric_txn other;

	setup_seen();
	ok(get(A, (int[]){ G0, G1 }, 2), "two at once");
	ok(fabric.gpus[G0].port == A0 && fabric.gpus[G1].port == A1, "each in a port of its own");
	ok(!begin(A, (int[]){ G0, G1, G2 }, 3) && answer.refusal == REFUSED_NO_PORT, "no port for a third");
	ok(fabric.gpus[G2].state == GPU_FREE && !fabric.hosts[A].busy, "nothing was changed");
	ok(!begin(B, (int[]){ G0 }, 1) && answer.refusal == REFUSED_IN_USE && answer.host == A, "in use");
	is_str(explain(), "gpu0 is in the zone of a", "by whom is said");
	ok(begin(A, (int[]){ G1, G2 }, 2) && txn.count == 2 && !txn.steps[0].bind && txn.steps[1].bind && txn.steps[1].port == A0,
	   "unbinds come first, and make room");
	ok(!fabric_begin(&fabric, A, NULL, 0, NULL, 0, &other, &answer) && answer.refusal == REFUSED_BUSY, "one at a time");
	ok(fabric.gpus[G0].owner == A, "what leaves is the host's until the end");
	ok(!fabric_begin(&fabric, B, (int[]){ G0 }, 1, NULL, 0, &other, &answer), "nobody else gets it");
	carry_out();
	ok(fabric.gpus[G0].state == GPU_FREE && fabric.gpus[G2].port == A0, "then it is free");
	ok(begin(A, (int[]){ G1, G2 }, 2) && !txn.count, "what is so already is no work");
	carry_out();
	ok(get(A, NULL, 0), "all leave");
	ok(fabric_begin(&fabric, A, (int[]){ G0, G1 }, 2, &wish, 1, &txn, &answer), "with a wish");
	carry_out();
	ok(fabric.gpus[G1].port == A0 && fabric.gpus[G0].port == A1, "which is served first");
	ok(!fabric_begin(&fabric, A, (int[]){ G0, G1 }, 2, &foreign, 1, &txn, &answer) &&
	   answer.refusal == REFUSED_PORT_FOREIGN, "a port of another host");
	ok(!fabric_begin(&fabric, A, (int[]){ G0, G1 }, 2, &(struct fabric_place){ G0, A0 }, 1, &txn, &answer) &&
	   answer.refusal == REFUSED_ELSEWHERE, "what is there does not move");
	ok(fabric_begin(&fabric, B, (int[]){ G2 }, 1, &(struct fabric_place){ G2, B0 }, 1, &txn, &answer), "a free port");
	carry_out();
	fabric.ports[B1].taken = true;
	get(A, (int[]){ G1 }, 1);
	ok(!fabric_begin(&fabric, B, (int[]){ G2, G0 }, 2, &(struct fabric_place){ G0, B1 }, 1, &txn, &answer) &&
	   answer.refusal == REFUSED_PORT_TAKEN, "a port with something else in it");
	ok(!begin(B, (int[]){ G2, G0 }, 2) && answer.refusal == REFUSED_NO_PORT, "is not chosen either");
	fabric_free(&fabric);
}

static void failures(void)
{
	setup_seen();
	ok(begin(A, (int[]){ G0, G1 }, 2), "two are asked for");
	fabric_step(&fabric, &txn, 0, STEP_DONE);
	fabric_step(&fabric, &txn, 1, STEP_FAILED);
	fabric_step(&fabric, &txn, 0, STEP_UNDONE);
	fabric_finish(&fabric, &txn);
	fabric_txn_free(&txn);
	ok(fabric.gpus[G0].state == GPU_FREE && fabric.gpus[G1].state == GPU_FREE && fabric.ports[A0].gpu == FABRIC_NONE,
	   "the second does not come: the first is put back");
	ok(begin(A, (int[]){ G0, G1 }, 2), "again");
	fabric_step(&fabric, &txn, 0, STEP_DONE);
	fabric_step(&fabric, &txn, 1, STEP_FAILED);
	fabric_step(&fabric, &txn, 0, STEP_STUCK);
	fabric_finish(&fabric, &txn);
	fabric_txn_free(&txn);
	ok(fabric.gpus[G0].state == GPU_BOUND && fabric.gpus[G0].owner == A && fabric.gpus[G1].state == GPU_FREE,
	   "the first cannot be put back: it is the host's");
	ok(begin(A, (int[]){ G1 }, 1), "one for another");
	fabric_step(&fabric, &txn, 0, STEP_DONE);
	fabric_step(&fabric, &txn, 1, STEP_FAILED);
	fabric_step(&fabric, &txn, 0, STEP_UNDONE);
	fabric_finish(&fabric, &txn);
	fabric_txn_free(&txn);
	ok(fabric.gpus[G0].state == GPU_BOUND && fabric.gpus[G0].port == A0, "the old one is back in its port");
	ok(begin(A, NULL, 0), "it is to leave");
	fabric_step(&fabric, &txn, 0, STEP_UNSURE);
	fabric_lost(&fabric, A);
	fabric_finish(&fabric, &txn);
	fabric_txn_free(&txn);
	ok(fabric.gpus[G0].state == GPU_UNKNOWN && fabric.gpus[G0].owner == A, "the host goes away meanwhile: nobody knows");
	ok(!begin(B, (int[]){ G0 }, 1) && answer.refusal == REFUSED_IN_USE, "so nobody else gets it");
	fabric_found(&fabric, A, &(struct fabric_place){ G0, A0 }, 1);
	ok(fabric.gpus[G0].state == GPU_BOUND, "it is back and still has it");
	begin(A, (int[]){ G0, G1 }, 2);
	fabric_step(&fabric, &txn, 0, STEP_UNSURE);
	fabric_finish(&fabric, &txn);
	fabric_txn_free(&txn);
	ok(fabric.gpus[G1].state == GPU_UNKNOWN, "the same when one comes");
	fabric_found(&fabric, A, &(struct fabric_place){ G0, A0 }, 1);
	ok(fabric.gpus[G1].state == GPU_FREE && fabric.gpus[G1].owner == FABRIC_NONE, "it did not come: it is free");
	fabric_free(&fabric);
}

/* Nobody knows whether what was undone is undone. */
static void doubts(void)
{
	setup_seen();
	get(A, (int[]){ G0 }, 1);
	ok(begin(A, (int[]){ G1 }, 1), "one for another");
	fabric_step(&fabric, &txn, 0, STEP_DONE);
	fabric_step(&fabric, &txn, 1, STEP_FAILED);
	fabric_step(&fabric, &txn, 0, STEP_UNSURE);
	fabric_finish(&fabric, &txn);
	fabric_txn_free(&txn);
	ok(fabric.gpus[G0].state == GPU_UNKNOWN && fabric.gpus[G0].owner == A,
	   "a host that goes away while the first is put back: nobody knows where that is");
	fabric_lost(&fabric, A);
	ok(!begin(A, NULL, 0) && answer.refusal == REFUSED_UNKNOWN, "so it is not given away");
	fabric_found(&fabric, A, NULL, 0);
	ok(fabric.gpus[G0].state == GPU_FREE, "until the host was looked at");
	get(A, (int[]){ G0 }, 1);
	begin(A, (int[]){ G1 }, 1);
	fabric_step(&fabric, &txn, 0, STEP_DONE);
	fabric_step(&fabric, &txn, 1, STEP_FAILED);
	fabric_step(&fabric, &txn, 0, STEP_STUCK);
	fabric_finish(&fabric, &txn);
	fabric_txn_free(&txn);
	ok(fabric.gpus[G0].state == GPU_GONE && fabric.gpus[G0].owner == A, "a refusal leaves no doubt: it is in no port, in the zone");
	fabric_free(&fabric);
}

/* A GPU in a host, in none of the ports that the configuration names. */
static void elsewhere(void)
{
	setup_seen();
	fabric_found(&fabric, A, &(struct fabric_place){ G0, FABRIC_NONE }, 1);
	ok(fabric.gpus[G0].state == GPU_BOUND && fabric.gpus[G0].there, "a GPU that is in no known port is in its host");
	ok(begin(A, NULL, 0) && txn.count == 1 && txn.steps[0].before == GPU_BOUND, "it has to leave like any other");
	fabric_step(&fabric, &txn, 0, STEP_FAILED);
	fabric_finish(&fabric, &txn);
	fabric_txn_free(&txn);
	ok(fabric.gpus[G0].state == GPU_BOUND && fabric.gpus[G0].owner == A, "the host keeps it: it is still there");
	fabric_lost(&fabric, A);
	ok(!begin(A, NULL, 0) && answer.refusal == REFUSED_AWAY, "a host that does not answer cannot give it back");
	fabric_found(&fabric, A, &(struct fabric_place){ G0, FABRIC_NONE }, 1);
	ok(get(A, NULL, 0) && fabric.gpus[G0].state == GPU_FREE && !fabric.gpus[G0].there, "unbound, it is free");
	fabric_free(&fabric);
}

static void hosts(void)
{
	setup_seen();
	get(A, (int[]){ G0, G1 }, 2);
	fabric_gone(&fabric, A, G0);
	is_int(fabric.gpus[G0].home, A0, "its owner finds it by the port where it was");
	ok(fabric.gpus[G0].state == GPU_GONE && fabric.gpus[G0].owner == A && fabric.ports[A0].gpu == FABRIC_NONE,
	   "a slot that was powered off: in no port, in the zone");
	ok(!begin(B, (int[]){ G0 }, 1) && answer.refusal == REFUSED_IN_USE, "nobody else gets it");
	ok(get(A, (int[]){ G0, G1 }, 2) && fabric.gpus[G0].state == GPU_GONE,
	   "it does not come back because the rest of the zone is asked for");
	ok(fabric_begin(&fabric, A, (int[]){ G0, G1 }, 2, &(struct fabric_place){ G0, A0 }, 1, &txn,
			&answer), "but it does when its port is named");
	carry_out();
	ok(fabric.gpus[G0].state == GPU_BOUND && fabric.gpus[G0].port == A0, "in that port");
	fabric_gone(&fabric, A, G0);
	fabric_lost(&fabric, A);
	ok(get(A, (int[]){ G1 }, 1) && fabric.gpus[G0].state == GPU_FREE, "given back although the host does not answer");
	ok(!begin(A, NULL, 0) && answer.refusal == REFUSED_AWAY, "what is in a port of such a host is not");
	ok(!begin(A, (int[]){ G1, G2 }, 2) && answer.refusal == REFUSED_AWAY, "and nothing comes");
	fabric_off(&fabric, A);
	ok(fabric.gpus[G1].state == GPU_FREE && fabric.ports[A1].gpu == FABRIC_NONE, "it is off: what it had is free");
	ok(get(B, (int[]){ G1 }, 1), "somebody else gets it");
	is_int(fabric_found(&fabric, A, &(struct fabric_place){ G1, A0 }, 1), G1, "it was not off: the same GPU is in two hosts");
	ok(!begin(B, NULL, 0) && answer.refusal == REFUSED_TWICE, "nobody touches it any more");
	fabric_found(&fabric, B, &(struct fabric_place){ G1, B0 }, 1);
	ok(fabric.gpus[G1].state == GPU_TWICE, "whoever looks again");
	fabric_lost(&fabric, B);
	fabric_off(&fabric, B);
	ok(fabric.gpus[G1].state == GPU_TWICE && fabric.ports[B0].gpu == FABRIC_NONE, "one of the two is off: the other one has it");
	ok(!begin(A, (int[]){ G1 }, 1), "so it is not free");
	fabric_free(&fabric);
}

/* Any order of events: no port has two GPUs, no GPU is in two ports, and who is in a port has an owner. */
static bool is_sound(void)
{
	int i, n = 0, m = 0;

	for (i = 0; i < fabric.port_count; i++) {
		if (fabric.ports[i].gpu == FABRIC_NONE)
			continue;
		n++;
		if (fabric.gpus[fabric.ports[i].gpu].port != i)
			return false;
	}
	for (i = 0; i < fabric.gpu_count; i++) {
		const struct fabric_gpu *g = &fabric.gpus[i];

		m += g->port != FABRIC_NONE;
		if (g->port != FABRIC_NONE && (g->owner != fabric.ports[g->port].host || fabric.ports[g->port].gpu != i))
			return false;
		if (g->state == GPU_FREE && (g->owner != FABRIC_NONE || g->port != FABRIC_NONE || g->there))
			return false;
		if (g->port != FABRIC_NONE && !g->there)
			return false;
		if (g->state == GPU_GONE && g->there)
			return false;
	}
	return n == m;
}

static void random_events(void)
{
	struct fabric_txn under_way[2] = { 0 };
	unsigned int seed = 1, turn, done = 0;
	bool sound = true;

	setup_seen();
	for (turn = 0; turn < 100000 && sound; turn++) {
		int host = rand_r(&seed) % 2, gpu = rand_r(&seed) % 3, want[3], n = 0, i;
		struct fabric_txn *t = &under_way[host];
		size_t k;

		switch (rand_r(&seed) % 8) {
		case 0:
			fabric_gone(&fabric, host, gpu);
			break;
		case 1:
			fabric_lost(&fabric, host);
			break;
		case 2:
			if (!fabric.hosts[host].busy && fabric.hosts[host].state != HOST_UP)
				fabric_off(&fabric, host);
			break;
		case 3: {
			struct fabric_place found[3];

			/* the thread that looks is the one that carries out */
			if (fabric.hosts[host].busy)
				break;

			/* what a driver would find: all that it has in a port */
			for (i = 0; i < 3; i++)
				if (fabric.gpus[i].owner == host && fabric.gpus[i].port != FABRIC_NONE)
					found[n++] = (struct fabric_place){ i, fabric.gpus[i].port };
			fabric_found(&fabric, host, found, (size_t)n);
			break;
		}
		default:
			if (fabric.hosts[host].busy) {
				/* as the manager does it: up to the first that fails, and back */
				for (k = 0; k < t->count && rand_r(&seed) % 8; k++)
					fabric_step(&fabric, t, k, STEP_DONE);
				if (k < t->count) {
					fabric_step(&fabric, t, k, rand_r(&seed) % 2 ? STEP_FAILED : STEP_UNSURE);
					while (k--)
						fabric_step(&fabric, t, k, rand_r(&seed) % 4 ? STEP_UNDONE :
									   rand_r(&seed) % 2 ? STEP_STUCK : STEP_UNSURE);
				}
				fabric_finish(&fabric, t);
				fabric_txn_free(t);
				done++;
				break;
			}
			for (i = 0; i < 3; i++)
				if (rand_r(&seed) % 2)
					want[n++] = i;
			fabric_begin(&fabric, host, want, (size_t)n, NULL, 0, t, &answer);
		}
		sound = is_sound();
	}
	ok(sound, "100000 random events: no GPU is in two ports, no port has two GPUs (turn %u)", turn);
	ok(done > 1000, "and there were requests among them: %u", done);
	fabric_txn_free(&under_way[0]);
	fabric_txn_free(&under_way[1]);
	fabric_free(&fabric);
}

int main(void)
{
	starts();
	comes_later();
	fault_of_one();
	requests();
	failures();
	doubts();
	elsewhere();
	hosts();
	random_events();
	return tap_done();
}
