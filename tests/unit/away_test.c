// SPDX-License-Identifier: GPL-2.0-only
// sources: slurm/away.c ctl/base/fault.c ctl/base/text.c
// packages: json-c
/* GPUs that are away from Slurm, by what scontrol and gpuctl print. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "slurm/away.h"
#include "tap.h"

#define LICENCES                                                                                   \
	"LicenseName=gf_h100 Total=6 Used=2 Free=4 Reserved=0 Remote=no\n"                         \
	"LicenseName=gf_l40s Total=2 Used=0 Free=2 Reserved=0 Remote=no\n"                         \
	"LicenseName=matlab Total=9 Used=0 Free=9 Reserved=0 Remote=no\n"                          \
	"LicenseName=gf_x@db Total=9 Used=0 Free=9 Reserved=0 Remote=yes\n"
#define NODES                                                                                      \
	"NodeName=hosta Arch=x86_64 NodeAddr=10.0.0.1 NodeHostName=a State=IDLE Owner=N/A \n"      \
	"NodeName=hostb State=MIXED+DRAIN Reason=Not State=DOWN\n"                                 \
	"NodeName=hostc State=DOWN*+NOT_RESPONDING\n"                                              \
	"NodeName=hostd State=IDLE+DRAIN\n"                                                        \
	"NodeName=n5 State=ALLOCATED*\n"                                                           \
	"NodeName=n6 State=UNKNOWN+NOT_RESPONDING\n"
#define GPU(kind, state, host)                                                                     \
	"{\"gpu\":\"g\",\"kind\":" kind ",\"state\":\"" state "\",\"host\":" host "},"
#define POOL(gpus) "warning: x\n{\"pool\":[" gpus "{}],\"managers\":[]}"
#define H "\"h100-pcie-80\""

/* What is away of such a pool, "" for nothing; @host: another name of a host. */
static void away_of(const char *pool, const char *local, const char *host, const char *wanted,
		    const char *what)
{
	struct away own = { 0 }, away = { 0 };
	struct fault fault = { "" };
	char *licences;
	int err = 0;

	if (local)
		err = away_add_local(&own, local);
	if (host && !err)
		err = away_add_host(&away, host);
	if (!err)
		err = away_read_licences(&away, &own, LICENCES, &fault);
	away_read_nodes(&away, NODES);
	if (!err)
		err = away_read_pool(&away, pool, &fault);
	licences = away_licences(&away);
	ok(!err, "%s: it is read (%s)", what, fault.text);
	is_str(licences ? licences : "", wanted, what);
	free(licences);
	away_free(&away);
	away_free(&own);
}

static void pools(void)
{
	const char *six = POOL(
		GPU(H, "free", "null") GPU(H, "free", "null") GPU(H, "free", "null")
			GPU(H, "free", "null") GPU(H, "free", "null") GPU(H, "free", "null")
				GPU("\"l40s\"", "free", "null") GPU("\"l40s\"", "free", "null"));

	away_of(six, NULL, NULL, "", "all are free");
	away_of(POOL(""), NULL, NULL, "gf_h100:6,gf_l40s:2", "none is there");
	away_of(POOL(""), "h100:4", NULL, "gf_h100:2,gf_l40s:2", "some are no manager's");
	away_of(POOL(GPU(H, "elsewhere", "\"hosta\"") GPU(H, "bound", "\"hosta\"")
			     GPU(H, "elsewhere", "\"hostb\"") GPU(H, "elsewhere", "\"hostc\"")
				     GPU(H, "elsewhere", "\"hostd\"")
					     GPU(H, "elsewhere", "\"stranger\"")),
		"l40s:2", NULL, "gf_h100:3",
		"at a node, at one that is being drained; not at a dead one, a drained one, or one that Slurm does not know");
	away_of(POOL(GPU(H, "elsewhere", "\"a\"") GPU(H, "elsewhere", "\"10.0.0.1\"")
			     GPU(H, "elsewhere", "\"n5\"") GPU(H, "elsewhere", "\"n6\"")),
		"l40s:2", NULL, "gf_h100:2",
		"nodes have names and addresses, and may be slow to answer");
	away_of(POOL(GPU(H, "elsewhere", "\"rack-1\"")), "l40s:2", "rack-1=n5", "gf_h100:5",
		"or another name at the manager");
	away_of(POOL(GPU(H, "changing", "null") GPU(H, "changing", "\"hosta\"")
			     GPU(H, "changing", "\"stranger\"") GPU(H, "unusable", "null")
				     GPU(H, "unusable", "\"hosta\"")),
		"l40s:2", NULL, "gf_h100:4", "on their way, and unusable");
	away_of(POOL(GPU("null", "free", "null") GPU("\"h1000\"", "free", "null")
			     GPU("\"h100\"", "free", "null")),
		"l40s:2", NULL, "gf_h100:5", "kinds that are others");
}

