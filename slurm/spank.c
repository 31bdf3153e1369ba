// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the plugin in Slurm's programs
 *
 * In srun, sbatch and salloc it takes the options of a workload. A name of the catalogue is sized
 * by the controller; a folder or a model of the Hub only the user may be able to read, so it is sized here.
 *
 * In slurmstepd, of which each step has one, it reads the environment of the job's composition
 * before tasks start, has a fence put around the step's cgroup while they wait to be
 * started, and puts the environment over Slurm's, which has numbers of slots.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#include <slurm/slurm.h>
#include <slurm/spank.h>

SPANK_PLUGIN(gpufabric, 1);
#pragma GCC visibility pop

#include "base/program.h"
#include "base/text.h"
#include "slurm/node.h"
#include "slurm/options.h"
#include "slurm/step.h"

/* Headers of a model in a folder or at the Hub. */
#define SIZE_MS 120000
#define SIZE_OUTPUT_MAX (1u << 20)
#define ENV_MS 30000
#define ENV_OUTPUT_MAX (1u << 16)
#define FENCE_MS 30000
/* What the Prolog takes at most, and what it waits for. */
#define PROLOG_MS 300000
#define LOCK_MS 180000
#define CGROUPS "/sys/fs/cgroup"

/* What Slurm sets to numbers of slots. */
static const char *const slot_numbers[] = {
	"CUDA_VISIBLE_DEVICES",
	"ROCR_VISIBLE_DEVICES",
	"GPU_DEVICE_ORDINAL",
	"ZE_AFFINITY_MASK",
};

/* Values of options, as srun and others have them. */
static char *values[WORKLOAD_OPTIONS];

/**
 * struct step - the step of this slurmstepd
 * @id: of the job
 * @has_gpus: the job was to get GPUs on this node
 * @fenced: it was tried
 * @environment: of the composition, NULL while it is not known
 */
static struct step {
	uint32_t id;
	bool has_gpus;
	bool fenced;
	struct step_environment environment;
} step;

static int option_take(int which, const char *value, int remote)
{
	if (remote)
		return 0;
	if (!value || !workload_value_valid(value)) {
		slurm_error("--%s: no such value", workload_names[which].option);
		return -1;
	}
	free(values[which]);
	values[which] = mem_strdup(value);
	return 0;
}

int slurm_spank_init(spank_t spank, int argc, char **argv)
{
	const spank_context_t context = spank_context();
	int i;

	(void)argc;
	(void)argv;
	if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR && context != S_CTX_REMOTE)
		return 0;
	for (i = 0; i < WORKLOAD_OPTIONS; i++) {
		struct spank_option option = {
			.name = (char *)workload_names[i].option,
			.arginfo = (char *)workload_names[i].argument,
			.usage = (char *)workload_names[i].help,
			.has_arg = 1,
			.val = i,
			.cb = option_take,
		};

		if (spank_option_register(spank, &option) != ESPANK_SUCCESS) {
			slurm_error("gpufabric: cannot have the option --%s", option.name);
			return -1;
		}
	}
	return 0;
}

static int pass_on(spank_t spank, const char *name, const char *value)
{
	if (spank_job_control_setenv(spank, name, value, 1) == ESPANK_SUCCESS)
		return 0;
	slurm_error("gpufabric: cannot pass %s on", name);
	return -1;
}

/* With the user's rights, and with the user's environment: it may have a token, or a proxy. */
static int size_here(spank_t spank)
{
	const char *argv[WORKLOAD_ARGS_MAX];
	struct gpuctl_call call = {
		.argv = argv, .env = environ, .timeout_ms = SIZE_MS, .output_max = SIZE_OUTPUT_MAX
	};
	char *real = NULL, *given = values[WORKLOAD_MODEL], *said = NULL, *fits = NULL;
	int ret = -1;

	/* gpuctl is started elsewhere. */
	if (strncmp(given, "hf:", 3))
		real = realpath(given, NULL);
	if (real)
		values[WORKLOAD_MODEL] = real;
	workload_args((const char *const *)values, argv);
	gpuctl_run(&call);
	values[WORKLOAD_MODEL] = given;
	if (call.exit == GPUCTL_DONE)
		fits = workload_counts(call.output);
	if (call.exit != GPUCTL_DONE) {
		said = gpuctl_said(&call);
		slurm_error("gpufabric: %s", said);
	} else if (!fits) {
		slurm_error("gpufabric: %s fits on no kind of GPU", given);
	} else {
		ret = pass_on(spank, "GPUFABRIC_FITS", fits);
	}
	gpuctl_free(&call);
	free(real);
	free(said);
	free(fits);
	return ret;
}

