// SPDX-License-Identifier: GPL-2.0-only
/* What scontrol and gpuctl print, and what is away by it. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <json-c/json.h>

#include "base/text.h"
#include "slurm/away.h"

#define COUNT_MAX 1000000
#define KIND_SIGNS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

/* The value of "KEY=VALUE" in a line of scontrol -o, with a blank or the start before it; caller frees. */
static char *line_value(const char *line, size_t len, const char *key)
{
	const size_t key_len = strlen(key);
	const char *end = line + len, *s = line;

	while (s < end) {
		size_t word = strcspn(s, "\n ");

		if (s + word > end)
			word = (size_t)(end - s);
		if (word > key_len && !strncmp(s, key, key_len) && s[key_len] == '=')
			return mem_printf("%.*s", (int)(word - key_len - 1), s + key_len + 1);
		s += word + 1;
	}
	return NULL;
}

/* "KIND:COUNT" or "KIND=COUNT" as far as the next comma. */
static bool count_read(const char *text, size_t len, char **name, unsigned int *count)
{
	char *copy = mem_printf("%.*s", (int)len, text), *mark = strpbrk(copy, ":=");
	uint64_t value = 1;
	bool good;

	if (mark)
		*mark = '\0';
	good = *copy && (!mark || text_number(mark + 1, COUNT_MAX, &value));
	*name = good ? copy : NULL;
	*count = (unsigned int)value;
	if (!good)
		free(copy);
	return good;
}

static struct away_kind *kind_find(struct away *away, const char *name)
{
	size_t i;

	for (i = 0; i < away->n_kinds; i++)
		if (!strcmp(away->kinds[i].name, name))
			return &away->kinds[i];
	return NULL;
}

static int kind_add(struct away *away, const char *name, unsigned int total, unsigned int local)
{
	/* It comes back in an option of scontrol. */
	if (away->n_kinds == AWAY_KINDS_MAX || kind_find(away, name) || !*name ||
	    name[strspn(name, KIND_SIGNS)])
		return -EINVAL;
	away->kinds[away->n_kinds++] = (struct away_kind){
		.name = mem_strdup(name),
		.total = total,
		.local = local,
	};
	return 0;
}

int away_add_local(struct away *local, const char *text)
{
	unsigned int count;
	char *name;
	int err;

	if (!strchr(text, ':') || !count_read(text, strlen(text), &name, &count))
		return -EINVAL;
	err = kind_add(local, name, 0, count);
	free(name);
	return err;
}

int away_add_host(struct away *away, const char *text)
{
	const char *mark = strchr(text, '=');

	if (!mark || mark == text || !mark[1])
		return -EINVAL;
	away->hosts = mem_push(away->hosts, away->n_hosts, sizeof(*away->hosts));
	away->hosts[away->n_hosts++] = (struct away_host){
		.host = mem_printf("%.*s", (int)(mark - text), text),
		.node = mem_strdup(mark + 1),
	};
	return 0;
}

static int licence_line(struct away *away, const struct away *local, const char *line, size_t len)
{
	char *name = line_value(line, len, "LicenseName"), *total = line_value(line, len, "Total");
	const struct away_kind *known;
	uint64_t count;
	int err = 0;

	if (name && !strncmp(name, AWAY_LICENCE, strlen(AWAY_LICENCE)) && !strchr(name, '@')) {
		const char *kind = name + strlen(AWAY_LICENCE);

		known = kind_find((struct away *)(uintptr_t)local, kind);
		err = total && text_number(total, COUNT_MAX, &count) ?
			      kind_add(away, kind, (unsigned int)count, known ? known->local : 0) :
			      -EINVAL;
	}
	free(name);
	free(total);
	return err;
}

int away_read_licences(struct away *away, const struct away *local, const char *text,
		       struct fault *f)
{
	size_t len;

	for (; *text; text += len + !!text[len]) {
		len = strcspn(text, "\n");
		if (licence_line(away, local, text, len))
			return fault_set(f, EINVAL, "scontrol show licenses: cannot read %.*s",
					 len < 80 ? (int)len : 80, text);
	}
	return 0;
}

