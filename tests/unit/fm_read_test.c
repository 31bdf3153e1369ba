// SPDX-License-Identifier: GPL-2.0-only
// sources: fm/config.c fm/account.c fm/agent.c fm/channel.c fm/qmp.c fm/answer.c ctl/base/conf.c ctl/base/text.c ctl/base/fault.c
// packages: json-c gnutls libcrypt
/* What the fabric manager reads: its configuration, accounts, tags, and what QEMU says. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/account.h"
#include "fm/agent.h"
#include "fm/answer.h"
#include "fm/config.h"
#include "fm/qmp.h"
#include "tap.h"

#define HOST "[host.a]\nqmp = /run/a\nports = dn0 dn1\n"
#define GPU "[gpu.g]\ndevice = secondary-vga,vgamem_mb=64\n"
#define PAX "[switch]\ndriver = switchtec\ndevice = /dev/switchtec0\n"
#define SIM "[switch]\ndriver = sim\n"
#define SIM_HOST "[host.a]\nagent = /run/a\nports = 0.0 0.10\n"
#define PAX_HOST "[host.a]\nupstream = 0/8\nports = 0 1\n"

static void configuration(void)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "[manager]\nlisten = 8443\n", "not an address with a port" },
		{ "[manager]\nlisten = ::1:8443\n", "not an address with a port" },
		{ "[manager]\nlisten = a:70000\n", "not an address with a port" },
		{ "[manager]\nfabric = a/b\n", "is not a valid name" },
		{ "[manager]\nconnections = 0\n", "outside" },
		{ "[manager]\nconnections = 5\nconnections = 5\n", "given twice" },
		{ "[manager]\nclient_certificates = maybe\n", "required or optional" },
		{ "[manager]\nunbind_timeout = 1h\n", "not a duration" },
		{ "[manager]\ncolour = red\n", "no key \"colour\"" },
		{ "[nonsense]\n", "none of [manager]" },
		{ "[host.a]\nports = dn0\n", "has no qmp" },
		{ "[host.a]\nqmp = /run/a\n", "has no ports" },
		{ "[host.a]\nqmp = run/a\n", "path of a socket" },
		{ "[host.a]\nqmp = /run/a\nports = dn0 dn0\n", "listed twice" },
		{ HOST HOST, "appears twice" },
		{ HOST "[host.b]\nqmp = /run/a\nports = dn0\n", "the same qmp" },
		{ HOST "fence = now\n", "path of a program" },
		{ HOST "fence = lease\nlease = 4s\n", "from 5s to 1h" },
		{ HOST "fence = lease\nlease = 61min\n", "from 5s to 1h" },
		{ HOST "fence = lease\nlease = 6s\nlease = 6s\n", "given twice" },
		{ HOST "lease = 6s\n" GPU, "has lease without fence = lease" },
		{ HOST "fence = lease\nfence = lease\n", "given twice" },
		{ HOST "[gpu.a]\ndevice = x\n", "is a host already" },
		{ "[gpu.g]\npci = 10de:2331\n", "has no device" },
		{ GPU "pci = 10de\n", "vendor:device" },
		{ GPU "pci = 10de:23310\n", "vendor:device" },
		{ GPU "class = 3\n", "six hexadecimal" },
		{ HOST "upstream = 0/8\n", "which the driver qmp does not use" },
		{ GPU "pdfid = 1\n", "which the driver qmp does not use" },
		{ "[switch]\ndevice = /dev/switchtec0\n", "which the driver qmp does not use" },
		{ "[switch]\ndriver = switchtec\n", "has no device" },
		{ "[switch]\ndriver = liqid\n", "qmp, switchtec or sim" },
		{ PAX "driver = switchtec\n", "given twice" },
		{ PAX "device = /dev/switchtec1\n", "given twice" },
		{ "[switch]\ndevice = switchtec0\n", "a path such as" },
		{ "[switch]\ndevice = unix:pax\n", "a path such as" },
		{ PAX "colour = red\n", "no key \"colour\"" },
		{ PAX "[host.a]\nports = 0\n", "has no upstream" },
		{ PAX "[host.a]\nupstream = 0/8\n", "has no ports" },
		{ PAX "[host.a]\nupstream = 8\n", "SWITCH/PORT" },
		{ PAX "[host.a]\nupstream = 16/8\n", "SWITCH/PORT" },
		{ PAX "[host.a]\nupstream = 0/256\n", "SWITCH/PORT" },
		{ PAX PAX_HOST "upstream = 0/9\n", "given twice" },
		{ PAX PAX_HOST "qmp = /run/a\n", "has qmp, which the driver switchtec" },
		{ PAX PAX_HOST "agent = /run/a\n", "has agent, which the driver switchtec" },
		{ HOST "agent = /run/a\n", "has agent, which the driver qmp" },
		{ GPU "card = h200\n", "which only the driver sim uses" },
		{ PAX PAX_HOST "fence = /bin/true\n", "has fence" },
		{ PAX "[host.a]\nupstream = 0/8\nports = dn0\n", "not the number of a logical port" },
		{ PAX "[host.a]\nupstream = 0/8\nports = 256\n", "not the number of a logical port" },
		{ PAX "[host.a]\nupstream = 0/8\nports = 01\n", "not the number of a logical port" },
		{ PAX "[host.a]\nupstream = 0/8\nports = 0x1\n", "not the number of a logical port" },
		{ PAX PAX_HOST "[host.b]\nupstream = 0/8\nports = 0\n", "the same upstream" },
		{ PAX GPU, "either endpoint or pdfid" },
		{ PAX "[gpu.g]\npci = 10de:2331\n", "either endpoint or pdfid" },
		{ PAX "[gpu.g]\nendpoint = 0/24\npdfid = 1\n", "either endpoint or pdfid" },
		{ PAX "[gpu.g]\npdfid = 0xffff\n", "pdfid must be a number" },
		{ PAX "[gpu.g]\npdfid = 1\npdfid = 1\n", "given twice" },
		{ PAX "[gpu.g]\npdfid = 1\n[gpu.h]\npdfid = 0x1\n", "are the same GPU" },
		{ PAX "[gpu.g]\nendpoint = 0/24\n[gpu.h]\nendpoint = 0/24\n", "are the same GPU" },
		{ SIM "[host.a]\nports = 0.0\n", "has no agent" },
		{ SIM "[host.a]\nagent = run/a\nports = 0.0\n", "agent must be the path of a socket" },
		{ SIM SIM_HOST "qmp = /run/b\n", "has qmp, which the driver sim" },
		{ SIM SIM_HOST "upstream = 0/8\n", "has upstream, which the driver sim" },
		{ SIM SIM_HOST "fence = qmp-gone\n", "has no QMP socket" },
		{ SIM "[host.a]\nagent = /run/a\nports = dn0\n", "not a slot of a simulator" },
		{ SIM "[host.a]\nagent = /run/a\nports = 0.x\n", "not a slot of a simulator" },
		{ SIM "[host.a]\nagent = /run/a\nports = 0.1.2\n", "not a slot of a simulator" },
		{ SIM SIM_HOST "[host.b]\nagent = /run/a\nports = 0.0\n", "the same agent" },
		{ SIM "device = /dev/switchtec0\n", "which the driver sim does not use" },
		{ SIM "[gpu.g]\nserial = 6767000000000001\n", "has no card" },
		{ SIM "[gpu.g]\ncard = h200\n", "needs a serial of 16" },
		{ SIM "[gpu.g]\ncard = h200\nserial = 676700000000000A\n", "needs a serial of 16" },
		{ SIM "[gpu.g]\ncard = h200\nserial = 0000000000000000\n", "needs a serial of 16" },
		{ SIM "[gpu.g]\ncard = h200; x\n", "a card of the simulator" },
		{ SIM GPU, "which the driver sim does not use" },
		{ SIM "[gpu.g]\ncard = h200\nserial = 6767000000000001\n[gpu.h]\ncard = l40s\nserial = 6767000000000001\n", "are the same GPU" },
	};
	struct config config;
	struct fault f;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		f.text[0] = '\0';
		ok(config_parse("fm.conf", bad[i].text, strlen(bad[i].text), &config, &f) && strstr(f.text, bad[i].why) &&
		   !strncmp(f.text, "fm.conf", 7), "refused: %s", f.text);
		config_free(&config);
	}
	ok(!config_parse("x", HOST "fence = qmp-gone\n" GPU "pci = 10de:2331\nclass = 030200\n",
			 strlen(HOST "fence = qmp-gone\n" GPU "pci = 10de:2331\nclass = 030200\n"), &config, &f),
	   "a good one");
	ok(config.host_count == 1 && config.hosts[0].port_count == 2 && config.hosts[0].fence == FENCE_QMP_GONE &&
	   config.gpus[0].pci[0] == 0x10de && config.gpus[0].pci[1] == 0x2331 && config.gpus[0].pci[2] < 0 &&
	   config.gpus[0].class_code == 0x30200 && config.certificate_needed, "is what it says");
	config_free(&config);
	ok(!config_parse("x", PAX_HOST "[gpu.g]\npdfid = 0x0f01\n[gpu.h]\nendpoint = 15/255\n" PAX,
			 strlen(PAX_HOST "[gpu.g]\npdfid = 0x0f01\n[gpu.h]\nendpoint = 15/255\n" PAX), &config, &f),
	   "a good one of a PAX");
	ok(config.driver == DRIVER_SWITCHTEC && config.hosts[0].upstream[1] == 8 && config.gpus[0].pdfid == 0xf01 &&
	   config.gpus[0].endpoint[0] < 0 && config.gpus[1].endpoint[0] == 15 && config.gpus[1].endpoint[1] == 255 &&
	   config.gpus[1].pdfid < 0, "is what it says, too");
	config_free(&config);
}

/* What an agent of the simulator answers. */
static void agents(void)
{
	static const char *const bad[] = {
		"", "done", "x done", "1", "1 ", "1 ok", "1  done", "-1 done", "1 done ", "1 done 2", "1 card", "1 card 0.0", "1 card 0.0 ",
		"1 card 0.0 1", "1 card 0.0 6767000000000001 x", "1 card  6767000000000001", "1 card 0.0 0000000000000000", "18446744073709551616 done",
	};
	struct agent_line said;
	struct fault f;
	char line[300];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(agent_read(bad[i], strlen(bad[i]), &said, &f) == -EPROTO, "no answer of an agent: \"%s\"", bad[i]);
	memset(line, '1', sizeof(line));
	ok(agent_read(line, sizeof(line), &said, &f) == -EPROTO, "nor is one of 300 characters");
	ok(agent_read("1 done\0", 7, &said, &f) == -EPROTO, "nor one with a NUL");
	ok(!agent_read("7 done", 6, &said, &f) && said.kind == AGENT_DONE && said.id == 7, "done");
	ok(!agent_read("7 refused a\033b", 13, &said, &f) && said.kind == AGENT_REFUSED && !strchr(said.text, '\033'), "a refusal, tamed");
	ok(!agent_read("7 refused", 9, &said, &f) && *said.text, "a refusal without a reason has one");
	ok(!agent_read("8 card 0.3 67670000000000ab", 27, &said, &f) && said.kind == AGENT_CARD && !strcmp(said.port, "0.3") &&
		   !strcmp(said.serial, "67670000000000ab"),
	   "a card");
}

