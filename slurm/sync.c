// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpufabric-slurm-sync
 *
 * Slurm's licences gf_KIND are all GPUs of the pool. Those that jobs cannot have now are kept out of
 * its count by a reservation of licences, which this daemon makes, changes and deletes. It looks when a
 * listener prints a line, when another process wakes it by a socket, on SIGHUP, and at intervals. Where a question is not answered nothing is
 * changed: what was known is more true than nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"
#include "slurm/away.h"

#define RESERVATION "gf_away"
#define INTERVAL_S 30
#define INTERVAL_MAX_S 86400
/* Many events at a time are one look. */
#define SETTLE_MS 200
#define ASK_MS 30000
#define OUTPUT_MAX (16u << 20)
#define WORDS_MAX 64
#define NODE_SIGNS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
#define WAKE "/run/gpufabric-slurm-sync/wake"

enum exit_code {
	DONE,
	FAILED,
	USAGE,
};

/**
 * struct sync - the daemon
 * @reservation: its name
 * @local: GPUs that no manager has
 * @interval_ms: between two looks without an event
 * @once: look once, and end
 * @dry: change nothing
 * @wakes: only wake the daemon that runs
 * @node: only report what this node cannot use, NULL for the daemon
 * @listener: words of a program each line of which is an event; NULL for none
 * @listener_pid: the program, 0 while it does not run; @listener_fd: what it prints
 * @signals: of signalfd()
 * @socket: path of the socket that wakes it, @wake: that, -1 for none
 * @said: the last complaint, so that it is not repeated
 */
struct sync {
	const char *reservation;
	struct away local;
	uint64_t interval_ms;
	bool once, dry, wakes;
	const char *node;
	char **listener;
	pid_t listener_pid;
	int listener_fd;
	int signals;
	const char *socket;
	int wake;
	char *said;
};

static const char usage[] =
	"usage: gpufabric-slurm-sync [OPTION]...\n"
	"\n"
	"Keeps GPUs that are away from the pool out of Slurm's licences gf_KIND, by a reservation.\n"
	"\n"
	"  -i, --interval TIME        interval between checks without an event (default 30s)\n"
	"  -l, --listen COMMAND       program that prints a line for each event\n"
	"      --local KIND:COUNT     GPUs of this kind that no fabric manager has\n"
	"      --node HOST=NODE       name in Slurm of a host of a fabric manager\n"
	"      --reservation NAME     name of the reservation (default " RESERVATION ")\n"
	"      --socket PATH          socket that wakes the daemon (default " WAKE ")\n"
	"  -w, --wake                 make the daemon check now\n"
	"  -r, --report NODE          on a node: tell Slurm which GPUs it cannot use, and end\n"
	"  -1, --once                 check once, and end\n"
	"  -n, --dry-run              print what would be reserved\n"
	"  -h, --help                 print this\n"
	"      --version              print the version\n";

/* Once for each reason, however often it holds. */
static void __attribute__((format(printf, 2, 3))) complain(struct sync *sync, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = mem_vprintf(fmt, ap);
	va_end(ap);
	text_tame(text, false);
	if (!sync->said || strcmp(sync->said, text))
		fprintf(stderr, SD_WARNING "%s\n", text);
	free(sync->said);
	sync->said = text;
}

/* Where PATH has a program; caller frees. */
static char *program_path(const char *name)
{
	const char *s = getenv("PATH");
	size_t len;

	if (strchr(name, '/'))
		return mem_strdup(name);
	for (s = s ? s : "/usr/sbin:/usr/bin:/sbin:/bin"; *s; s += len + (s[len] == ':')) {
		char *path;

		len = strcspn(s, ":");
		path = mem_printf("%.*s/%s", (int)len, s, name);
		if (len && !access(path, X_OK))
			return path;
		free(path);
	}
	return mem_strdup(name);
}

/* What a program prints, NULL after a complaint; caller frees. */
static char *ask(struct sync *sync, const char *const words[])
{
	const struct program_limits limits = { .timeout_ms = ASK_MS };
	char *argv[16] = { program_path(words[0]) }, *output = NULL, *why;
	struct program program = { .argv = argv, .env = environ, .output_max = OUTPUT_MAX };
	size_t i;

	for (i = 1; words[i]; i++)
		argv[i] = (char *)(uintptr_t)words[i];
	programs_run(&program, 1, &limits);
	if (program_succeeded(&program)) {
		output = program.output ? program.output : mem_strdup("");
		program.output = NULL;
	} else {
		why = program_complaint(&program, &limits);
		complain(sync, "%s %s %s: %s", words[0], words[1], words[2] ? words[2] : "", why);
		free(why);
	}
	program_free(&program);
	free(argv[0]);
	return output;
}