/* The licence of "h100-pcie-80" is gf_h100-pcie-80, or else gf_h100. */
static struct away_kind *kind_of(struct away *away, const char *gpu)
{
	struct away_kind *best = NULL;
	size_t i, best_len = 0;

	for (i = 0; i < away->n_kinds; i++) {
		const char *name = away->kinds[i].name;
		const size_t len = strlen(name);

		if (!strncmp(gpu, name, len) && (!gpu[len] || gpu[len] == '-') && len > best_len) {
			best = &away->kinds[i];
			best_len = len;
		}
	}
	return best;
}

/*
 * "IDLE", "MIXED+DRAIN", "DOWN*+NOT_RESPONDING": one that is drained runs no job any more, while one
 * that is being drained still does. When slurmctld has started, nodes are UNKNOWN until they answer.
 */
static bool state_alive(const char *state)
{
	static const char *const dead[] = { "DOWN", "FUTURE", "ERROR", "FAIL" };
	const size_t len = strcspn(state, "*+~#!%$@^-");
	size_t i;

	for (i = 0; i < sizeof(dead) / sizeof(dead[0]); i++)
		if (len == strlen(dead[i]) && !strncasecmp(state, dead[i], len))
			return false;
	if (strcasestr(state, "POWERED_DOWN") || strcasestr(state, "POWERING_DOWN"))
		return false;
	return !(strcasestr(state, "DRAIN") && !strncasecmp(state, "IDLE", 4));
}

/*
 * Our word in the line of a node, NULL for none. Words of others before it may have blanks, and a
 * reason may begin like it, with a blank behind.
 */
static const char *extra_word(const char *line, size_t len)
{
	const char *end = line + len, *at = line;

	while ((at = strstr(at, AWAY_WORD)) && at < end) {
		bool begins = at > line && strchr("=; ", at[-1]);

		at += strlen(AWAY_WORD);
		if (begins && at < end && *at != ' ')
			return at;
	}
	return NULL;
}

/* @first: where the names of the node begin. */
static void node_report(struct away *away, const char *line, size_t len, size_t first)
{
	const char *word = extra_word(line, len), *end = line + len;
	struct away_kind *kind;
	unsigned int count;
	char *name;

	for (; word && word < end; word += len + 1) {
		len = strcspn(word, "\n,; ");
		if (!count_read(word, len, &name, &count))
			return;
		kind = kind_of(away, name);
		if (kind) {
			away->reports =
				mem_push(away->reports, away->n_reports, sizeof(*away->reports));
			away->reports[away->n_reports++] = (struct away_report){
				.kind = (size_t)(kind - away->kinds),
				.left = count,
				.first = first,
				.end = away->n_alive,
			};
		}
		free(name);
		if (word[len] != ',')
			return;
	}
}

static void node_line(struct away *away, const char *line, size_t len)
{
	static const char *const names[] = { "NodeName", "NodeHostName", "NodeAddr" };
	char *state = line_value(line, len, "State"), *name;
	const bool alive = state && state_alive(state);
	const size_t first = away->n_alive;
	size_t i;

	for (i = 0; alive && i < sizeof(names) / sizeof(names[0]); i++) {
		name = line_value(line, len, names[i]);
		if (!name)
			continue;
		away->alive = mem_push(away->alive, away->n_alive, sizeof(*away->alive));
		away->alive[away->n_alive++] = name;
	}
	if (alive)
		node_report(away, line, len, first);
	free(state);
}

void away_read_nodes(struct away *away, const char *text)
{
	size_t len;

	for (; *text; text += len + !!text[len]) {
		len = strcspn(text, "\n");
		node_line(away, text, len);
	}
}

/* Is a host of a manager one of the names from @first on? */
static bool host_among(const struct away *away, const char *host, size_t first, size_t end)
{
	size_t i;

	for (i = 0; i < away->n_hosts; i++)
		if (!strcmp(away->hosts[i].host, host))
			host = away->hosts[i].node;
	for (i = first; i < end; i++)
		if (!strcmp(away->alive[i], host))
			return true;
	return false;
}