static void accounts(void)
{
	static const char *const bad[] = {
		"a", "a:b", "a:Host", "a:Host:", "a:Nobody:x", "-:Host:x", "a:Host:x:y", "a:Host:x\na:Host:y", ":Host:x",
	};
	struct account_list list;
	struct account_limit limit = { 0 };
	struct fault f = { "" };
	const struct account_user *user;
	char *hash = account_hash("secret one"), *text = mem_printf("# all\n\nadmin:Administrator:%s\nhost-1:Host:*\n", hash);
	char key[LIMIT_KEY_MAX], first[LIMIT_KEY_MAX];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ok(account_parse("p", bad[i], strlen(bad[i]), &list, &f), "refused: %s", f.text);
		account_free(&list);
	}
	ok(!account_parse("p", text, strlen(text), &list, &f) && list.count == 2, "two accounts");
	user = account_find(&list, "admin");
	ok(user && user->account.role == ROLE_ADMIN && account_matches(user, "secret one"), "the right password");
	ok(user && !account_matches(user, "secret two") && !account_matches(user, ""), "a wrong one");
	ok(!account_matches(account_find(&list, "host-1"), "*") && !account_matches(NULL, "x"), "no hash, no user");
	account_free(&list);
	free(text);
	free(hash);
	for (i = 0; i < LIMIT_FAILURES; i++) {
		ok(!limit_wait(&limit, "user a", 1000 + i), "failure %zu", i + 1);
		limit_failed(&limit, "user a", 1000 + i);
	}
	is_int((int)limit_wait(&limit, "user a", 2000), LIMIT_WINDOW_MS - 1000, "then one waits for the end of the minute");
	ok(!limit_wait(&limit, "user b", 2000), "others do not");
	ok(limit_wait(&limit, "user a", 999), "who asked before the first had failed waits, too");
	limit_failed(&limit, "user a", 999);
	ok(limit_wait(&limit, "user a", 2000), "and if that fails at last nothing counts anew");
	limit_address("2001:db8:1:2:3:4:5:6", first);
	limit_address("2001:db8:1:2:ffff::1", key);
	is_str(first, key, "addresses of one network of 64 bits count as one");
	limit_address("2001:db8:1:3::1", key);
	ok(strcmp(first, key), "and another network as another");
	limit_address("192.0.2.1", key);
	is_str(key, "address 192.0.2.1", "each of IPv4 by itself");
	ok(!limit_wait(&limit, "user a", 1000 + LIMIT_WINDOW_MS), "until it is over");
	limit_failed(&limit, "user a", 1000 + LIMIT_WINDOW_MS);
	ok(!limit_wait(&limit, "user a", 1000 + LIMIT_WINDOW_MS), "and it counts anew");
	for (i = 0; i < 3 * LIMIT_PLACES; i++) {
		snprintf(key, sizeof(key), "address %zu", i);
		limit_failed(&limit, key, 70000 + i);
	}
	ok(!limit_wait(&limit, key, 80000), "many addresses: the table stays as it is");
}

