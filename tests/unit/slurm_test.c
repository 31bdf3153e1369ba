// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/slurm/conf.c ctl/slurm/check.c ctl/slurm/licences.c ctl/slurm/nodes.c ctl/base/conf_dir.c ctl/base/fault.c ctl/base/text.c
/* Slurm's configuration: how its files are read, and what is found in them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "slurm/check.h"
#include "slurm/licences.h"
#include "tap.h"
#include "tree.h"

static char dir[] = "/tmp/slurm_test.XXXXXX";

/* "key=value word; key=value": all lines of a text. */
static char *parsed(const char *text)
{
	struct slurm_conf conf = { 0 };
	struct fault fault = { "" };
	struct text all = { 0 };
	size_t i, j;

	if (slurm_conf_parse(&conf, "x", text, strlen(text), &fault))
		return mem_strdup(fault.text);
	for (i = 0; i < conf.n; i++) {
		text_add(&all, "%s%u:", i ? "; " : "", conf.lines[i].number);
		for (j = 0; j < conf.lines[i].n; j++) {
			const struct slurm_pair *pair = &conf.lines[i].pairs[j];

			text_add(&all, " %s%s%s", pair->key, pair->value ? "=" : "", pair->value ? pair->value : "");
		}
	}
	slurm_conf_free(&conf);
	return all.text ? all.text : mem_strdup("");
}

static void is_parsed(const char *text, const char *want, const char *what)
{
	char *is = parsed(text);

	is_str(is, want, what);
	free(is);
}

static void test_lines(void)
{
	is_parsed("A=1\nB=2", "1: A=1; 2: B=2", "lines, the last one without its end");
	is_parsed("# all\n\nA=1 # rest\n", "3: A=1", "comments and empty lines");
	is_parsed("A=1 \\\n  B=2 \\  \n C=3\nD=4\n", "1: A=1 B=2 C=3; 4: D=4", "lines that go on");
	is_parsed("A=1 \\\r\nB=2\r\n", "1: A=1 B=2", "with ends of another system");
	is_parsed("A=1 # no \\\nB=2\n", "1: A=1; 2: B=2", "a comment does not go on");
	is_parsed("A=1\\", "1: A=1", "nor does the end of a file");
	is_parsed("A=C:\\\\\nB=2\n", "1: A=C:\\\\; 2: B=2", "two backslashes are a sign");
	is_parsed("A=\"x y\" B=\"\"\n", "1: A=x y B=", "quotes");
	is_parsed("A=\"x\n", "1: A=x", "quotes that do not end");
	is_parsed("A = 1\tB= 2\n", "1: A=1 B=2", "blanks around the sign");
	is_parsed("A=x\\#y\n", "1: A=x#y", "a number sign that is meant");
	is_parsed("required /a/b.so x=1\n", "1: required /a/b.so x=1", "words");
	is_parsed("=1\n", "1: =1", "no key");
}

static void is_hosts(const char *text, const char *want)
{
	struct text all = { 0 };
	size_t n, i;
	char **hosts = slurm_hosts(text, &n);

	for (i = 0; i < n; i++)
		text_join(&all, " ", hosts[i]);
	is_str(hosts ? all.text : "none", want, text);
	slurm_hosts_free(hosts, n);
	free(all.text);
}

static void test_hosts(void)
{
	size_t n;
	char **hosts = slurm_hosts("n[1-16384]", &n);

	ok(hosts && n == 16384, "as many as there may be");
	slurm_hosts_free(hosts, n);
	is_hosts("n1", "n1");
	is_hosts("n1,m[1-3,7],o", "n1 m1 m2 m3 m7 o");
	is_hosts("n[08-11]x", "n08x n09x n10x n11x");
	is_hosts("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2");
	is_hosts("/dev/gpufabric/3-[2-3]", "/dev/gpufabric/3-2 /dev/gpufabric/3-3");
	is_hosts("n[1-16385]", "none");
	is_hosts("n[0-9999][0-9999]", "none");
	is_hosts("n[3-1]", "none");
	is_hosts("n[1-]", "none");
	is_hosts("n[-1]", "none");
	is_hosts("n[a]", "none");
	is_hosts("n[]", "none");
	is_hosts("n[1", "none");
	is_hosts("n1]", "none");
	is_hosts("1]m[1,3]", "none");
	is_hosts("n[1-2-3]", "none");
	is_hosts("a,,b", "none");
	is_hosts("", "none");
}

