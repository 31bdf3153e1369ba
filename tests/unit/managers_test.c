// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/managers/conf.c ctl/managers/inventory.c ctl/managers/bringing.c ctl/driver/doc.c ctl/redfish/link.c ctl/base/conf.c ctl/base/conf_dir.c ctl/base/fault.c ctl/base/jread.c ctl/base/text.c ctl/base/tree.c ctl/base/trust.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c
// packages: json-c
/* Files of fabric.d, and what the program of a driver answers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "managers/inventory.h"
#include "managers/bringing.h"
#include "redfish/link.h"
#include "tap.h"

#define FIRST "driver = redfish\nurl = https://fm:8443\nhost = a\n"
#define LOGIN "credentials = /l\n"
#define LIQID "driver = liqid\nurl = https://d\nhost = a\n" LOGIN
#define KEY "-----BEGIN PRIVATE KEY-----\nBBB=\n-----END PRIVATE KEY-----\n"

static void good_files(void)
{
	static const char text[] =
		"# a rack\n" FIRST "ca = inline\ncertificate = inline\nkey = inline\nfabric = PCIe\n"
		"way = actions\ntimeout = 2min\nreturn_after = never\n"
		"ports = 101=sw0/dn0 102=sw0/dn1\nports = 0000:02:00.0=/redfish/v1/Fabrics/1/Switches/2/Ports/3\n"
		"kinds = 10de:2331=h100-pcie-80 0x10DE:26b9=l40s\n"
		"-----BEGIN CERTIFICATE-----\nCA\n-----END CERTIFICATE-----\n"
		"-----BEGIN CERTIFICATE-----\nOURS\n-----END CERTIFICATE-----\n" KEY;
	struct manager_conf conf;
	struct fault f = { "" };

	ok(!manager_conf_parse("/etc/rack1.conf", text, strlen(text), &conf, &f), "a whole file: %s", f.text);
	is_str(conf.name, "rack1", "its name");
	is_str(conf.url, "https://fm:8443", "where it is");
	is_int((int)conf.way, MANAGER_ACTIONS, "the way");
	ok(conf.timeout_ms == 120000 && conf.return_ms == MANAGER_RETURN_NEVER, "the times");
	ok(conf.n_ports == 3 && !strcmp(manager_port_of(&conf, "102"), "sw0/dn1"), "ports, in several lines");
	is_str(manager_slot_of(&conf, "/redfish/v1/Fabrics/1/Switches/2/Ports/3"), "0000:02:00.0", "also as paths");
	ok(conf.n_kinds == 2 && conf.kinds[1].vendor == 0x10de && conf.kinds[1].device == 0x26b9, "kinds");
	ok(conf.authorities.pem && strstr(conf.authorities.pem, "CA") && !strstr(conf.authorities.pem, "OURS"),
	   "the first block is the authority");
	ok(conf.certificate.pem && strstr(conf.certificate.pem, "OURS"), "the second ours");
	ok(conf.key.pem && strstr(conf.key.pem, "BBB="), "and the key is there");
	manager_conf_free(&conf);
	ok(!manager_conf_parse("b.conf", FIRST LOGIN "login = basic\n", strlen(FIRST LOGIN "login = basic\n"), &conf, &f) &&
	   conf.basic && conf.timeout_ms == 60000 && conf.return_ms == 600000, "a short one, with what is usual");
	manager_conf_free(&conf);
	ok(!manager_conf_parse("c.conf", LIQID "ports = 101 102\np2p = on\n", strlen(LIQID "ports = 101 102\np2p = on\n"), &conf, &f) &&
	   conf.driver == MANAGER_LIQID && conf.n_ports == 2 && conf.p2p && !strcmp(conf.p2p, "on") && !strcmp(manager_port_of(&conf, "102"), "102"),
	   "one of a Liqid director, with slots alone: %s", f.text);
	manager_conf_free(&conf);
}

static void bad_files(void)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
		{ "", "a.conf: driver is missing" },
		{ FIRST, "a.conf: certificate and key, or credentials, are needed" },
		{ FIRST "key = /k\n", "a.conf: certificate and key go together" },
		{ FIRST LOGIN "wat = 1\n", "a.conf:5: unknown key \"wat\"" },
		{ FIRST LOGIN "host = b\n", "a.conf:5: host is given twice, first in line 3" },
		{ FIRST LOGIN "[section]\n", "a.conf:5: neither key = value" },
		{ FIRST LOGIN "way = zones\n", "a.conf:5: way: \"zones\"" },
		{ FIRST LOGIN "timeout = 5\n", "a.conf:5: timeout: \"5\" is not a time" },
		{ FIRST LOGIN "timeout = 11min\n", "a.conf:5: timeout" },
		{ FIRST LOGIN "return_after = soon\n", "a.conf:5: return_after: \"soon\" is neither a time" },
		{ FIRST LOGIN "ports = 101\n", "a.conf:5: ports: \"101\": write SLOT=SWITCH/PORT" },
		{ FIRST LOGIN "ports = 101=sw0\n", "a.conf:5: ports: \"101\": write" },
		{ FIRST LOGIN "ports = 101=sw0/a/b\n", "a.conf:5: ports: \"101\": write" },
		{ FIRST LOGIN "ports = 101=s/p 101=s/q\n", "a.conf:5: ports: 101=s/q: the slot or the port is there twice" },
		{ FIRST LOGIN "ports = 101=s/p 102=s/p\n", "a.conf:5: ports: 102=s/p" },
		{ FIRST LOGIN "ports = 101=/redfish/v1/../x\n", "a.conf:5: ports" },
		{ FIRST LOGIN "kinds = 10de=h100\n", "a.conf:5: kinds" },
		{ FIRST LOGIN "kinds = 10de:23311=h100\n", "a.conf:5: kinds" },
		{ FIRST "credentials = l\n", "a.conf:4: credentials: \"l\" is not a path that begins with /" },
		{ FIRST LOGIN "ca = inline\n", "a.conf: the file has 0 certificates" },
		{ FIRST LOGIN KEY, "a.conf: key = inline is missing, but the file has a key" },
		{ FIRST LOGIN "-----BEGIN CERTIFICATE-----\nAA\n", "a.conf:5: the block has no END line" },
		{ FIRST LOGIN "-----BEGIN CERTIFICATE-----\nA A!\n", "a.conf:6: this is not a line of a PEM block" },
		{ FIRST LOGIN "-----BEGIN ENCRYPTED PRIVATE KEY-----\n", "a.conf:5: neither a certificate nor a key" },
		{ FIRST LOGIN "login = digest\n", "a.conf:5: login" },
		{ FIRST "certificate = /c\nkey = /k\nlogin = basic\n", "a.conf:6: login is for credentials" },
		{ "driver = cxl\n", "a.conf:1: driver: \"cxl\": redfish or liqid" },
		{ FIRST LOGIN "p2p = on\n", "a.conf:5: p2p is for driver = liqid" },
		{ "driver = liqid\nurl = https://d\nhost = a\n", "a.conf: driver = liqid needs credentials" },
		{ "driver = liqid\nurl = https://d\nhost = a\ncertificate = /c\nkey = /k\n",
		  "a.conf: driver = liqid needs credentials" },
		{ LIQID "p2p = maybe\n", "a.conf:5: p2p: \"maybe\": on or off" },
		{ LIQID "login = session\n", "a.conf:5: login is for driver = redfish" },
		{ LIQID "fabric = 1\n", "a.conf:5: fabric is for driver = redfish" },
		{ LIQID "ports = 101=sw0/dn0\n", "a.conf:5: ports: \"101=sw0/dn0\": write names of slots alone" },
		{ LIQID "ports = 101 101\n", "a.conf:5: ports: 101=101: the slot or the port is there twice" },
		{ "ports = 101=s/p\ndriver = liqid\n", "a.conf:2: driver must come before ports" },
		{ "url = http://fm\n", "a.conf:1: url: write https://" },
		{ "url = https://u:p@fm\n", "a.conf:1: url" },
		{ "url = https://fm/x\n", "a.conf:1: url" },
		{ "url = https://fm:0\n", "a.conf:1: url" },
		{ "url = https://:80\n", "a.conf:1: url" },
		{ "host = a b\n", "a.conf:1: host" },
		{ "host = ../x\n", "a.conf:1: host" },
	};
	struct manager_conf conf;
	struct fault f;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f.text[0] = '\0';
		ok(manager_conf_parse("a.conf", rows[i].text, strlen(rows[i].text), &conf, &f) < 0 &&
		   !strncmp(f.text, rows[i].said, strlen(rows[i].said)), "%s [%s]", rows[i].said, f.text);
		manager_conf_free(&conf);
	}
	ok(manager_conf_parse("/x/.conf", FIRST LOGIN, strlen(FIRST LOGIN), &conf, &f) < 0, "a file without a name");
	manager_conf_free(&conf);
}

static void words(void)
{
	static const char *const paths[] = { "/redfish/v1", "/redfish/v1/A-b/c.d?x=1" };
	static const char *const no_paths[] = {
		"", "/", "redfish/v1", "//redfish/v1", "/redfish/v1x", "/redfish/v1/../..", "/redfish/v1/a/../b",
		"/redfish/v1//b", "/redfish/v1/a b", "/redfish/v1/\x1b", "https://x/redfish/v1", "/redfish/v1/#a",
	};
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		ok(manager_is_path(paths[i]), "a path: %s", paths[i]);
	for (i = 0; i < sizeof(no_paths) / sizeof(no_paths[0]); i++)
		ok(!manager_is_path(no_paths[i]), "path %zu is none", i);
	ok(manager_is_id("gpu-0.1_a") && !manager_is_id("") && !manager_is_id("-a") && !manager_is_id("a/b"), "Ids");
}

static int login_parse(const char *text, struct manager_login *login, struct fault *f)
{
	return manager_login_parse("l", text, strlen(text), login, f);
}

static void logins(void)
{
	struct manager_login login;
	struct fault f;

	ok(!login_parse("user = a\npassword = b # c\n", &login, &f) && !strcmp(login.password, "b # c"),
	   "user and password");
	manager_login_free(&login);
	ok(login_parse("user = a\n", &login, &f) < 0 && !strcmp(f.text, "l: password is missing"), "one without");
	manager_login_free(&login);
	ok(login_parse("user = a\nuser = b\n", &login, &f) < 0, "one with two users");
	manager_login_free(&login);
}

#define REPLY(rest) "{\"exit\":0" rest "}"
#define GPUS(list) REPLY(",\"inventory\":{\"gpus\":[" list "]}")

static void replies(struct manager_conf *conf)
{
	static const char text[] =
		GPUS("{\"id\":\"g0\",\"state\":\"free\",\"vendor\":4318,\"device\":9009},"
		     "{\"id\":\"g1\",\"state\":\"bound\",\"host\":\"a\",\"port\":\"s/p\"},"
		     "{\"id\":\"g2\",\"state\":\"bound\",\"host\":\"b\",\"port\":\"s/p2\"},"
		     "{\"id\":\"g3\",\"state\":\"unusable\",\"why\":\"Absent\\u001b\"}");
	static const char *const bad[] = {
		"", "[]", "{}", "{\"exit\":8,\"error\":\"x\"}", "{\"exit\":1}", "{\"exit\":0,\"error\":\"x\"}",
		REPLY(",\"x\":1"), REPLY(",\"outcome\":\"perhaps\""), GPUS("{}"), GPUS("{\"id\":\"a b\"}"),
		GPUS("{\"id\":\"a\"},{\"id\":\"a\"}"), GPUS("{\"id\":\"a\",\"vendor\":65536}"),
		GPUS("{\"id\":\"a\",\"state\":\"mine\"}"), GPUS("{\"id\":\"a\",\"state\":\"\"}x"), GPUS("1"),
		REPLY(",\"inventory\":{\"ports\":[{\"port\":\"other\"}]}"), REPLY(",\"inventory\":[]"),
	};
	struct manager_reply reply;
	struct fault f = { "" };
	char *who;
	size_t i;

	ok(!manager_reply_read(text, strlen(text), conf, &reply, &f), "an inventory: %s", f.text);
	is_int((int)reply.inventory.n, 4, "with its GPUs");
	is_int((int)reply.inventory.gpus[0].state, POOL_FREE, "free");
	is_int((int)reply.inventory.gpus[1].state, POOL_OURS, "ours");
	is_str(reply.inventory.gpus[1].slot, "101", "in a slot");
	ok(reply.inventory.gpus[2].state == POOL_OTHERS && !reply.inventory.gpus[2].slot, "somebody else's");
	is_str(reply.inventory.gpus[3].why, "Absent?", "no word plays with a terminal");
	ok(inventory_at(&reply.inventory, "s/p2") == &reply.inventory.gpus[2] && !inventory_find(&reply.inventory, "g9"),
	   "found by port and Id");
	who = inventory_who_has(&reply.inventory, NULL);
	is_str(who, "1 with b, 1 with this host, 1 unusable", "who has them");
	free(who);
	manager_reply_free(&reply);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ok(manager_reply_read(bad[i], strlen(bad[i]), conf, &reply, &f) < 0, "answer %zu is none: %s", i, f.text);
		manager_reply_free(&reply);
	}
}

static void documents(void)
{
	struct json_object *doc;
	struct fault f;
	char *said;

	doc = doc_parse("{\"error\":{\"message\":\"m\",\"@Message.ExtendedInfo\":[{\"Message\":\"x\\ny\"}]},\"V\":\"0x10DE\",\"W\":\"26b9\",\"@odata.id\":\"/x\"}",
			strlen("{\"error\":{\"message\":\"m\",\"@Message.ExtendedInfo\":[{\"Message\":\"x\\ny\"}]},\"V\":\"0x10DE\",\"W\":\"26b9\",\"@odata.id\":\"/x\"}"), &f);
	said = redfish_complaint(doc);
	is_str(said, "x?y", "what a manager says, in a line");
	free(said);
	ok(doc_id16(doc, "V") == 0x10de && doc_id16(doc, "W") == 0x26b9 && !doc_id16(doc, "error"), "ids");
	ok(!link_path(doc), "a path that leads elsewhere is none");
	json_object_put(doc);
}

int ctl_fail(struct ctl_ctx *ctx, enum ctl_exit code, const char *fmt, ...)
{
	(void)ctx;
	(void)fmt;
	return code;
}

static void slots_locked(void)
{
	char work[] = "/tmp/bringing-XXXXXX", *dir, *file;
	int first, other, third;

	if (!mkdtemp(work)) {
		ok(false, "a folder");
		return;
	}
	dir = mem_printf("%s/slots", work);
	file = mem_printf("%s/0000:02:00.0", dir);
	first = bringing_take(dir, "0000:02:00.0");
	ok(first >= 0, "a slot is taken, and the folder made");
	is_int(bringing_take(dir, "0000:02:00.0"), -EWOULDBLOCK, "a second request does not get it");
	ok(!bringing_look(dir, "0000:02:00.0"), "nor does it look free");
	is_int(bringing_share(dir, "0000:02:00.0"), -EWOULDBLOCK, "or can be kept");
	ok(bringing_look(dir, "101"), "another slot is free");
	is_int(bringing_share(dir, "101"), -ENOENT, "and a look has made no file for it");
	other = bringing_take(dir, "101");
	ok(other >= 0, "it is taken");
	close(first);
	ok(bringing_look(dir, "0000:02:00.0"), "who ends leaves it free");
	first = bringing_share(dir, "0000:02:00.0");
	ok(first >= 0 && bringing_look(dir, "0000:02:00.0"), "what is kept looks free");
	third = bringing_share(dir, "0000:02:00.0");
	ok(third >= 0, "several keep it");
	is_int(bringing_take(dir, "0000:02:00.0"), -EWOULDBLOCK, "from those who would take it");
	close(third);
	close(first);
	first = bringing_take(dir, "0000:02:00.0");
	ok(first >= 0, "who ends leaves it to others");
	ok(bringing_take(dir, "../x") < 0 && bringing_take(dir, "..") < 0 && bringing_take(dir, "") < 0,
	   "names that lead elsewhere");
	close(first);
	close(other);
	unlink(file);
	ok(!symlink("/dev/null", file) && bringing_take(dir, "0000:02:00.0") < 0, "nor does a link");
	unlink(file);
	free(file);
	file = mem_printf("%s/101", dir);
	unlink(file);
	rmdir(dir);
	rmdir(work);
	free(file);
	free(dir);
}

int main(void)
{
	static const char text[] = FIRST LOGIN "ports = 101=s/p\n";
	struct manager_conf conf;
	struct fault f;

	good_files();
	bad_files();
	words();
	logins();
	manager_conf_parse("a.conf", text, strlen(text), &conf, &f);
	replies(&conf);
	manager_conf_free(&conf);
	documents();
	slots_locked();
	return tap_done();
}