static int away_look(struct sync *sync, struct away *away)
{
	static const char *const licences[] = { "scontrol", "-o", "show", "licenses", NULL };
	static const char *const nodes[] = { "scontrol", "-o", "show", "node", NULL };
	static const char *const pool[] = { "gpuctl", "-j", "fabric", "list", NULL };
	struct fault fault = { "" };
	char *text;
	int err;

	text = ask(sync, licences);
	if (!text)
		return -EIO;
	err = away_read_licences(away, &sync->local, text, &fault);
	free(text);
	if (!err && !away->n_kinds)
		err = fault_set(&fault, ENOENT,
				"slurm.conf has no licence " AWAY_LICENCE
				"KIND: gpuctl slurm config prints them");
	if (err) {
		complain(sync, "%s", fault.text);
		return err;
	}
	text = ask(sync, nodes);
	if (!text)
		return -EIO;
	away_read_nodes(away, text);
	free(text);
	text = ask(sync, pool);
	if (!text)
		return -EIO;
	err = away_read_pool(away, text, &fault);
	free(text);
	if (err)
		complain(sync, "%s", fault.text);
	return err;
}

/* @wanted NULL: nothing is away. */
static int reserve(struct sync *sync, const char *wanted, const char *reserved)
{
	char *name = mem_printf("reservationname=%s", sync->reservation),
	     *licences = mem_printf("licenses=%s", wanted ? wanted : ""), *text;
	const char *const create[] = {
		"scontrol",  "create",	      "reservation",
		name,	     "starttime=now", "duration=infinite",
		"user=root", licences,	      "flags=license_only,ignore_jobs",
		NULL
	};
	const char *const update[] = { "scontrol", "update", name, licences, NULL };
	const char *const delete[] = { "scontrol", "delete", name, NULL };
	int err = 0;

	if (!sync->dry) {
		text = ask(sync, !wanted ? delete : reserved ? update : create);
		err = text ? 0 : -EIO;
		free(text);
	}
	if (!err)
		fprintf(stderr, SD_NOTICE "away from Slurm: %s; it %s %s\n",
			wanted ? wanted : "nothing", sync->dry ? "is" : "was",
			reserved && *reserved ? reserved : "nothing");
	free(name);
	free(licences);
	return err;
}

/* Make the reservation what it should be: 0 or a negative errno. */
static int look(struct sync *sync)
{
	static const char *const show[] = { "scontrol", "-o", "show", "reservation", NULL };
	struct away away = { .hosts = sync->local.hosts, .n_hosts = sync->local.n_hosts };
	char *wanted = NULL, *reserved = NULL, *text;
	int err = away_look(sync, &away);

	if (!err) {
		wanted = away_licences(&away);
		text = ask(sync, show);
		err = text ? 0 : -EIO;
		if (text)
			reserved = away_reserved(text, sync->reservation);
		free(text);
	}
	if (!err && (wanted || reserved) && (!wanted || !reserved || !away_same(wanted, reserved)))
		err = reserve(sync, wanted, reserved);
	if (!err) {
		free(sync->said);
		sync->said = NULL;
	}
	free(wanted);
	free(reserved);
	/* They are not its own. */
	away.hosts = NULL;
	away.n_hosts = 0;
	away_free(&away);
	return err;
}

/* What a node cannot use stands in its field Extra: 0 or -EIO. */
static int report_write(struct sync *sync, const char *broken)
{
	const char *const show[] = { "scontrol", "show", "node", sync->node, NULL };
	char *text = ask(sync, show), *before, *after, *name, *extra;
	int err = text ? 0 : -EIO;

	if (!text)
		return err;
	before = away_extra(text);
	after = away_extra_with(before, broken);
	free(text);
	if (strcmp(before, after)) {
		name = mem_printf("nodename=%s", sync->node);
		extra = mem_printf("extra=%s", after);
		const char *const update[] = { "scontrol", "update", name, extra, NULL };

		text = sync->dry ? mem_strdup("") : ask(sync, update);
		err = text ? 0 : -EIO;
		if (text)
			fprintf(stderr, SD_NOTICE "GPUs that %s cannot use: %s\n", sync->node,
				*broken ? broken : "none");
		free(text);
		free(extra);
		free(name);
	}
	free(before);
	free(after);
	return err;
}

