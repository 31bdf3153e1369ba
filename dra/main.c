// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: gpufabric-dra, the driver of Kubernetes' dynamic resource allocation
 *
 * The main thread waits for a signal; gRPC, each call and each claim have threads of their own.
 * SIGTERM ends it: what is under way has some time to end, and whoever waits for it is answered.
 * What does not end is found by the next start, because the module knows it by the claim's uid.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dra/log.h"
#include "dra/plugin.h"
#include "dra/publish.h"

#define PLUGINS "/var/lib/kubelet/plugins/" DRIVER_NAME
#define REGISTRY "/var/lib/kubelet/plugins_registry"
#define GPUCTL "gpuctl"
/* Below what the kubelet waits. */
#define ANSWER_MS 40000
#define GPUCTL_MS 600000
#define LEASE_MS 30000
/* From one look at the fabric to the next, if nothing happens. */
#define PAUSE_MS 300000
/* Below what a pod is given to end. */
#define END_MS 20000

enum exit_code {
	DONE,
	FAILED,
	USAGE,
	BUSY = 4,
};

/**
 * struct options - the command line
 * @plugins: folder of the socket, as here; @registry: folder of the socket for registration
 * @server, @authorities, @token: of the API server, NULL for those of a pod
 * @namespace: of leases
 * @network: where gpuctl runs, NULL for here
 * @quiet: nothing is published
 */
struct options {
	const char *plugins, *registry, *node, *cdi, *gpuctl, *server, *authorities, *token;
	const char *namespace, *network;
	uint64_t answer_ms, gpuctl_ms, lease_ms;
	bool quiet;
};

static const char usage[] =
	"usage: gpufabric-dra [OPTION]...\n"
	"\n"
	"The driver " DRIVER_NAME
	" of Kubernetes' dynamic resource allocation, in the foreground.\n"
	"\n"
	"  -n, --node NAME           of this node (default: the variable NODE_NAME)\n"
	"  -p, --plugins FOLDER      of the socket for claims (" PLUGINS ")\n"
	"  -r, --registry FOLDER     of the socket for registration (" REGISTRY ")\n"
	"  -c, --cdi FOLDER          of container devices (default: that of gpuctl cdi)\n"
	"  -g, --gpuctl FILE         the program (default: gpuctl, from PATH)\n"
	"      --network FILE        network namespace that gpuctl runs in, such as /proc/1/ns/net\n"
	"  -s, --server URL          the API server (default: that of the pod), with\n"
	"      --ca FILE             the authorities of its certificate, and\n"
	"      --token FILE          the token to log in there\n"
	"  -a, --answer-within TIME  time limit of an answer to the kubelet, in seconds (40)\n"
	"  -t, --timeout TIME        of one run of gpuctl, in seconds (600)\n"
	"      --namespace NAME      of Lease objects (default: the variable NAMESPACE, or kube-system)\n"
	"      --lease TIME          time until another node publishes for one that is gone, in seconds (30)\n"
	"      --no-publish          ResourceSlices are left to others; no health of devices\n"
	"  -h, --help   -V, --version\n";

static int complain(const struct reason *reason, int code)
{
	say("%s", reason->text);
	return code;
}

static bool read_seconds(const char *word, uint64_t *ms)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(word, &end, 10);
	if (errno || *end || end == word || *word == '-' || n > 86400)
		return false;
	*ms = n * 1000;
	return true;
}

static int usage_error(const char *what)
{
	say("%s: gpufabric-dra --help", what);
	return USAGE;
}