static int submit(spank_t spank)
{
	int ret = 0, i;

	/* A step of a job that has its GPUs. */
	if (spank_context() == S_CTX_LOCAL && getenv("SLURM_JOB_ID"))
		return 0;
	for (i = 0; i < WORKLOAD_OPTIONS && !ret; i++)
		if (values[i])
			ret = pass_on(spank, workload_names[i].variable, values[i]);
	if (!ret && values[WORKLOAD_MODEL] && workload_is_local(values[WORKLOAD_MODEL]))
		ret = size_here(spank);
	return ret;
}

/* The environment of the job's composition. */
static void learn_environment(void)
{
	char *name = node_composition(step.id);
	const char *argv[5] = { "env", name, "--format", "plain" };
	struct gpuctl_call call = { .argv = argv,
				    .timeout_ms = ENV_MS,
				    .output_max = ENV_OUTPUT_MAX };

	if (gpuctl_run(&call) == GPUCTL_DONE)
		step_environment_read(call.output, &step.environment);
	gpuctl_free(&call);
	free(name);
}

/*
 * As slurmd does; it finds out what the job is to have, and gives the job back if that cannot be. @first: not
 * where another step has had it run.
 */
static void run_prolog(const char *node, bool first)
{
	static char *const argv[] = { GPUCTL_LIBEXEC_DIR "/slurm/prolog", NULL };
	const struct program_limits limits = { .timeout_ms = PROLOG_MS };
	const char *conf = getenv("SLURM_CONF");
	char *env[7] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		mem_printf("SLURM_JOB_ID=%u", step.id),
		"SLURM_JOB_GPUS=unknown",
		mem_printf("SLURMD_NODENAME=%s", node),
		first ? "GPUFABRIC_IF_NEW=1" : "LC_ALL=C.UTF-8",
		conf ? mem_printf("SLURM_CONF=%s", conf) : NULL,
	};
	struct program program = { .argv = argv, .env = env, .output_max = ENV_OUTPUT_MAX };

	programs_run(&program, 1, &limits);
	program_free(&program);
	free(env[1]);
	free(env[3]);
	free(env[5]);
}

/* Wait until nobody composes or releases for the job. */
static void job_settles(void)
{
	bool new;
	int lock = node_job_lock(step.id, LOCK_MS, &new);

	if (lock < 0)
		return;
	/* Whoever had it has just removed it. */
	if (new)
		node_job_forget(step.id);
	close(lock);
}

/*
 * Slurm has given the step slots; users can say so as well, and the Prolog asks the controller. The
 * variable of the other kind of step comes with the environment in which a job was submitted.
 */
static bool has_slots(spank_t spank, uint32_t number)
{
	const bool whole = number == SLURM_BATCH_SCRIPT || number == SLURM_INTERACTIVE_STEP;
	char value[2];
	spank_err_t err;

	err = spank_getenv(spank, whole ? "SLURM_JOB_GPUS" : "SLURM_STEP_GPUS", value,
			   sizeof(value));
	return err == ESPANK_NOSPACE || (err == ESPANK_SUCCESS && *value);
}

/*
 * The job's composition; a step of a job without GPUs has nothing to ask for. slurmd runs no Prolog
 * for a job whose id it has known: of a batch job that comes back while the Epilog of its earlier run runs, or has
 * run, or of another job, whose start a slurmctld that was killed has forgotten. Then the Prolog runs from here.
 */