static int report(struct sync *sync)
{
	static const char *const list[] = { "gpuctl", "-j", "list", NULL };
	struct fault fault = { "" };
	char *text = ask(sync, list), *broken;
	int err;

	if (!text)
		return FAILED;
	broken = away_broken(text, &fault);
	free(text);
	if (!broken) {
		complain(sync, "%s", fault.text);
		return FAILED;
	}
	err = report_write(sync, broken);
	free(broken);
	return err ? FAILED : DONE;
}

/* Its own process group, so that it ends with what it has started. */
static void listener_start(struct sync *sync)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char *path;
	sigset_t none;
	int fds[2], err;

	if (!sync->listener || sync->listener_pid)
		return;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK)) {
		complain(sync, "pipe: %s", strerror(errno));
		return;
	}
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	path = program_path(sync->listener[0]);
	err = posix_spawn(&sync->listener_pid, path, &actions, &attr, sync->listener, environ);
	if (err) {
		complain(sync, "%s: %s", path, strerror(err));
		sync->listener_pid = 0;
		close(fds[0]);
	} else {
		sync->listener_fd = fds[0];
	}
	close(fds[1]);
	free(path);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
}

static void listener_end(struct sync *sync)
{
	if (!sync->listener_pid)
		return;
	/* It has nothing to lose. */
	kill(-sync->listener_pid, SIGKILL);
	waitpid(sync->listener_pid, NULL, 0);
	close(sync->listener_fd);
	sync->listener_fd = -1;
	sync->listener_pid = 0;
}

/* All that it has printed: false when that was its end. */
static bool listener_drain(struct sync *sync)
{
	char buf[4096];
	ssize_t n;

	do
		n = read(sync->listener_fd, buf, sizeof(buf));
	while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 && errno == EAGAIN;
}

static int wake_address(const char *path, struct sockaddr_un *address)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	strcpy(address->sun_path, path);
	return 0;
}

/* All users may wake it: many at a time are one look. */
static void wake_open(struct sync *sync)
{
	struct sockaddr_un address;
	int err = wake_address(sync->socket, &address);

	sync->wake = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (!err && sync->wake >= 0) {
		unlink(sync->socket);
		if (!bind(sync->wake, (struct sockaddr *)&address, sizeof(address)) &&
		    !chmod(sync->socket, 0666))
			return;
	}
	complain(sync, "%s: %s", sync->socket, strerror(err ? -err : errno));
	if (sync->wake >= 0)
		close(sync->wake);
	sync->wake = -1;
}

static int wake_send(const struct sync *sync)
{
	struct sockaddr_un address;
	int err = wake_address(sync->socket, &address), fd;

	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* A full socket has woken it. */
	if (!err && sendto(fd, "", 1, 0, (struct sockaddr *)&address, sizeof(address)) < 0 &&
	    errno != EAGAIN)
		err = -errno;
	if (err)
		fprintf(stderr, "gpufabric-slurm-sync: %s: %s\n", sync->socket, strerror(-err));
	if (fd >= 0)
		close(fd);
	return err ? FAILED : DONE;
}

/* Until something happened, or the time is over: false to end. */
static bool await(struct sync *sync)
{
	const uint64_t until = text_monotonic() + sync->interval_ms;
	struct signalfd_siginfo info;
	uint64_t now = text_monotonic();

	while (now < until) {
		struct pollfd fds[] = {
			{ .fd = sync->signals, .events = POLLIN },
			{ .fd = sync->listener_fd, .events = POLLIN },
			{ .fd = sync->wake, .events = POLLIN },
		};
		int n = poll(fds, 3, (int)(until - now));

		if (n > 0 && fds[0].revents) {
			if (read(sync->signals, &info, sizeof(info)) == sizeof(info) &&
			    info.ssi_signo != SIGHUP)
				return false;
			return true;
		}
		if (n > 0 && fds[2].revents)
			return true;
		if (n > 0 && fds[1].revents) {
			/* What ends at once is started at intervals, not in a loop. */
			if (listener_drain(sync))
				return true;
			complain(sync,
				 "%s has ended: there are no events until it is started again",
				 sync->listener[0]);
			listener_end(sync);
		}
		now = text_monotonic();
	}
	return true;
}

static bool settle(struct sync *sync)
{
	struct pollfd fd = { .fd = sync->signals, .events = POLLIN };
	struct signalfd_siginfo info;
	char byte;

	if (poll(&fd, 1, SETTLE_MS) > 0 &&
	    read(sync->signals, &info, sizeof(info)) == sizeof(info) && info.ssi_signo != SIGHUP)
		return false;
	if (sync->listener_pid)
		listener_drain(sync);
	while (sync->wake >= 0 && recv(sync->wake, &byte, 1, 0) >= 0)
		;
	return true;
}