/* One GPU of this kind at this host may be one that the host cannot use: each of those is found once. */
static bool report_take(struct away *away, const struct away_kind *kind, const char *host)
{
	size_t i;

	for (i = 0; i < away->n_reports; i++) {
		struct away_report *report = &away->reports[i];

		if (!report->left || &away->kinds[report->kind] != kind ||
		    !host_among(away, host, report->first, report->end))
			continue;
		report->left--;
		return true;
	}
	return false;
}

static const char *member(struct json_object *object, const char *name)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, name, &value) ||
	    !json_object_is_type(value, json_type_string))
		return "";
	return json_object_get_string(value);
}

static bool gpu_unusable(struct json_object *gpu)
{
	return !strcmp(member(gpu, "state"), "unusable");
}

static void gpu_count(struct away *away, struct json_object *gpu)
{
	const char *state = member(gpu, "state"), *host = member(gpu, "host");
	struct away_kind *kind = kind_of(away, member(gpu, "kind"));

	if (!kind)
		return;
	if (!strcmp(state, "free") || (!strcmp(state, "changing") && !*host))
		kind->there++;
	else if (host_among(away, host, 0, away->n_alive) && !report_take(away, kind, host))
		kind->there++;
}

int away_read_pool(struct away *away, const char *text, struct fault *f)
{
	/* A warning may stand before it. */
	const char *start = strchr(text, '{');
	struct json_object *root = start ? json_tokener_parse(start) : NULL, *pool, *gpu;
	const struct away_kind *kind;
	size_t i, n;

	if (!root || !json_object_object_get_ex(root, "pool", &pool) ||
	    !json_object_is_type(pool, json_type_array)) {
		json_object_put(root);
		return fault_set(f, EINVAL, "gpuctl fabric list: no list of GPUs");
	}
	n = json_object_array_length(pool);
	/* The node and its manager mean the same GPU before they mean two. */
	for (i = 0; i < n; i++) {
		gpu = json_object_array_get_idx(pool, i);
		kind = kind_of(away, member(gpu, "kind"));
		if (kind && gpu_unusable(gpu))
			report_take(away, kind, member(gpu, "host"));
	}
	for (i = 0; i < n; i++) {
		gpu = json_object_array_get_idx(pool, i);
		if (!gpu_unusable(gpu))
			gpu_count(away, gpu);
	}
	json_object_put(root);
	return 0;
}

/* What is at no manager, without what nodes cannot use and no manager has. */
static unsigned int local_there(const struct away *away, size_t kind)
{
	unsigned int local = away->kinds[kind].local;
	size_t i;

	for (i = 0; i < away->n_reports; i++)
		if (away->reports[i].kind == kind)
			local -= away->reports[i].left < local ? away->reports[i].left : local;
	return local;
}

char *away_licences(const struct away *away)
{
	struct text text = { 0 };
	size_t i;

	for (i = 0; i < away->n_kinds; i++) {
		const struct away_kind *kind = &away->kinds[i];
		const unsigned int there = local_there(away, i) + kind->there;

		if (there < kind->total)
			text_add(&text, "%s" AWAY_LICENCE "%s:%u", text.len ? "," : "", kind->name,
				 kind->total - there);
	}
	return text.text;
}

char *away_reserved(const char *text, const char *reservation)
{
	size_t len;

	for (; *text; text += len + !!text[len]) {
		char *name, *licences = NULL;
		bool same;

		len = strcspn(text, "\n");
		name = line_value(text, len, "ReservationName");
		same = name && !strcmp(name, reservation);
		free(name);
		if (!same)
			continue;
		licences = line_value(text, len, "Licenses");
		if (licences && strcmp(licences, "(null)"))
			return licences;
		free(licences);
		return mem_strdup("");
	}
	return NULL;
}

