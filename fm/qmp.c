// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the connection to a QEMU
 *
 * An answer that comes after its command was given up has an id that nobody waits for
 * and would be taken for the next one's by a client without ids: a command that times out
 * therefore ends the connection, and the caller looks at the machine anew.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/failpoint.h"
#include "fm/qmp.h"

#define DEPTH_MAX 32

static const char *word_of(struct json_object *from, const char *key)
{
	struct json_object *value;

	if (!json_object_is_type(from, json_type_object) ||
	    !json_object_object_get_ex(from, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return NULL;
	return json_object_get_string(value);
}

static int read_object(struct json_object *root, struct qmp_message *m, struct fault *f)
{
	struct json_object *value, *id;
	const char *word;

	m->id = -1;
	if (json_object_object_get_ex(root, "id", &id)) {
		if (!json_object_is_type(id, json_type_int))
			return fault_set(f, EPROTO, "an id that is not a number");
		m->id = json_object_get_int64(id);
	}
	if (json_object_object_get_ex(root, "QMP", &value)) {
		m->kind = QMP_GREETING;
	} else if (json_object_object_get_ex(root, "return", &value)) {
		m->kind = QMP_RETURN;
		m->value = json_object_get(value);
	} else if (json_object_object_get_ex(root, "error", &value)) {
		word = word_of(value, "desc");
		m->kind = QMP_ERROR;
		m->text = mem_strdup(word ? word : "an error without a description");
		text_tame(m->text, false);
		word = word_of(value, "class");
		strncat(m->word, word ? word : "", QMP_WORD_MAX - 1);
	} else {
		word = word_of(root, "event");
		if (!word || strlen(word) >= QMP_WORD_MAX)
			return fault_set(f, EPROTO, "neither greeting nor answer nor event");
		m->kind = QMP_EVENT;
		strcpy(m->word, word);
		if (json_object_object_get_ex(root, "data", &value))
			m->value = json_object_get(value);
	}
	return 0;
}

int qmp_read(const char *line, size_t len, struct qmp_message *message, struct fault *f)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *root = NULL;
	int err = 0;

	*message = (struct qmp_message){ 0 };
	if (!tokener)
		return fault_set(f, ENOMEM, "out of memory");
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	if (len <= QMP_LINE_MAX)
		root = json_tokener_parse_ex(tokener, line, (int)len);
	if (json_tokener_get_error(tokener) != json_tokener_success ||
	    json_tokener_get_parse_end(tokener) != len ||
	    !json_object_is_type(root, json_type_object))
		err = fault_set(f, EPROTO, "a line that is not a JSON object");
	else
		err = read_object(root, message, f);
	json_object_put(root);
	json_tokener_free(tokener);
	if (err)
		qmp_message_free(message);
	return err;
}

void qmp_message_free(struct qmp_message *message)
{
	json_object_put(message->value);
	free(message->text);
	message->value = NULL;
	message->text = NULL;
}

void qmp_close(struct qmp *qmp)
{
	channel_close(&qmp->channel);
	free(qmp->buf);
	*qmp = (struct qmp){ .channel = qmp->channel };
}

static int qmp_end(struct qmp *qmp, int err, struct fault *f, const char *why)
{
	qmp_close(qmp);
	return fault_set(f, err, "%s", why);
}

/* Whatever has arrived. */
static int qmp_receive(struct qmp *qmp, struct fault *f)
{
	int err;

	if (qmp->size - qmp->len < 4096) {
		if (qmp->size >= QMP_LINE_MAX)
			return qmp_end(qmp, EPROTO, f, "QMP: a line of more than 1 MiB");
		qmp->size = qmp->size ? 2 * qmp->size : 16384;
		qmp->buf = mem_grow(qmp->buf, qmp->size, 1);
	}
	err = channel_receive(&qmp->channel, qmp->buf, qmp->size, &qmp->len, f);
	if (err)
		qmp_close(qmp);
	return err;
}

static void keep_event(struct qmp *qmp, const struct qmp_message *message)
{
	const char *device = word_of(message->value, "device");

	if (strcmp(message->word, "DEVICE_DELETED") || !device || strlen(device) >= QMP_WORD_MAX)
		return;
	if (qmp->gone_count == QMP_EVENTS_MAX)
		qmp->overflow = true;
	else
		strcpy(qmp->gone[qmp->gone_count++], device);
}

/* The first whole line that was received; -EPROTO closes. */
static int qmp_line(struct qmp *qmp, const char *end, struct qmp_message *message, struct fault *f)
{
	size_t len = (size_t)(end - qmp->buf);
	int err = qmp_read(qmp->buf, len && end[-1] == '\r' ? len - 1 : len, message, f);

	qmp->len -= len + 1;
	memmove(qmp->buf, end + 1, qmp->len);
	if (err) {
		fault_prefix(f, "QMP");
		qmp_close(qmp);
	}
	return err;
}

/* The next line that is no event: 1, or 0 when there is none yet; events are kept. */
static int qmp_take(struct qmp *qmp, struct qmp_message *message, struct fault *f)
{
	const char *end;
	int err;

	while (qmp->len) {
		end = memchr(qmp->buf, '\n', qmp->len);
		if (!end)
			break;
		err = qmp_line(qmp, end, message, f);
		if (err)
			return err;
		if (message->kind != QMP_EVENT)
			return 1;
		keep_event(qmp, message);
		qmp_message_free(message);
	}
	return 0;
}

static int qmp_next(struct qmp *qmp, uint64_t deadline, struct qmp_message *message,
		    struct fault *f)
{
	int ret;

	for (;;) {
		ret = qmp_take(qmp, message, f);
		if (ret)
			return ret < 0 ? ret : 0;
		ret = channel_await(&qmp->channel, POLLIN, -1, deadline, f);
		if (!ret)
			ret = qmp_receive(qmp, f);
		if (ret)
			return ret;
	}
}

int qmp_command(struct qmp *qmp, const char *name, struct json_object *arguments, uint64_t ms,
		struct json_object **value, struct fault *f)
{
	struct json_object *command = json_object_new_object();
	struct qmp_message message = { 0 };
	uint64_t deadline = text_monotonic() + ms;
	int64_t id = ++qmp->next_id;
	char *line;
	int err;

	json_object_object_add(command, "execute", json_object_new_string(name));
	if (arguments)
		json_object_object_add(command, "arguments", arguments);
	json_object_object_add(command, "id", json_object_new_int64(id));
	line = mem_printf("%s\r\n",
			  json_object_to_json_string_ext(command, JSON_C_TO_STRING_PLAIN));
	json_object_put(command);
	if (qmp->channel.fd < 0)
		err = fault_set(f, EPIPE, "no connection to QEMU");
	else
		err = channel_send(&qmp->channel, line, deadline, f);
	free(line);
	failpoint(name);
	while (!err) {
		err = qmp_next(qmp, deadline, &message, f);
		if (err || (message.id == id && message.kind != QMP_GREETING))
			break;
		qmp_message_free(&message);
		if (message.id >= id)
			err = qmp_end(qmp, EPROTO, f, "QMP: an answer to nothing");
	}
	if (err) {
		qmp_close(qmp);
		return err;
	}
	if (message.kind == QMP_ERROR)
		err = fault_set(f, EREMOTEIO, "%s", message.text);
	else if (value)
		*value = json_object_get(message.value);
	qmp_message_free(&message);
	return err;
}

int qmp_connect(struct qmp *qmp, const char *path, int stop, uint64_t ms, struct fault *f)
{
	uint64_t deadline = text_monotonic() + ms;
	struct qmp_message message;
	int err;

	*qmp = (struct qmp){ .channel.peer = "QEMU" };
	err = channel_open(&qmp->channel, path, stop, f);
	if (err)
		return err;
	err = qmp_next(qmp, deadline, &message, f);
	if (!err) {
		if (message.kind != QMP_GREETING)
			err = fault_set(f, EPROTO, "QMP: no greeting");
		qmp_message_free(&message);
	}
	if (err) {
		qmp_close(qmp);
		fault_prefix(f, "%s", path);
		return err == -ECONNREFUSED ? -EPROTO : err;
	}
	return 0;
}

int qmp_agree(struct qmp *qmp, uint64_t ms, struct fault *f)
{
	int err = qmp_command(qmp, "qmp_capabilities", NULL, ms, NULL, f);

	if (err)
		qmp_close(qmp);
	return err;
}

int qmp_await(struct qmp *qmp, int also, uint64_t ms, struct fault *f)
{
	uint64_t deadline = text_monotonic() + ms;
	struct qmp_message message;
	int ret = 0;

	if (qmp->channel.fd < 0)
		return fault_set(f, EPIPE, "no connection to QEMU");
	while (!ret) {
		ret = qmp_take(qmp, &message, f);
		if (ret > 0) {
			/* an answer that nobody waits for */
			qmp_message_free(&message);
			ret = 0;
			continue;
		}
		if (ret || qmp->gone_count || qmp->overflow)
			break;
		ret = channel_await(&qmp->channel, POLLIN, also, deadline, f);
		if (!ret)
			ret = qmp_receive(qmp, f);
	}
	return ret;
}

bool qmp_next_gone(struct qmp *qmp, char id[QMP_WORD_MAX])
{
	if (!qmp->gone_count)
		return false;
	strcpy(id, qmp->gone[0]);
	return qmp_take_gone(qmp, id);
}

bool qmp_take_gone(struct qmp *qmp, const char *id)
{
	size_t i;

	for (i = 0; i < qmp->gone_count; i++) {
		if (strcmp(qmp->gone[i], id))
			continue;
		qmp->gone_count--;
		memmove(qmp->gone[i], qmp->gone[i + 1],
			(qmp->gone_count - i) * sizeof(qmp->gone[0]));
		return true;
	}
	return false;
}

bool qmp_lost_events(struct qmp *qmp)
{
	bool lost = qmp->overflow;

	qmp->overflow = false;
	return lost;
}