static int run(struct sync *sync)
{
	sigset_t set;
	int err;

	if (sync->once || sync->dry)
		return look(sync) ? FAILED : DONE;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sync->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (sync->signals < 0) {
		fprintf(stderr, SD_ERR "signalfd: %s\n", strerror(errno));
		return FAILED;
	}
	wake_open(sync);
	do {
		/* Before the look, so that nothing between the two is missed. */
		listener_start(sync);
		err = look(sync);
		if (!err)
			sd_notify(0, "READY=1");
	} while (await(sync) && settle(sync));
	listener_end(sync);
	if (sync->wake >= 0) {
		close(sync->wake);
		unlink(sync->socket);
	}
	close(sync->signals);
	return DONE;
}

/* Words between blanks; there is no shell. */
static char **words_of(const char *text)
{
	char **words = mem_zalloc(WORDS_MAX + 1, sizeof(*words));
	size_t n = 0, len;

	for (; n < WORDS_MAX; text += len) {
		text += strspn(text, " \t");
		len = strcspn(text, " \t");
		if (!len)
			break;
		words[n++] = mem_printf("%.*s", (int)len, text);
	}
	return words;
}

static int usage_fault(const char *what)
{
	fprintf(stderr, "gpufabric-slurm-sync: %s\n", what);
	return USAGE;
}

static int options_read(struct sync *sync, int argc, char **argv)
{
	enum {
		LOCAL = 256,
		NODE,
		NAME,
		SOCKET,
		VERSION
	};
	static const struct option longs[] = {
		{ "interval", required_argument, NULL, 'i' },
		{ "listen", required_argument, NULL, 'l' },
		{ "local", required_argument, NULL, LOCAL },
		{ "node", required_argument, NULL, NODE },
		{ "reservation", required_argument, NULL, NAME },
		{ "socket", required_argument, NULL, SOCKET },
		{ "wake", no_argument, NULL, 'w' },
		{ "report", required_argument, NULL, 'r' },
		{ "once", no_argument, NULL, '1' },
		{ "dry-run", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "i:l:wr:1nh", longs, NULL)) != -1) {
		switch (c) {
		case 'i':
			if (!text_parse_duration(optarg, &sync->interval_ms) ||
			    sync->interval_ms < 1000 ||
			    sync->interval_ms > INTERVAL_MAX_S * 1000ull)
				return usage_fault("--interval: a time from 1s to 1d");
			break;
		case 'l':
			sync->listener = words_of(optarg);
			if (!sync->listener[0])
				return usage_fault("--listen: a program with its arguments");
			break;
		case LOCAL:
			if (away_add_local(&sync->local, optarg))
				return usage_fault("--local: KIND:COUNT, each kind once");
			break;
		case NODE:
			if (away_add_host(&sync->local, optarg))
				return usage_fault("--node: HOST=NODE");
			break;
		case NAME:
			if (!text_name_valid(optarg))
				return usage_fault("--reservation: letters, digits, _ . -");
			sync->reservation = optarg;
			break;
		case SOCKET:
			sync->socket = optarg;
			break;
		case 'r':
			if (!*optarg || optarg[strspn(optarg, NODE_SIGNS)])
				return usage_fault("--report: the NodeName= of this host");
			sync->node = optarg;
			break;
		case 'w':
			sync->wakes = true;
			break;
		case '1':
			sync->once = true;
			break;
		case 'n':
			sync->dry = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(DONE);
		case VERSION:
			puts("gpufabric-slurm-sync " GPUCTL_VERSION);
			exit(DONE);
		default:
			return USAGE;
		}
	}
	if (optind < argc)
		return usage_fault("there are options only: --help lists them");
	return DONE;
}

int main(int argc, char **argv)
{
	struct sync sync = {
		.reservation = RESERVATION,
		.interval_ms = INTERVAL_S * 1000,
		.listener_fd = -1,
		.socket = WAKE,
		.wake = -1,
	};
	int ret = options_read(&sync, argc, argv);
	size_t i;

	if (!ret)
		ret = sync.wakes ? wake_send(&sync) : sync.node ? report(&sync) : run(&sync);
	for (i = 0; sync.listener && sync.listener[i]; i++)
		free(sync.listener[i]);
	free(sync.listener);
	free(sync.said);
	away_free(&sync.local);
	return ret;
}