static void tags(void)
{
	static const char tag[] = "\"0123456789abcdef0123\"";
	struct json_object *a = json_tokener_parse("{\"x\":1}"), *b = json_tokener_parse("{\"x\":2,\"@odata.etag\":\"y\"}");
	char one[ANSWER_ETAG], two[ANSWER_ETAG];

	ok(answer_tag_matches(tag, tag) && answer_tag_matches("*", tag), "a tag matches itself, and anything matches *");
	ok(answer_tag_matches("\"a\", \"0123456789abcdef0123\"", tag) && answer_tag_matches("W/\"0123456789abcdef0123\"", tag),
	   "lists, weak ones");
	ok(!answer_tag_matches("", tag) && !answer_tag_matches("\"0123456789abcdef012\"", tag) &&
	   !answer_tag_matches("\"0123456789abcdef0123", tag) && !answer_tag_matches("0123456789abcdef0123", tag) &&
	   !answer_tag_matches("\"\"", tag) && !answer_tag_matches(",,,W/", tag), "anything else does not");
	answer_tag(a, one);
	answer_tag(b, two);
	ok(strcmp(one, two) && strlen(one) == strlen(tag), "what differs has another tag");
	json_object_object_add(a, "@odata.etag", json_object_new_string(one));
	answer_tag(a, two);
	is_str(one, two, "the tag itself does not count");
	json_object_put(a);
	json_object_put(b);
}