static void learn(spank_t spank)
{
	char there[NODE_NAME_MAX];
	const char *node = getenv("SLURMD_NODENAME");
	uint32_t number = 0;
	enum node_job state;

	if (spank_get_item(spank, S_JOB_ID, &step.id) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_STEPID, &number) != ESPANK_SUCCESS)
		return;
	state = node_job_state(step.id, there, sizeof(there));
	if (state == NODE_JOB_UNKNOWN && node && has_slots(spank, number)) {
		slurm_info("gpufabric: job %u is started without a Prolog", step.id);
		run_prolog(node, true);
		state = node_job_state(step.id, there, sizeof(there));
	}
	if (state == NODE_JOB_UNKNOWN)
		return;
	job_settles();
	state = node_job_state(step.id, there, sizeof(there));
	/* Not where its Prolog ran: what that gave back is not to be composed here. */
	if (state == NODE_JOB_ENDED && number == SLURM_BATCH_SCRIPT) {
		slurm_info("gpufabric: job %u is started again without a Prolog", step.id);
		run_prolog(node ? node : there, false);
		state = node_job_state(step.id, there, sizeof(there));
	}
	if (state == NODE_JOB_HERE)
		learn_environment();
	/* Also where the Prolog failed: rather no job than one without its GPUs. */
	step.has_gpus = state != NODE_JOB_UNKNOWN;
}

int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	switch (spank_context()) {
	case S_CTX_LOCAL:
	case S_CTX_ALLOCATOR:
		return submit(spank);
	case S_CTX_REMOTE:
		learn(spank);
		return 0;
	default:
		return 0;
	}
}

/* Where this slurmstepd is: "0::/..../job_7/step_0/slurm" on a line of its own. */
static char *own_cgroup(void)
{
	char *line = NULL, *path = NULL;
	FILE *file = fopen("/proc/self/cgroup", "re");
	size_t size = 0;

	while (file && !path && getline(&line, &size, file) > 0)
		path = step_cgroup(line);
	free(line);
	if (file)
		fclose(file);
	return path;
}

/*
 * Tasks exist and wait to be told to start. For a failure of this Slurm drains the node. A job without its GPUs, such as one
 * whose start a slurmctld that was killed has forgotten, is not the node's fault: it gets a fence around all GPUs, and
 * slurm_spank_task_init() ends its tasks.
 */
int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv)
{
	char *cgroup, *folder, *name, *said;
	const char *args[4] = { "fence" };
	struct gpuctl_call call = { .argv = args, .timeout_ms = FENCE_MS };
	int ret;

	(void)spank;
	(void)argc;
	(void)argv;
	if (step.fenced)
		return 0;
	step.fenced = true;
	cgroup = own_cgroup();
	if (!cgroup) {
		slurm_debug("gpufabric: the step has no cgroup of version 2, and no fence");
		return 0;
	}
	folder = mem_printf(CGROUPS "%s", cgroup);
	name = node_composition(step.id);
	args[1] = folder;
	args[2] = step.environment.n ? name : NULL;
	ret = gpuctl_run(&call);
	if (ret) {
		said = gpuctl_said(&call);
		slurm_error("gpufabric: no fence around job %u: %s", step.id, said);
		free(said);
	}
	gpuctl_free(&call);
	free(cgroup);
	free(folder);
	free(name);
	return ret ? -1 : 0;
}

/* In a task, as its user, before its program; what this returns ends the task alone. */
int slurm_spank_task_init(spank_t spank, int argc, char **argv)
{
	size_t i;

	(void)argc;
	(void)argv;
	if (!step.has_gpus)
		return 0;
	if (!step.environment.n) {
		slurm_error("gpufabric: job %u does not have its GPUs on this node", step.id);
		return -1;
	}
	for (i = 0; i < sizeof(slot_numbers) / sizeof(slot_numbers[0]); i++)
		spank_unsetenv(spank, slot_numbers[i]);
	for (i = 0; i < step.environment.n; i++)
		if (spank_setenv(spank, step.environment.names[i], step.environment.values[i], 1) !=
		    ESPANK_SUCCESS) {
			slurm_error("gpufabric: cannot set %s", step.environment.names[i]);
			return -1;
		}
	return 0;
}