/* The same GPU is away once, whoever says so. */
static void reports(void)
{
	static const char said[] = "NodeName=n1 State=IDLE Extra=gpufabric:h100-pcie-80:1\n"
				   "NodeName=n2 State=IDLE\n"
				   "NodeName=n3 State=IDLE Extra=gpufabric:h100-pcie-80:1\n";
	static const struct {
		const char *pool, *wanted, *what;
	} cases[] = {
		{ POOL(GPU(H, "elsewhere", "\"n1\"") GPU(H, "elsewhere", "\"n1\"")
			       GPU(H, "elsewhere", "\"n3\"")),
		  "gf_h100:5", "each node cannot use one of those that it has" },
		{ POOL(GPU(H, "unusable", "\"n1\"") GPU(H, "elsewhere", "\"n1\"")
			       GPU(H, "unusable", "\"n3\"")),
		  "gf_h100:5", "the manager says it, too" },
		{ POOL(GPU(H, "elsewhere", "\"n1\"") GPU(H, "unusable", "\"n1\"")
			       GPU(H, "elsewhere", "\"n2\"")),
		  "gf_h100:4", "in whatever order" },
		{ POOL(GPU(H, "free", "null") GPU(H, "elsewhere", "\"n2\"")
			       GPU(H, "elsewhere", "\"stranger\"")),
		  "gf_h100:4", "it is no longer at that node" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct away away = { 0 }, own = { 0 };
		struct fault fault = { "" };
		char *text;

		away_read_licences(&away, &own, "LicenseName=gf_h100 Total=6\n", &fault);
		away_read_nodes(&away, said);
		ok(!away_read_pool(&away, cases[i].pool, &fault), "a pool");
		text = away_licences(&away);
		is_str(text, cases[i].wanted, cases[i].what);
		free(text);
		away_free(&away);
	}
}

/* What nodes say of themselves. */
static void nodes(void)
{
	static const char list[] =
		"{\"slots\":[{\"gpu_id\":\"h100-pcie-80\",\"state\":\"ready\",\"flags\":[]},"
		"{\"gpu_id\":\"h100-pcie-80\",\"state\":\"fault\",\"flags\":[]},"
		"{\"gpu_id\":\"h100-pcie-80\",\"state\":\"off\",\"flags\":[\"quarantined\"]},"
		"{\"gpu_id\":\"h100-pcie-80\",\"state\":\"lost\",\"composition\":\"slurm-7\"},"
		"{\"gpu_id\":\"l40s\",\"state\":\"stuck\"},{\"state\":\"fault\"},{}]}";
	static const char said[] =
		"NodeName=n1 State=IDLE Extra=rack=3;gpufabric:h100-pcie-80:1,x:9\n"
		"NodeName=n2 State=DOWN Extra=gpufabric:h100-pcie-80:1\n"
		"NodeName=n3 State=IDLE Extra=two words;gpufabric:l40s:7;x Reason=gpufabric: h100:9\n"
		"NodeName=n6 State=IDLE Reason=gpufabric: h100:9 xgpufabric:h100:9\n"
		"NodeName=n4 State=IDLE Extra=gpufabric:h100\n"
		"NodeName=n5 State=IDLE Extra=gpufabric:h100:x\n";
	struct away away = { 0 }, own = { 0 };
	struct fault fault = { "" };
	char *text;

	ok(!away_add_local(&own, "h100:6") && !away_read_licences(&away, &own, LICENCES, &fault),
	   "licences");
	away_read_nodes(&away, said);
	text = away_licences(&away);
	is_str(text, "gf_h100:2,gf_l40s:2",
	       "GPUs that nodes cannot use are away, those of a dead one count once, and none twice");
	free(text);
	away_free(&away);
	away_free(&own);
	text = away_broken(list, &fault);
	is_str(text, "h100-pcie-80:2,l40s:1",
	       "slots in fault and in quarantine, but none that a job has");
	free(text);
	text = away_broken("{\"slots\":[]}", &fault);
	is_str(text, "", "no slots");
	free(text);
	ok(!away_broken("{\"slots\":1}", &fault) && !away_broken("", &fault), "no list");
	text = away_extra(
		"NodeName=n1 Arch=x\n   Comment=a Extra=b\n   Extra=two words;x\n   Reason=y\n");
	is_str(text, "two words;x", "the field of a node");
	free(text);
	text = away_extra("NodeName=n1\n");
	is_str(text, "", "a node without it");
	free(text);
	text = away_extra_with("a;gpufabric:h100:1;b", "l40s:2");
	is_str(text, "a;b;gpufabric:l40s:2", "words of others stay");
	free(text);
	text = away_extra_with("gpufabric:h100:1", "");
	is_str(text, "", "ours goes");
	free(text);
}

static void rubbish(void)
{
	static const char *const pools[] = {
		"", "{", "[]", "{\"pool\":1}", "gpuctl: x\n", "{\"pool\":{}}"
	};
	static const char *const licences[] = {
		"LicenseName=gf_h100 Used=1\n",
		"LicenseName=gf_h100 Total=-1\n",
		"LicenseName=gf_h100 Total=1\nLicenseName=gf_h100 Total=2\n",
		"LicenseName=gf_h100 Total=99999999999\n",
		"LicenseName=gf_h100=x Total=1\n",
		"LicenseName=gf_ Total=1\n"
	};
	static const char *const locals[] = { "", "h100", "h100:", ":4", "h100:x", "h100:-1" };
	static const char *const hosts[] = { "", "a", "=b", "a=" };
	struct fault fault = { "" };
	size_t i;

	for (i = 0; i < sizeof(pools) / sizeof(pools[0]); i++) {
		struct away away = { 0 };

		ok(away_read_pool(&away, pools[i], &fault) == -EINVAL, "no list of GPUs: %s",
		   pools[i]);
		away_free(&away);
	}
	for (i = 0; i < sizeof(licences) / sizeof(licences[0]); i++) {
		struct away away = { 0 }, own = { 0 };

		ok(away_read_licences(&away, &own, licences[i], &fault) == -EINVAL,
		   "no licence: %zu", i);
		away_free(&away);
	}
	for (i = 0; i < sizeof(locals) / sizeof(locals[0]); i++) {
		struct away own = { 0 };

		ok(away_add_local(&own, locals[i]) == -EINVAL, "no number of GPUs: %s", locals[i]);
		away_free(&own);
	}
	for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		struct away own = { 0 };

		ok(away_add_host(&own, hosts[i]) == -EINVAL, "no host: %s", hosts[i]);
		away_free(&own);
	}
}