/* What is right: two nodes with four slots each. */
static const char slurm_conf[] = "clustername=x\n"
				 "gresTYPES=gpu\n"
				 "Licenses=matlab:2,gf_h100:6\n"
				 "JobSubmitPlugins=all_partitions,lua\n"
				 "SelectType=select/cons_tres\n"
				 "SchedulerParameters=bf_interval=5,nohold_on_prolog_fail\n"
				 "PrologFlags=alloc\n"
				 "Prolog=/p\nEpilog=/e\nEpilogSlurmctld=/c\n"
				 "BatchStartTimeout=600 PrologEpilogTimeout=600\n"
				 "TaskPlugin=task/affinity,task/cgroup\n"
				 "Include nodes.conf\n";
static const char nodes_conf[] = "NodeName=DEFAULT Gres=gpu:h100:4 \\\n  CPUs=16\n"
				 "NodeName=n[1-2] State=UNKNOWN\n"
				 "NodeName=login Gres=craynetwork:4\n";
static const char gres_conf[] = "AutoDetect=off\n"
				"NodeName=n1 Name=gpu Type=h100 File=/dev/gpufabric/3-[1-4]\n"
				"nodename=n[2-9] name=gpu type=h100 file=/dev/gpufabric/3-[1-2]\n"
				"NodeName=n2 Name=gpu Type=h100 File=/dev/gpufabric/4-1,/dev/gpufabric/4-2\n";
static const char plugstack_conf[] = "include plugstack.d/*.conf\n";
#define DBD "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce="
static const char cgroup_conf[] = "ConstrainDevices=yes\n";

static void put_whole(void)
{
	tree_put(dir, "slurm.conf", slurm_conf);
	tree_put(dir, "nodes.conf", nodes_conf);
	tree_put(dir, "gres.conf", gres_conf);
	tree_put(dir, "cgroup.conf", cgroup_conf);
	tree_put(dir, "plugstack.conf", plugstack_conf);
	tree_put(dir, "plugstack.d/1.conf", "required /x/spank_gpufabric.so\n");
}

/* "error slurm.conf:3 ...": findings, without the folder; NULL where they cannot be made. */
static char *found(struct fault *fault)
{
	struct slurm_findings findings;
	struct slurm_files files;
	struct text all = { 0 };
	size_t i;

	if (slurm_files_read(&files, dir, fault)) {
		slurm_files_free(&files);
		return NULL;
	}
	slurm_check(&files, &findings);
	for (i = 0; i < findings.n; i++) {
		const struct slurm_finding *finding = &findings.items[i];
		const char *where = strrchr(finding->where, '/');

		text_add(&all, "%s %s: %s\n", finding->level == SLURM_ERROR ? "error" : "warning",
			 where ? where + 1 : finding->where, finding->text);
		ok(*finding->remedy, "there is a remedy: %s", finding->remedy);
	}
	slurm_findings_free(&findings);
	slurm_files_free(&files);
	return all.text ? all.text : mem_strdup("");
}

/* With other text in one file, that is found, and nothing else. */
static void finds(const char *file, const char *text, const char *want, const char *what)
{
	struct fault fault = { "" };
	char *is, *line;
	bool has, alone;

	put_whole();
	tree_put(dir, file, text);
	is = found(&fault);
	line = is ? strchr(is, '\n') : NULL;
	has = is && strstr(is, want);
	alone = line && !line[1];
	if (line)
		*line = '\0';
	ok(has, "%s: %s", what, is ? is : fault.text);
	ok(alone, "and nothing else");
	free(is);
}

/* The same with a piece of slurm.conf exchanged. */
static void finds_with(const char *from, const char *to, const char *want, const char *what)
{
	const char *at = strstr(slurm_conf, from);
	char *text = mem_printf("%.*s%s%s", (int)(at - slurm_conf), slurm_conf, to, at + strlen(from));

	finds("slurm.conf", text, want, what);
	free(text);
}

static void finds_nothing(const char *from, const char *to, const char *what)
{
	const char *at = strstr(slurm_conf, from);
	char *text = mem_printf("%.*s%s%s", (int)(at - slurm_conf), slurm_conf, to, at + strlen(from)), *is;
	struct fault fault = { "" };

	put_whole();
	tree_put(dir, "slurm.conf", text);
	is = found(&fault);
	is_str(is, "", what);
	free(is);
	free(text);
}