/* -1 to go on, else an exit code. */
static int options_read(int argc, char **argv, struct options *o)
{
	enum {
		CA = 256,
		TOKEN,
		NAMESPACE,
		NETWORK,
		LEASE,
		QUIET
	};
	static const struct option longs[] = {
		{ "node", required_argument, NULL, 'n' },
		{ "plugins", required_argument, NULL, 'p' },
		{ "registry", required_argument, NULL, 'r' },
		{ "cdi", required_argument, NULL, 'c' },
		{ "gpuctl", required_argument, NULL, 'g' },
		{ "server", required_argument, NULL, 's' },
		{ "ca", required_argument, NULL, CA },
		{ "token", required_argument, NULL, TOKEN },
		{ "answer-within", required_argument, NULL, 'a' },
		{ "timeout", required_argument, NULL, 't' },
		{ "network", required_argument, NULL, NETWORK },
		{ "namespace", required_argument, NULL, NAMESPACE },
		{ "lease", required_argument, NULL, LEASE },
		{ "no-publish", no_argument, NULL, QUIET },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	if (!o->namespace)
		o->namespace = "kube-system";
	while ((c = getopt_long(argc, argv, "n:p:r:c:g:s:a:t:hV", longs, NULL)) >= 0) {
		switch (c) {
		case 'n':
			o->node = optarg;
			break;
		case 'p':
			o->plugins = optarg;
			break;
		case 'r':
			o->registry = optarg;
			break;
		case 'c':
			o->cdi = optarg;
			break;
		case 'g':
			o->gpuctl = optarg;
			break;
		case 's':
			o->server = optarg;
			break;
		case CA:
			o->authorities = optarg;
			break;
		case TOKEN:
			o->token = optarg;
			break;
		case NETWORK:
			o->network = optarg;
			break;
		case NAMESPACE:
			o->namespace = optarg;
			break;
		case LEASE:
			if (!read_seconds(optarg, &o->lease_ms) || !o->lease_ms)
				return usage_error("--lease is not a number of seconds");
			break;
		case QUIET:
			o->quiet = true;
			break;
		case 'a':
			if (!read_seconds(optarg, &o->answer_ms))
				return usage_error("--answer-within is not a number of seconds");
			break;
		case 't':
			if (!read_seconds(optarg, &o->gpuctl_ms) || !o->gpuctl_ms)
				return usage_error("--timeout is not a number of seconds");
			break;
		case 'h':
			fputs(usage, stdout);
			return DONE;
		case 'V':
			puts("gpufabric-dra " DRA_VERSION);
			return DONE;
		default:
			return USAGE;
		}
	}
	if (optind < argc)
		return usage_error("there are no operands");
	if (!o->node || !claim_word(o->node))
		return usage_error("the name of this node is missing: give --node");
	if (!claim_word(o->namespace))
		return usage_error("--namespace is no name");
	if (o->server && (!o->authorities || !o->token))
		return usage_error("--server needs --ca and --token");
	if (*o->plugins != '/' || *o->registry != '/')
		return usage_error("--plugins and --registry are absolute paths");
	return -1;
}

/* The file itself, because posix_spawn() is told a path. */
static char *program_find(const char *name, struct reason *reason)
{
	const char *path = getenv("PATH");
	char *folders, *rest, *folder, *found = NULL;

	if (strchr(name, '/'))
		return copy_of(name);
	folders = copy_of(path ? path : "/usr/bin:/bin");
	for (rest = folders; !found && (folder = strsep(&rest, ":"));) {
		found = format("%s/%s", *folder ? folder : ".", name);
		if (access(found, X_OK)) {
			free(found);
			found = NULL;
		}
	}
	free(folders);
	if (!found)
		refuse(reason, "there is no program %s in PATH", name);
	return found;
}

/* Only one driver on a node: a descriptor, or -1 with the exit code. */
static int lock_take(const char *folder, int *code, struct reason *reason)
{
	char *path = format("%s/lock", folder);
	int fd, err;

	if (mkdir(folder, 0750) && errno != EEXIST) {
		refuse(reason, "cannot make %s: %s", folder, strerror(errno));
		*code = FAILED;
		free(path);
		return -1;
	}
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	err = errno;
	if (fd < 0) {
		refuse(reason, "cannot open %s: %s", path, strerror(err));
		*code = FAILED;
	} else if (flock(fd, LOCK_EX | LOCK_NB)) {
		refuse(reason, "another gpufabric-dra has %s", path);
		*code = BUSY;
		close(fd);
		fd = -1;
	}
	free(path);
	return fd;
}

static bool api_given(const struct options *o, struct api *api, struct reason *reason)
{
	if (!o->server)
		return api_of_pod(api, reason);
	if (strncmp(o->server, "https://", 8))
		return refuse(reason, "--server is no https:// URL");
	*api = (struct api){ copy_of(o->server), copy_of(o->authorities), copy_of(o->token),
			     10000 };
	return true;
}

/* Until a signal comes; what is under way has to end by @until then. */
static int driver_run(struct plugin *plugin, const struct options *o, const sigset_t *signals,
		      uint64_t *until, struct reason *reason)
{
	char *registry = format("%s/" DRIVER_NAME "-reg.sock", o->registry);
	struct rpc *rpc = rpc_open(plugin_methods, plugin);
	const struct publish_terms terms = { .api = &plugin->work.api,
					     .fabric = &plugin->work.fabric,
					     .health = &plugin->health,
					     .rpc = rpc,
					     .namespace = o->namespace,
					     .lease_ms = o->lease_ms,
					     .pause_ms = PAUSE_MS };
	struct publisher *publisher = NULL;
	int code = FAILED, signal = 0;

	if (rpc_listen(rpc, plugin->endpoint, reason) && rpc_listen(rpc, registry, reason)) {
		rpc_start(rpc);
		if (!o->quiet)
			publisher = publish_start(&terms);
		say("node %s: listening at %s", o->node, plugin->endpoint);
		while (sigwait(signals, &signal) == EINTR)
			;
		say("ends, by signal %d", signal);
		code = DONE;
	}
	*until = clock_ms() + END_MS;
	/* The kubelet goes by this file. */
	unlink(registry);
	/* Whoever is told to ask again does so after a minute or more. */
	work_settle(&plugin->work, *until);
	publish_stop(publisher);
	work_end(&plugin->work);
	rpc_close(rpc);
	unlink(plugin->endpoint);
	free(registry);
	return code;
}

int main(int argc, char **argv)
{
	struct options o = { .plugins = PLUGINS,
			     .registry = REGISTRY,
			     .node = getenv("NODE_NAME"),
			     .gpuctl = GPUCTL,
			     .namespace = getenv("NAMESPACE"),
			     .answer_ms = ANSWER_MS,
			     .gpuctl_ms = GPUCTL_MS,
			     .lease_ms = LEASE_MS };
	int code = options_read(argc, argv, &o), lock = -1;
	struct reason reason = { "" };
	struct plugin plugin = { .answer_ms = o.answer_ms, .quiet = o.quiet };
	char *program = NULL, *endpoint = NULL;
	uint64_t until = 0;
	sigset_t signals;

	if (code >= 0)
		return code;
	/* Before the first thread. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_DUMPABLE, 0);
	umask(0077);
	program = program_find(o.gpuctl, &reason);
	if (!program || !api_given(&o, &plugin.work.api, &reason) || !api_start(&reason)) {
		code = complain(&reason, FAILED);
		goto out;
	}
	lock = lock_take(o.plugins, &code, &reason);
	if (lock < 0) {
		complain(&reason, code);
		goto out;
	}
	endpoint = format("%s/dra.sock", o.plugins);
	plugin.endpoint = endpoint;
	plugin.work.fabric = (struct fabric){ .gpuctl = { program, o.network, o.gpuctl_ms },
					      .node = o.node,
					      .cdi = o.cdi };
	work_open(&plugin.work);
	health_open(&plugin.health);
	code = driver_run(&plugin, &o, &signals, &until, &reason);
	if (code)
		complain(&reason, code);
	/* Threads that go on use all of it. */
	if (!work_close(&plugin.work, until))
		_exit(code);
	health_close(&plugin.health);
	api_stop();
out:
	api_free(&plugin.work.api);
	free(program);
	free(endpoint);
	if (lock >= 0)
		close(lock);
	return code;
}
