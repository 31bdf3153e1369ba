// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpufabric-fm, the fabric manager
 *
 * The main thread waits for signals, for the admin's socket and for the next tick; all else has
 * threads of its own. SIGHUP reads the configuration and the certificates again: who has what goes
 * over to a new manager by names. SIGTERM ends; what was under way is found by the next start.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <systemd/sd-daemon.h>

#include "base/text.h"
#include "fm/access.h"
#include "fm/control.h"
#include "fm/fence.h"
#include "fm/http.h"
#include "fm/init.h"
#include "fm/journal.h"
#include "fm/recover.h"
#include "fm/revoke.h"
#include "fm/stream.h"
#include "fm/tls.h"

#define FOLDER "/etc/gpufabric-fm"
#define RUN "/run/gpufabric-fm"
#define STATE "/var/lib/gpufabric-fm"
#define TICK_MS 250
#define DRAIN_MS 120000
/* Of this time, new requests are refused in the last part only. */
#define REFUSE_MS 10000
/* The unit gives it somewhat more. */
#define FINISH_MS 60000

enum exit_code {
	DONE,
	FAILED,
	USAGE,
	BUSY = 4,
};

/**
 * struct run - the daemon
 * @reload_by: a reload is wanted, and is given up then; 0 for none
 * @reload_waits: it was said that it waits
 */
struct run {
	const char *folder, *state;
	struct config *config;
	struct manager *manager;
	struct leases leases;
	struct access access;
	struct events events;
	struct service service;
	struct http *http;
	int control;
	uint64_t reload_by;
	bool reload_waits;
	struct config *next;
};

static const char usage[] =
	"usage: gpufabric-fm [-c FOLDER] [-r FOLDER] [-s FOLDER] COMMAND\n"
	"\n"
	"  run                           run the manager in the foreground\n"
	"  check                         read the configuration and the certificates, and print mistakes\n"
	"  init [--host NAME]... [--user NAME]... [--name NAME-OR-ADDRESS]...\n"
	"                                make missing certificates, and a file for each host\n"
	"  passwd USER [--role ROLE]     set the password of an account, read from standard input; ROLE is\n"
	"                                Administrator, Host or ReadOnly\n"
	"  passwd USER --delete          remove the account\n"
	"  revoke NAME                   end the trust in the key of a host or a user, from a reload on\n"
	"  evict HOST                    declare off a host that does not answer: its GPUs are free\n"
	"\n"
	"  -c, --config FOLDER           configuration, certificates, accounts (/etc/gpufabric-fm)\n"
	"  -r, --run FOLDER              lock and socket of the running manager (/run/gpufabric-fm)\n"
	"  -s, --state FOLDER            state that outlives a restart (/var/lib/gpufabric-fm)\n"
	"  -h, --help   -V, --version\n";

static int complain(const struct fault *f, int code)
{
	fprintf(stderr, "gpufabric-fm: %s\n", f->text);
	return code;
}

/* The same as long as the authority is. */
static int make_uuid(const char *folder, char uuid[37], struct fault *f)
{
	char *path = mem_printf("%s/ca.crt", folder);
	unsigned char d[32];
	gnutls_datum_t data;
	int ret = gnutls_load_file(path, &data);

	if (!ret) {
		ret = gnutls_hash_fast(GNUTLS_DIG_SHA256, data.data, data.size, d);
		gnutls_free(data.data);
	}
	if (ret) {
		fault_set(f, EIO, "%s: %s", path, gnutls_strerror(ret));
		free(path);
		return -EIO;
	}
	free(path);
	snprintf(uuid, 37, "%02x%02x%02x%02x-%02x%02x-8%01x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 d[0], d[1], d[2], d[3], d[4], d[5], d[6] & 0xf, d[7], (d[8] & 0x3f) | 0x80, d[9],
		 d[10], d[11], d[12], d[13], d[14], d[15]);
	return 0;
}

static const struct link_ops *link_of(const struct config *config)
{
	static const struct link_ops *const links[] = {
		[DRIVER_QMP] = &link_qmp,
		[DRIVER_SWITCHTEC] = &link_switchtec,
		[DRIVER_SIM] = &link_sim,
	};

	return links[config->driver];
}

static void config_drop(struct config *config)
{
	if (!config)
		return;
	config_free(config);
	free(config);
}

static void reload_wanted(struct run *run)
{
	struct config *next = mem_zalloc(1, sizeof(*next));
	struct fault f = { "" };
	int err = config_read(run->folder, next, &f);

	if (!err && strcmp(next->listen, run->config->listen))
		err = fault_set(&f, EBUSY, "listen: %s needs a restart", next->listen);
	if (!err)
		err = tls_load(run->folder, next->certificate_needed, &f);
	if (err) {
		journal_say(LOG_ERR, NULL, NULL, NULL,
			    "reload: %s; the configuration stays as it was", f.text);
		config_drop(next);
		return;
	}
	config_drop(run->next);
	run->next = next;
	run->reload_by = text_monotonic() + DRAIN_MS;
}