static void test_slurm_conf(void)
{
	finds_with("gresTYPES=gpu", "", "error slurm.conf: GresTypes lacks gpu", "no GPUs");
	finds_with("gf_h100:6", "gf_h200:6", "error slurm.conf:3: there is no licence gf_h100", "no licence");
	finds_with("gf_h100:6", "gf_h100:0", "error slurm.conf:3: there is no licence gf_h100", "none of it");
	finds_with("all_partitions,lua", "all_partitions", "error slurm.conf:4: JobSubmitPlugins lacks lua",
		   "nobody adds licences");
	finds_with("select/cons_tres", "select/linear", "error slurm.conf:5: select/linear does not know GPUs", "select");
	finds_with("SelectType=select/cons_tres", "", "warning slurm.conf: SelectType is not said", "select, not said");
	finds_with("bf_interval=5", "bf_licenses", "warning slurm.conf:6: bf_licenses", "bf_licenses");
	finds_with(",nohold_on_prolog_fail", "", "warning slurm.conf:6: SchedulerParameters lacks nohold", "nohold");
	finds_with("alloc", "Alloc,DeferBatch", "error slurm.conf:7: DeferBatch", "DeferBatch");
	finds_with("alloc", "Contain,NoHold", "error slurm.conf:7: NoHold", "NoHold");
	finds_with("PrologFlags=alloc", "", "error slurm.conf: PrologFlags lacks Alloc", "no Alloc");
	finds_with("Prolog=/p\n", "\n", "error slurm.conf: there is no Prolog", "no Prolog");
	finds_with("Epilog=/e\n", "\n", "error slurm.conf: there is no Epilog", "no Epilog");
	finds_with("EpilogSlurmctld=/c", "", "warning slurm.conf: there is no EpilogSlurmctld", "no EpilogSlurmctld");
	finds_with("BatchStartTimeout=600", "", "error slurm.conf: BatchStartTimeout is 10 s", "Slurm's own time");
	finds_with("BatchStartTimeout=600", "BatchStartTimeout=30", "error slurm.conf:11: BatchStartTimeout is 30 s",
		   "too short a time");
	finds_with("PrologEpilogTimeout=600", "prologepilogtimeout=1x", "PrologEpilogTimeout=1x is not a number", "no time");
	finds_with("PrologEpilogTimeout=600", "JobRequeue=0", "warning slurm.conf:11: no job can be requeued", "requeue");
	finds_with("PrologEpilogTimeout=600", "SlurmdTimeout=0", "warning slurm.conf:11: a node that dies", "dead nodes");
	finds_with("PrologEpilogTimeout=600", "ProctrackType=proctrack/linuxproc", "warning slurm.conf:11: proctrack/linux",
		   "no cgroups");
	finds_with("PrologEpilogTimeout=600", DBD "limits",
		   "warning slurm.conf: AccountingStorageTRES lacks gres/gpu,license/gf_h100: ", "accounting of no GPUs");
	finds_with("PrologEpilogTimeout=600", DBD "limits\nAccountingStorageTRES=gres/gpu",
		   "warning slurm.conf:13: AccountingStorageTRES lacks license/gf_h100", "of no licences");
	finds_with("PrologEpilogTimeout=600", DBD "associations\nAccountingStorageTRES=gres/gpu,license/gf_h100",
		   "warning slurm.conf:12: AccountingStorageEnforce lacks limits", "with limits that have no effect");
	finds_nothing("PrologEpilogTimeout=600", DBD "associations,Safe\nAccountingStorageTRES=gres/gpu,license/gf_h100",
		      "accounting, where limits of minutes have all others heeded");
	finds_nothing("PrologEpilogTimeout=600", DBD "ALL\nAccountingStorageTRES=gres/gpu,license/gf_h100",
		      "accounting that enforces all");
	finds_with("PrologEpilogTimeout=600", "AccountingStorageTRES=gres/gpu,license/gf_h100",
		   "AccountingStorageTRES=gres/gpu,license/gf_h100 without slurmdbd: slurmctld does not start", "accounting for nobody");
	finds_with("PrologEpilogTimeout=600", "PartitionName=x OverSubscribe=Exclusive",
		   "x gives whole nodes", "a partition with whole nodes");
	finds_with(",task/cgroup", "", "warning slurm.conf:12: TaskPlugin lacks task/cgroup", "no constraint");
}

