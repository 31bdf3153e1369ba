// SPDX-License-Identifier: GPL-2.0-only
// sources: fm/query.c fm/body.c fm/manifest.c fm/agent.c fm/channel.c fm/sim_command.c fm/answer.c fm/qmp.c fm/config.c fm/account.c ctl/base/conf.c ctl/base/text.c ctl/base/fault.c
// packages: json-c gnutls libcrypt
/*
 * What clients send to the fabric manager, what a QEMU answers, its files, and what comes to the
 * agent of a simulator. The first byte says which; each refusal is one line, and one to a client
 * has a status.
 */
#include "fm/account.h"
#include "fm/agent.h"
#include "fm/body.h"
#include "fm/config.h"
#include "fm/qmp.h"
#include "fm/query.h"
#include "fm/sim_command.h"
#include "fuzz.h"

static void is_refused(const struct answer *answer)
{
	struct json_object *error, *text;

	must(answer->status >= 400 && answer->status < 600);
	must(json_object_object_get_ex(answer->body, "error", &error));
	must(json_object_object_get_ex(error, "message", &text));
	must(fuzz_is_line(json_object_get_string(text)));
}

static void zone_is_good(const struct body_zone *zone)
{
	size_t i;

	must(zone->member_count <= BODY_LINKS_MAX && zone->wish_count <= BODY_LINKS_MAX);
	for (i = 0; i < zone->member_count; i++)
		must(*zone->members[i] && strlen(zone->members[i]) <= BODY_URI_MAX);
	for (i = 0; i < zone->wish_count; i++)
		must(*zone->wish_endpoint[i] && *zone->wish_port[i]);
}

static void fuzz_zone(const char *text, size_t size, bool system)
{
	struct answer answer = { 0 };
	struct body_zone zone;

	if ((system ? body_read_system : body_read_zone)(text, size, &zone, &answer)) {
		must(!answer.status && (!system || !zone.wish_count));
		zone_is_good(&zone);
	} else {
		is_refused(&answer);
	}
	body_free_zone(&zone);
	answer_free(&answer);
}

static void fuzz_manifest(const char *text, size_t size)
{
	struct body_manifest manifest;
	struct answer answer = { 0 };
	struct json_object *stanzas;
	size_t i;

	if (body_read_manifest(text, size, &manifest, &answer)) {
		must(!answer.status && manifest.count && manifest.count <= BODY_STANZAS_MAX);
		must(json_object_object_get_ex(manifest.given, "Stanzas", &stanzas));
		must(json_object_array_length(stanzas) == manifest.count);
		for (i = 0; i < manifest.count; i++) {
			must(!manifest.stanzas[i].decompose || manifest.stanzas[i].system);
			must(!manifest.stanzas[i].system || strlen(manifest.stanzas[i].system) <= BODY_URI_MAX);
			zone_is_good(&manifest.stanzas[i].zone);
		}
	} else {
		is_refused(&answer);
	}
	body_free_manifest(&manifest);
	answer_free(&answer);
}

static void fuzz_action(const char *text, size_t size)
{
	struct answer answer = { 0 };
	struct body_action action;
	struct body_login login;

	if (body_read_action(text, size, true, &action, &answer))
		must(!answer.status && action.endpoint);
	else
		is_refused(&answer);
	body_free_action(&action);
	answer_free(&answer);
	if (body_read_login(text, size, &login, &answer))
		must(login.user && login.password);
	else
		is_refused(&answer);
	body_free_login(&login);
	answer_free(&answer);
}

static void fuzz_qmp(const char *text, size_t size)
{
	struct qmp_message message;
	struct fault f = { "" };

	if (qmp_read(text, size, &message, &f))
		must(fuzz_is_line(f.text));
	else
		must((message.kind == QMP_ERROR) == !!message.text);
	qmp_message_free(&message);
}

static void fuzz_agent(const char *text, size_t size)
{
	struct agent_line said;
	struct fault f = { "" };

	if (agent_read(text, size, &said, &f))
		must(fuzz_is_line(f.text));
	else if (said.kind == AGENT_REFUSED)
		must(fuzz_is_line(said.text));
	else if (said.kind == AGENT_CARD)
		must(*said.port && agent_serial_valid(said.serial));
}