static void lines(void)
{
	static const char *const bad[] = {
		"", "{", "[]", "1", "{}", "{\"return\":{},\"id\":\"x\"}", "{\"event\":1}", "{\"return\":{}} x", "{\"event\":\"\xff\"}",
	};
	static const char error[] = "{\"error\":{\"class\":\"C\",\"desc\":\"a\\nb\"},\"id\":7}";
	struct qmp_message message;
	struct fault f = { "" };
	char *deep = mem_zalloc(5001, 1);
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_int(qmp_read(bad[i], strlen(bad[i]), &message, &f), -EPROTO, f.text);
	memset(deep, '[', 5000);
	is_int(qmp_read(deep, 5000, &message, &f), -EPROTO, "a deep one");
	free(deep);
	ok(!qmp_read(error, strlen(error), &message, &f) && message.kind == QMP_ERROR &&
	   message.id == 7 && !strcmp(message.word, "C") && !strchr(message.text, '\n'), "an error, tamed");
	qmp_message_free(&message);
}

/* --- a QEMU that follows a script ------------------------------------------------- */

struct script {
	int listener;
	const char *const *say;	/* each after a line was received; "" says nothing, "!" closes */
};

static void *play(void *arg)
{
	const struct script *script = arg;
	int fd = accept(script->listener, NULL, NULL);
	char buf[4096];
	size_t i;

	for (i = 0; script->say[i]; i++) {
		if (!strcmp(script->say[i], "!"))
			break;
		if (send(fd, script->say[i], strlen(script->say[i]), MSG_NOSIGNAL) < 0 || recv(fd, buf, sizeof(buf), 0) <= 0)
			break;
	}
	close(fd);
	return NULL;
}