static void test_others(void)
{
	finds("nodes.conf", "NodeName=n[1-2] Gres=gpu:4\n", "error nodes.conf:1: gpu:4 names no kind", "no kind");
	finds("nodes.conf", "NodeName=n[1-2]\n", "error slurm.conf: no node has slots", "no slots");
	finds("nodes.conf", "NodeName=n[1-2 Gres=gpu:h100:4\nNodeName=n1 Gres=gpu:h100:1\n",
	      "error nodes.conf:1: NodeName=n[1-2 is no list", "no hosts");
	finds("nodes.conf", "NodeName=n[1-2] Gres=tmpdisk:1,gpu:h100:5(S:0)\n", "error gres.conf: n1 has gpu:h100:5 in slurm.conf and 4 files",
	      "fewer files than slots");
	finds("nodes.conf", "NodeName=n[1-3] Gres=gpu:h100:4\n", "n3 has gpu:h100:4 in slurm.conf and 2 files here",
	      "of one node");
	finds("gres.conf", "Name=gpu Type=h100 File=/dev/gpufabric/[1-4]\nAutoDetect=nvml\n", "error gres.conf:2: AutoDetect=nvml",
	      "AutoDetect");
	finds("gres.conf", "Name=gpu Type=h100 File=/dev/nvidia[0-3]\n", "error gres.conf:1: /dev/nvidia0 is a GPU", "the vendor's");
	finds("gres.conf", "Name=gpu Type=h100 File=/dev/gpufabric/[1-4]\nName=gpu Type=h100 Count=4\n",
	      "error gres.conf:2: GPUs without File=", "no files");
	finds("cgroup.conf", "CgroupPlugin=cgroup/v1\nConstrainDevices=yes\n", "warning cgroup.conf:1: cgroup/v1", "cgroup v1");
	finds("cgroup.conf", "ConstrainDevices=no\n", "warning cgroup.conf:1: devices are not constrained", "not constrained");
	finds("plugstack.d/1.conf", "optional other.so\n", "error plugstack.conf: neither", "no plugin");
}

static void test_files(void)
{
	struct fault fault = { "" };
	char *is;

	put_whole();
	is = found(&fault);
	is_str(is, "", "where nothing is missing nothing is found");
	free(is);
	tree_put(dir, "nodes.conf", "Include nodes.conf\n");
	is = found(&fault);
	ok(!is && strstr(fault.text, "include each other"), "files that include each other: %s", fault.text);
	free(is);
	tree_put(dir, "gres.conf", "Include gone.conf\n");
	tree_put(dir, "nodes.conf", nodes_conf);
	is = found(&fault);
	ok(!is && strstr(fault.text, "gres.conf:1: ") && strstr(fault.text, "gone.conf"), "one that is not there: %s",
	   fault.text);
	free(is);
}

/* What the licences of job 7 are with five GPUs, or why not. */
static const char *with_five(const char *text)
{
	static char out[256];
	struct fault fault = { "" };
	struct licence_job job;
	char *list;

	if (licence_job_read(text, "7", &job, &fault))
		return fault.text[0] ? "refused" : "";
	list = licence_job_text(&job, 5);
	snprintf(out, sizeof(out), "%s: %s:%u of %s on %u", job.address, job.kind, job.count, list, job.nodes);
	free(list);
	licence_job_free(&job);
	return out;
}

static void test_licences(void)
{
	static const char pool[] = "LicenseName=gf_h100 Total=6 Used=4 Free=2 Reserved=1 Remote=no\n"
				   "LicenseName=gf_h100-nvl Total=2 Used=3 Free=0 Reserved=0 Remote=no\n";
	long long left = 0;

	is_str(with_five("7|7|2|gf_h100:4\n"), "7: h100:4 of gf_h100:5 on 2", "licences of a pool");
	is_str(with_five("7|7|1|matlab:2,gf_h100,ansys"), "7: h100:1 of matlab:2,ansys,gf_h100:5 on 1", "beside others");
	is_str(with_five("8|7_1|1|gf_l40s:9\n7|7_2|1|gf_h100:2\n"), "7_2: h100:2 of gf_h100:5 on 1", "of one task of an array");
	is_str(with_five("7|7+0|1|gf_h100:2\n8|7+1|1|gf_l40s:1\n"), "7+0: h100:2 of gf_h100:5 on 1", "of one component");
	is_str(with_five("8|8|1|gf_h100:2\n"), "refused", "of another job");
	is_str(with_five("7|7|1|gf_h100:2,gf_l40s:1"), "refused", "of two kinds");
	is_str(with_five("7|7|1|(null)"), "refused", "none");
	is_str(with_five("7|7|1"), "refused", "not even a field");
	is_str(with_five("7"), "refused", "nor any other");
	is_str(with_five(""), "refused", "nothing at all");
	is_str(with_five("7|7|1|gf_h100:x"), "refused", "no number");
	ok(licence_left(pool, "h100", &left) && left == 1, "what is left of it");
	ok(licence_left(pool, "h100-nvl", &left) && left == -1, "more are used than there are");
	ok(!licence_left(pool, "l40s", &left), "a kind without a licence");
}

int main(void)
{
	test_licences();
	char *command;

	if (!mkdtemp(dir))
		return 1;
	test_lines();
	test_hosts();
	test_files();
	test_slurm_conf();
	test_others();
	command = mem_printf("rm -r %s", dir);
	ok(!system(command), "cleaned up");
	free(command);
	return tap_done();
}