static void reservations(void)
{
	const char *text =
		"ReservationName=x Licenses=gf_h100:9\n"
		"ReservationName=gf_away StartTime=2026-01-01T00:00:00 Nodes=(null) Licenses=gf_h100:4,gf_l40s:1 State=ACTIVE\n"
		"ReservationName=empty Licenses=(null)\n";
	char *found = away_reserved(text, "gf_away");

	is_str(found, "gf_h100:4,gf_l40s:1", "the licences of a reservation");
	free(found);
	found = away_reserved(text, "empty");
	is_str(found, "", "one without licences");
	free(found);
	ok(!away_reserved(text, "gf"), "one that is not there");
	ok(!away_reserved("No reservations in the system\n", "gf_away"), "none at all");
	ok(away_same("gf_a:1,gf_b:2", "gf_b:2,gf_a:1"), "the order does not count");
	ok(away_same("gf_a:1", "gf_a=1"), "nor how it is written");
	ok(away_same("", ""), "nothing is nothing");
	ok(!away_same("gf_a:1", "gf_a:2"), "another number is another one");
	ok(!away_same("gf_a:1,gf_b:2", "gf_a:1"), "so is more");
	ok(!away_same("", "gf_a:1"), "and something");
}

int main(void)
{
	pools();
	reports();
	nodes();
	rubbish();
	reservations();
	return tap_done();
}