/* Commands of a connection, as the agent takes them. */
static void fuzz_commands(const char *text, size_t size)
{
	struct sim_line line = { 0 };
	struct sim_command command;
	size_t i;

	for (i = 0; i < size; i++) {
		if (!sim_line_take(&line, text[i]) || !sim_command_read(&line, &command))
			continue;
		must(*command.id && strspn(command.id, "0123456789") == strlen(command.id));
		if (command.refusal) {
			must(fuzz_is_line(command.refusal));
			continue;
		}
		must(!line.broken && strrchr(line.text, '.') && line.len <= SIM_LINE_MAX);
		if (command.verb == SIM_PUT || command.verb == SIM_PULL)
			must(agent_serial_valid(command.serial));
		if (command.verb == SIM_PUT)
			must(*command.slot && *command.card && !strpbrk(command.card, "\t=.") &&
			     strlen(command.card) < line.len);
	}
}

static void fuzz_files(const char *text, size_t size)
{
	struct account_list list;
	struct config config;
	struct fault f = { "" };

	if (config_parse("x", text, size, &config, &f))
		must(fuzz_is_line(f.text));
	else
		must(config.listen && config.fabric);
	config_free(&config);
	f.text[0] = '\0';
	if (account_parse("x", text, size, &list, &f))
		must(fuzz_is_line(f.text));
	account_free(&list);
}

static void fuzz_tag(const char *text, size_t size)
{
	static const char tag[] = "\"0123456789abcdef0123\"";
	char *list = fuzz_text(text, size);

	if (answer_tag_matches(list, tag))
		must(strchr(list, '*') || strstr(list, tag));
	free(list);
}

/* "$select=Id&$top=3", as the transport takes it apart, then a document that it is about. */
static void fuzz_query(const char *text, size_t size)
{
	static const char document[] =
		"{\"@odata.id\":\"/a\",\"Members@odata.count\":1,\"Id\":\"a\",\"Members\":[{\"@odata.id\":\"/b\"},"
		"{\"@odata.id\":\"/c\",\"Id\":\"c\",\"Links\":{\"Zones\":[{\"@odata.id\":\"/a\"}]}}]}";
	char *copy = fuzz_text(text, size), *at = copy, *key, *value, *again;
	struct json_object *body = json_tokener_parse(document), *id;
	struct query query = { 0 }, same = { 0 };
	struct answer answer = { 0 };
	bool good = true;
	unsigned int i;

	while (good && (key = strsep(&at, "&"))) {
		value = strchr(key, '=');
		if (value)
			*value++ = '\0';
		good = query_take(&query, key, value, &answer);
	}
	if (good) {
		must(!answer.status && query.levels <= QUERY_LEVELS_MAX && query.expand == !!query.levels);
		must(query.select_count <= QUERY_SELECT_MAX);
		query_select(&query, body);
		must(json_object_object_get_ex(body, "@odata.id", &id));
		must(json_object_object_get_ex(body, "Members", NULL) || query.select_count);
		/* What is the same on the next page is understood there, too. */
		again = query_text(&query);
		for (at = again; (key = strsep(&at, "&"));) {
			value = strchr(key, '=');
			must(!*key || value);
			if (value)
				*value++ = '\0';
			must(strpbrk(value ? value : "", "#%") || query_take(&same, key, value, &answer));
		}
		must(same.expand == query.expand || strchr(again, '%'));
		for (i = 0; i < same.select_count; i++)
			must(!strcmp(same.select[i], query.select[i]));
		free(again);
	} else {
		is_refused(&answer);
	}
	json_object_put(body);
	query_free(&query);
	query_free(&same);
	answer_free(&answer);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy;

	if (!size)
		return 0;
	copy = fuzz_behind(data, size--);
	if (*data == 'z')
		fuzz_zone(copy, size, false);
	else if (*data == 's')
		fuzz_zone(copy, size, true);
	else if (*data == 'm')
		fuzz_manifest(copy, size);
	else if (*data == 'a')
		fuzz_action(copy, size);
	else if (*data == 'g')
		fuzz_agent(copy, size);
	else if (*data == 'c')
		fuzz_commands(copy, size);
	else if (*data == 'q')
		fuzz_qmp(copy, size);
	else if (*data == 't')
		fuzz_tag(copy, size);
	else if (*data == 'u')
		fuzz_query(copy, size);
	else
		fuzz_files(copy, size);
	free(copy);
	return 0;
}