static void reload_give_up(struct run *run, const char *why)
{
	struct fault f = { "" };

	journal_say(LOG_ERR, NULL, NULL, NULL, "reload: %s; the configuration stays as it was",
		    why);
	config_drop(run->next);
	run->next = NULL;
	run->reload_by = 0;
	tls_load(run->folder, run->config->certificate_needed, &f);
	manager_undrain(run->manager);
}

/* No request is under way: change over. */
static void reload_now(struct run *run)
{
	struct manager *old = run->manager, *next = mem_zalloc(1, sizeof(*next));
	struct config *old_config = run->config, *config = run->next;
	struct fault f = { "" }, why = { "" };
	bool refused;

	if (manager_may_follow(old, run->next, &f) || recover_may_begin(old, &f)) {
		free(next);
		reload_give_up(run, f.text);
		return;
	}
	manager_stop(old);
	http_hold(run->http);
	/* hosts may have told of more until they were stopped: then go on as it was */
	refused = manager_may_follow(old, run->next, &why);
	if (refused)
		config = old_config;
	if (manager_start(next, config, link_of(config), run->state, &run->leases, http_told,
			  &run->events, old, &f)) {
		/* no threads: what is left is to begin anew */
		journal_say(LOG_CRIT, NULL, NULL, NULL, "reload: %s", f.text);
		abort();
	}
	run->manager = next;
	run->service.manager = next;
	if (refused) {
		http_release(run->http);
		manager_free(old);
		free(old);
		reload_give_up(run, why.text);
		return;
	}
	run->config = run->next;
	run->next = NULL;
	run->reload_by = 0;
	run->service.config = run->config;
	run->access.session_ms = run->config->session_ms;
	http_release(run->http);
	manager_free(old);
	free(old);
	config_drop(old_config);
	leases_keep(&run->leases, run->config);
	journal_say(LOG_NOTICE, NULL, NULL, NULL, "reload: done");
}

static void run_tick(struct run *run)
{
	uint64_t now;

	http_tick(run->http);
	fence_lapse(run->manager);
	intents_tick(run->manager);
	if (!run->next)
		return;
	now = text_monotonic();
	if (manager_drain(run->manager, now + REFUSE_MS > run->reload_by))
		reload_now(run);
	else if (now > run->reload_by)
		reload_give_up(run, "a request is still under way");
	else if (!run->reload_waits)
		journal_say(LOG_NOTICE, NULL, NULL, NULL,
			    "reload: waiting until no request is under way");
	run->reload_waits = run->next;
}

static void run_loop(struct run *run, int signals)
{
	struct signalfd_siginfo info;

	for (;;) {
		struct pollfd fds[2] = {
			{ .fd = signals, .events = POLLIN },
			{ .fd = run->control, .events = POLLIN },
		};

		poll(fds, 2, TICK_MS);
		if (fds[0].revents && read(signals, &info, sizeof(info)) == sizeof(info)) {
			if (info.ssi_signo != SIGHUP)
				return;
			sd_notify(0, "RELOADING=1");
			reload_wanted(run);
			sd_notify(0, "READY=1");
		}
		if (fds[1].revents)
			control_serve(run->control, run->manager);
		run_tick(run);
	}
}

/*
 * What is under way comes to its end, so that no zone is left half changed; a second signal cuts
 * it.
 */
static void run_finish(struct run *run, int signals)
{
	uint64_t end = text_monotonic() + FINISH_MS;
	struct pollfd fd = { .fd = signals, .events = POLLIN };
	struct signalfd_siginfo info;

	while (!manager_drain(run->manager, true) && text_monotonic() < end) {
		if (poll(&fd, 1, TICK_MS) > 0 && read(signals, &info, sizeof(info)) > 0 &&
		    info.ssi_signo != SIGHUP)
			break;
		http_tick(run->http);
	}
}

static int run_start(struct run *run, const char *runtime, struct fault *f)
{
	int err = config_read(run->folder, run->config, f);

	if (!err)
		err = tls_load(run->folder, run->config->certificate_needed, f);
	if (!err)
		err = make_uuid(run->folder, run->service.uuid, f);
	if (!err)
		err = access_open(&run->access, run->config, f);
	if (!err)
		err = leases_open(&run->leases, run->state, f);
	if (!err)
		leases_keep(&run->leases, run->config);
	if (!err) {
		run->control = control_open(runtime, f);
		err = run->control < 0 ? run->control : 0;
	}
	if (!err)
		err = manager_start(run->manager, run->config, link_of(run->config), run->state,
				    &run->leases, http_told, &run->events, NULL, f);
	return err;
}