#define HELLO "{\"QMP\":{\"version\":{},\"capabilities\":[]}}\r\n", "{\"return\":{},\"id\":1}\r\n"

/* Connects and asks one thing; what became of it. */
static int with_script(const char *const *say, struct qmp *qmp, struct fault *f)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct script script = { .listener = socket(AF_UNIX, SOCK_STREAM, 0), .say = say };
	pthread_t thread;
	int err;

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/fm-read-test.%d", getpid());
	unlink(address.sun_path);
	if (bind(script.listener, (struct sockaddr *)&address, sizeof(address)) || listen(script.listener, 1))
		return -1;
	pthread_create(&thread, NULL, play, &script);
	f->text[0] = '\0';
	err = qmp_connect(qmp, address.sun_path, -1, 5000, f);
	if (!err)
		err = qmp_agree(qmp, 5000, f);
	if (!err)
		err = qmp_command(qmp, "device_add", NULL, 5000, NULL, f);
	shutdown(qmp->channel.fd, SHUT_WR);
	pthread_join(thread, NULL);
	close(script.listener);
	unlink(address.sun_path);
	return err;
}

static void peers(void)
{
	static char huge[3 << 20];
	static const char event[] = "{\"event\":\"DEVICE_DELETED\",\"data\":{\"device\":\"g\",\"path\":\"/x\"}}\r\n";
	struct qmp qmp = { .channel.fd = -1 };
	struct fault f;
	struct text many = { 0 };
	char id[QMP_WORD_MAX];
	int i, n = 0;

	is_int(with_script((const char *const[]){ HELLO, "{\"return\":{},\"id\":2}\n", NULL }, &qmp, &f), 0, "a good answer");
	qmp_close(&qmp);
	is_int(with_script((const char *const[]){ HELLO, "{\"error\":{\"class\":\"G\",\"desc\":\"no\"},\"id\":2}\n", NULL }, &qmp, &f),
	       -EREMOTEIO, "a refusal");
	is_str(f.text, "no", "with its reason");
	ok(qmp.channel.fd >= 0, "which leaves the connection");
	qmp_close(&qmp);
	is_int(with_script((const char *const[]){ "!", NULL }, &qmp, &f), -EPIPE, "closed before the greeting");
	is_int(with_script((const char *const[]){ "hello\n", NULL }, &qmp, &f), -EPROTO, "no greeting");
	is_int(with_script((const char *const[]){ "{\"return\":{}}\n", NULL }, &qmp, &f), -EPROTO, "an answer instead of it");
	is_int(with_script((const char *const[]){ HELLO, "!", NULL }, &qmp, &f), -EPIPE, "closed instead of an answer");
	is_int(with_script((const char *const[]){ HELLO, "{\"return\":{},\"id\":9}\n", NULL }, &qmp, &f), -EPROTO,
	       "an answer to what was not asked");
	ok(qmp.channel.fd < 0, "which ends the connection");
	memset(huge, 'x', sizeof(huge) - 1);
	is_int(with_script((const char *const[]){ HELLO, huge, NULL }, &qmp, &f), -EPROTO, "a line without an end");
	text_add(&many, "%s%s{\"return\":{},\"id\":2}\r\n", event, event);
	is_int(with_script((const char *const[]){ HELLO, many.text, NULL }, &qmp, &f), 0, "events before the answer");
	while (qmp_next_gone(&qmp, id))
		n += !strcmp(id, "g");
	is_int(n, 2, "are kept");
	qmp_close(&qmp);
	free(many.text);
	many = (struct text){ 0 };
	for (i = 0; i < 1000; i++)
		text_add(&many, "%s", event);
	text_add(&many, "{\"return\":{},\"id\":2}\r\n");
	is_int(with_script((const char *const[]){ HELLO, many.text, NULL }, &qmp, &f), 0, "a thousand events");
	ok(qmp_lost_events(&qmp) && !qmp_lost_events(&qmp), "too many to keep, which is said once");
	qmp_close(&qmp);
	free(many.text);
	is_int(qmp_connect(&qmp, "/nowhere/at/all", -1, 100, &f), -ENOENT, "no socket");
}

int main(void)
{
	configuration();
	agents();
	accounts();
	tags();
	lines();
	peers();
	return tap_done();
}