static bool slot_broken(struct json_object *slot)
{
	static const char *const states[] = { "fault", "lost", "stuck" };
	const char *state = member(slot, "state");
	struct json_object *flags;
	size_t i;

	if (*member(slot, "composition"))
		return false;
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (!strcmp(state, states[i]))
			return true;
	if (!json_object_object_get_ex(slot, "flags", &flags) ||
	    !json_object_is_type(flags, json_type_array))
		return false;
	for (i = 0; i < json_object_array_length(flags); i++)
		if (!strcmp(json_object_get_string(json_object_array_get_idx(flags, i)),
			    "quarantined"))
			return true;
	return false;
}

char *away_broken(const char *text, struct fault *f)
{
	const char *start = strchr(text, '{');
	struct json_object *root = start ? json_tokener_parse(start) : NULL, *slots;
	struct away counts = { 0 };
	struct text all = { 0 };
	size_t i;

	if (!root || !json_object_object_get_ex(root, "slots", &slots) ||
	    !json_object_is_type(slots, json_type_array)) {
		json_object_put(root);
		fault_set(f, EINVAL, "gpuctl list: no list of slots");
		return NULL;
	}
	for (i = 0; i < json_object_array_length(slots); i++) {
		struct json_object *slot = json_object_array_get_idx(slots, i);
		const char *gpu = member(slot, "gpu_id");

		if (!*gpu || !slot_broken(slot))
			continue;
		if (!kind_find(&counts, gpu) && kind_add(&counts, gpu, 0, 0))
			continue;
		kind_find(&counts, gpu)->total++;
	}
	for (i = 0; i < counts.n_kinds; i++)
		text_add(&all, "%s%s:%u", all.len ? "," : "", counts.kinds[i].name,
			 counts.kinds[i].total);
	away_free(&counts);
	json_object_put(root);
	return all.text ? all.text : mem_strdup("");
}

char *away_extra(const char *text)
{
	const char *line, *key = "Extra=";
	size_t len;

	for (line = text; *line; line += len + !!line[len]) {
		const char *start = line + strspn(line, " ");

		len = strcspn(line, "\n");
		if (!strncmp(start, key, strlen(key)))
			return mem_printf("%.*s",
					  (int)(line + len - start - (ptrdiff_t)strlen(key)),
					  start + strlen(key));
	}
	return mem_strdup("");
}

char *away_extra_with(const char *extra, const char *broken)
{
	struct text all = { 0 };
	size_t len;

	for (; *extra; extra += len + (extra[len] == ';')) {
		len = strcspn(extra, ";");
		if (len && strncmp(extra, AWAY_WORD, strlen(AWAY_WORD)))
			text_add(&all, "%s%.*s", all.len ? ";" : "", (int)len, extra);
	}
	if (*broken)
		text_add(&all, "%s" AWAY_WORD "%s", all.len ? ";" : "", broken);
	return all.text ? all.text : mem_strdup("");
}

/* Each item of one list with its count is in the other. */
static bool list_within(const char *a, const char *b)
{
	size_t len;

	for (; *a; a += len + (a[len] == ',')) {
		const char *s = b;
		unsigned int count, other;
		char *name, *found;
		bool same = false;

		len = strcspn(a, ",");
		if (!count_read(a, len, &name, &count))
			return false;
		while (*s && !same) {
			size_t item = strcspn(s, ",");

			if (count_read(s, item, &found, &other)) {
				same = !strcmp(found, name) && other == count;
				free(found);
			}
			s += item + (s[item] == ',');
		}
		free(name);
		if (!same)
			return false;
	}
	return true;
}

bool away_same(const char *a, const char *b)
{
	return list_within(a, b) && list_within(b, a);
}

void away_free(struct away *away)
{
	size_t i;

	for (i = 0; i < away->n_kinds; i++)
		free(away->kinds[i].name);
	for (i = 0; i < away->n_alive; i++)
		free(away->alive[i]);
	for (i = 0; i < away->n_hosts; i++) {
		free(away->hosts[i].host);
		free(away->hosts[i].node);
	}
	free(away->alive);
	free(away->reports);
	free(away->hosts);
	memset(away, 0, sizeof(*away));
}