static int run_daemon(const char *folder, const char *runtime, const char *state)
{
	struct run run = { .folder = folder, .state = state, .control = -1 };
	struct fault f = { "" };
	sigset_t mask;
	int signals, lock;

	lock = control_lock(runtime, &f);
	if (lock < 0)
		return complain(&f, lock == -EBUSY ? BUSY : FAILED);
	sigemptyset(&mask);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signals = signalfd(-1, &mask, SFD_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
#ifndef FM_FAILPOINTS
	/* keys are in its memory; the sanitizers of a test look into it */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
	run.config = mem_zalloc(1, sizeof(*run.config));
	run.manager = mem_zalloc(1, sizeof(*run.manager));
	events_init(&run.events, &stream_link);
	if (run_start(&run, runtime, &f))
		return complain(&f, FAILED);
	run.service.manager = run.manager;
	run.service.config = run.config;
	run.service.access = &run.access;
	run.service.events = &run.events;
	run.http = http_start(&run.service, &f);
	if (!run.http) {
		manager_stop(run.manager);
		return complain(&f, FAILED);
	}
	journal_say(LOG_NOTICE, NULL, NULL, NULL, "listens on https://%s, %zu hosts, %zu GPUs",
		    http_address(run.http), run.config->host_count, run.config->gpu_count);
	sd_notify(0, "READY=1");
	run_loop(&run, signals);
	sd_notify(0, "STOPPING=1");
	run_finish(&run, signals);
	manager_stop(run.manager);
	http_stop(run.http);
	manager_free(run.manager);
	free(run.manager);
	events_free(&run.events);
	config_drop(run.next);
	config_drop(run.config);
	access_close(&run.access);
	leases_close(&run.leases);
	tls_free();
	close(run.control);
	close(signals);
	close(lock);
	journal_say(LOG_NOTICE, NULL, NULL, NULL, "stopped");
	return DONE;
}

static int run_check(const char *folder)
{
	struct config config = { 0 };
	struct fault f = { "" };
	int err = config_read(folder, &config, &f);

	if (!err)
		err = tls_load(folder, config.certificate_needed, &f);
	if (!err)
		printf("%s: %zu hosts, %zu GPUs: good\n", folder, config.host_count,
		       config.gpu_count);
	tls_free();
	config_free(&config);
	return err ? complain(&f, FAILED) : DONE;
}

/* Everything a command line may have. */
struct line {
	struct init init;
	enum account_role role;
	bool delete;
	const char *run, *state;
};

static int wrong(const char *why, const char *what)
{
	fprintf(stderr, "gpufabric-fm: %s%s; see gpufabric-fm --help\n", why, what);
	return USAGE;
}

static void add_word(char ***list, size_t *n, char *word)
{
	*list = mem_push(*list, *n, sizeof(**list));
	(*list)[(*n)++] = word;
}

/* -1: go on. */
static int read_options(int argc, char **argv, struct line *line)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "run", required_argument, NULL, 'r' },
		{ "state", required_argument, NULL, 's' },
		{ "host", required_argument, NULL, 'H' },
		{ "user", required_argument, NULL, 'U' },
		{ "name", required_argument, NULL, 'N' },
		{ "role", required_argument, NULL, 'R' },
		{ "delete", no_argument, NULL, 'D' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "c:r:s:hV", options, NULL)) != -1) {
		switch (opt) {
		case 'c':
			line->init.folder = optarg;
			break;
		case 'r':
			line->run = optarg;
			break;
		case 's':
			line->state = optarg;
			break;
		case 'H':
			add_word(&line->init.hosts, &line->init.host_count, optarg);
			break;
		case 'U':
			add_word(&line->init.users, &line->init.user_count, optarg);
			break;
		case 'N':
			add_word(&line->init.names, &line->init.name_count, optarg);
			break;
		case 'R':
			line->role = account_role_read(optarg);
			if (line->role == ROLE_NONE)
				return wrong("--role is Administrator, Host or ReadOnly, not ",
					     optarg);
			break;
		case 'D':
			line->delete = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return DONE;
		case 'V':
			puts("gpufabric-fm " GPUCTL_VERSION);
			return DONE;
		default:
			return USAGE;
		}
	}
	return -1;
}

static int run_command(const struct line *line, char **words, size_t n)
{
	struct fault f = { "" };
	int err;

	if (!n)
		return wrong("a command is missing", "");
	if (!strcmp(words[0], "run") && n == 1)
		return run_daemon(line->init.folder, line->run, line->state);
	if (!strcmp(words[0], "check") && n == 1)
		return run_check(line->init.folder);
	if (!strcmp(words[0], "init") && n == 1)
		err = init_make(&line->init, &f);
	else if (!strcmp(words[0], "passwd") && n == 2 && line->delete)
		err = init_forget(line->init.folder, words[1], &f);
	else if (!strcmp(words[0], "passwd") && n == 2)
		err = init_password(line->init.folder, words[1], line->role, &f);
	else if (!strcmp(words[0], "revoke") && n == 2)
		err = revoke_key(line->init.folder, words[1], &f);
	else if (!strcmp(words[0], "evict") && n == 2)
		err = control_evict(line->run, words[1], &f);
	else
		return wrong("wrong command: ", words[0]);
	return err ? complain(&f, FAILED) : DONE;
}

int main(int argc, char **argv)
{
	struct line line = { .init.folder = FOLDER, .run = RUN, .state = STATE };
	int ret = read_options(argc, argv, &line);

	if (ret < 0)
		ret = run_command(&line, argv + optind, (size_t)(argc - optind));
	free(line.init.hosts);
	free(line.init.users);
	free(line.init.names);
	return ret;
}
