// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpuctl top: the fabric as it is now, on a screen of its own.
 *
 * Events of the module change the picture; a clock only moves the ages on it. A
 * module that says nothing for some seconds is asked whether it is still there.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "publish/event_text.h"
#include "sense/files.h"
#include "session/render.h"
#include "top/screen.h"
#include "top/view.h"

#define LOG_LINES 256
/* Ages are whole seconds; a storm of events is drawn so often at most. */
#define TICK_MS 1000
#define DRAW_MS 50
#define EVENTS_A_TURN 1000
/* Control sequences of a terminal that is gone: as many ends of file in a row. */
#define EMPTY_READS 16

static const struct ctl_option options[] = {
	{ "sort", 's', "KEY", "by slot (default), state, composition, gpu or time",
	  "slot state composition gpu time" },
	{ "reverse", 'r', NULL, "reverse the order" },
	{ "filter", 'f', "WHICH", "all slots (default), used, free or trouble",
	  "all used free trouble" },
	{ "find", 0, "TEXT", "only slots with this in name, state, GPU or composition" },
	{ NULL },
};

struct log_line {
	char *text;
	enum view_mood mood;
};

/**
 * struct top - one run
 * @screen: what draws it, NULL where nothing can
 * @session: connection and the fabric as it is known
 * @view: what is to be seen
 * @rows: how the lines are shared out, of the last picture
 * @n_shown: slots that pass the filter, of the last picture
 * @first: first slot on the screen
 * @shift: first column on the screen
 * @finding: keys go into view.find
 * @log: events; the newest is at @n_log - 1, modulo LOG_LINES
 * @n_log: events so far
 * @demand: of workloads, as it was last read
 * @report: of the planner, as it was last read
 * @read: when both were read
 * @drawn: when the picture was drawn
 * @stale: it is not true any more
 * @over: the user has seen enough
 * @empty_reads: in a row
 */
struct top {
	const struct screen *screen;
	struct session session;
	struct view view;
	struct view_rows rows;
	size_t n_shown, first, shift;
	bool finding;
	struct log_line log[LOG_LINES];
	size_t n_log;
	struct sense_shown demand;
	struct plan_report report;
	uint64_t read, drawn;
	bool stale, over;
	unsigned int empty_reads;
};

static enum screen_look look_of(enum view_mood mood)
{
	static const enum screen_look looks[] = {
		[VIEW_QUIET] = SCREEN_PLAIN,
		[VIEW_GOOD] = SCREEN_GOOD,
		[VIEW_BUSY] = SCREEN_BUSY,
		[VIEW_BAD] = SCREEN_BAD,
	};

	return looks[mood];
}

/* Takes ownership of @text. */
static void log_add(struct top *top, uint64_t time, enum view_mood mood, char *text)
{
	struct log_line *line = &top->log[top->n_log++ % LOG_LINES];
	char when[EVENT_CLOCK];

	free(line->text);
	text_tame(text, false);
	line->text = mem_printf("%s  %s", event_clock(when, time), text);
	line->mood = mood;
	free(text);
}

/* --- what the module tells ------------------------------------------------ */

static enum view_mood mood_of(const struct gf_message *event)
{
	if (event->has.slot && event->kind != GPUFABRIC_EVENT_KIND_SLOT_REMOVED)
		return view_slot_mood(&event->slot);
	if (event->has.operation && event->operation.error)
		return VIEW_BAD;
	if (event->has.composition)
		return view_composition_mood(&event->composition);
	return VIEW_QUIET;
}

/* The phases of what has just ended on a slot. */
static char *with_phases(char *text, const struct gf_message *event)
{
	const struct gf_operation *op = &event->slot.last_operation;
	char *durations, *both;

	if (!event->has.slot || !event->has.previous || event->was == event->slot.state ||
	    event->slot.operation.id || !op->id)
		return text;
	durations = render_durations(op);
	if (!*durations) {
		free(durations);
		return text;
	}
	both = mem_printf("%s  %s", text, durations);
	free(text);
	free(durations);
	return both;
}

static void take_event(struct top *top, struct gf_message *event)
{
	const struct session *session = &top->session;
	char *text = event_text(event, &session->fabric, &session->knowledge);

	log_add(top, event->time, mood_of(event), with_phases(text, event));
	mirror_apply(&top->session.mirror, event);
	top->stale = true;
}

static int take_events(struct top *top)
{
	struct gf_message event;
	int n;

	/* In a storm keys and the picture have their turn as well. */
	for (n = 0; n < EVENTS_A_TURN; n++) {
		switch (mirror_next(&top->session.mirror, 0, &event)) {
		case MIRROR_CHANGE:
			take_event(top, &event);
			break;
		case MIRROR_SNAPSHOT:
			top->stale = true;
			break;
		case MIRROR_ERROR:
			return top->session.mirror.error;
		default:
			return CTL_DONE;
		}
	}
	return CTL_DONE;
}

/* --- the picture ----------------------------------------------------------- */

/* Each line of a text; a NULL after the last. The text is cut up. */
static char **lines_of(char *text)
{
	char **lines = mem_zalloc(1, sizeof(*lines)), *save, *line;
	size_t n = 0;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		lines = mem_grow(lines, n + 2, sizeof(*lines));
		lines[n++] = line;
		lines[n] = NULL;
	}
	return lines;
}

static void draw_head(const struct top *top, uint64_t now)
{
	struct out *out = out_new(NULL);
	char when[EVENT_CLOCK];
	char *summary, *line;

	render_summary(out, &top->session.fabric);
	summary = out_render_text(out);
	summary[strcspn(summary, "\n")] = '\0';
	line = mem_printf("%.8s  %s", event_clock(when, now), summary);
	top->screen->line(0, line, 0, SCREEN_PLAIN);
	free(line);
	free(summary);
	out_free(out);
}

/* Keeps the first slot where the list has one. */
static void scroll_to(struct top *top, size_t first)
{
	size_t most = top->n_shown > top->rows.slots ? top->n_shown - top->rows.slots : 0;

	top->first = first < most ? first : most;
}

static size_t draw_slots(struct top *top, size_t line, uint64_t now)
{
	const struct session *session = &top->session;
	const struct gf_slot **slots;
	struct out *out = out_new(NULL);
	char *text, **lines;
	size_t i, n;

	slots = view_slots(&top->view, &session->fabric, &session->knowledge, &top->n_shown);
	view_share(&top->rows, top->screen->height(), top->n_shown, session->fabric.n_compositions);
	scroll_to(top, top->first);
	n = top->n_shown - top->first;
	n = n < top->rows.slots ? n : top->rows.slots;
	view_slot_table(out, slots + top->first, n, &session->knowledge, now);
	text = out_render_text(out);
	lines = lines_of(text);
	/* A table without rows has no heading either. */
	if (!n)
		top->screen->line(line, "SLOT  none passes the filter", 0, SCREEN_TITLE);
	for (i = 0; i <= n && lines[i]; i++)
		top->screen->line(line + i, lines[i], top->shift,
				  i ? look_of(view_slot_mood(slots[top->first + i - 1])) :
				      SCREEN_TITLE);
	free(lines);
	free(text);
	free(slots);
	out_free(out);
	return line + 1 + top->rows.slots;
}

static size_t draw_compositions(const struct top *top, size_t line, uint64_t now)
{
	const struct session *session = &top->session;
	size_t i, n = top->rows.compositions;
	struct out *out = out_new(NULL);
	char *text, **lines;

	if (!n) {
		out_free(out);
		return line;
	}
	view_composition_table(out, &session->fabric, 0, n, &session->knowledge, &top->demand,
			       &top->report, now);
	text = out_render_text(out);
	lines = lines_of(text);
	for (i = 0; i <= n && lines[i]; i++) {
		enum screen_look look = SCREEN_TITLE;

		if (i)
			look = look_of(view_composition_mood(&session->fabric.compositions[i - 1]));
		top->screen->line(line + i, lines[i], top->shift, look);
	}
	free(lines);
	free(text);
	out_free(out);
	return line + 1 + n;
}

static void draw_log(const struct top *top, size_t line)
{
	size_t have = top->n_log < LOG_LINES ? top->n_log : LOG_LINES;
	size_t n = top->rows.events < have ? top->rows.events : have, i;

	if (!top->rows.events)
		return;
	top->screen->line(line, "EVENTS", 0, SCREEN_TITLE);
	for (i = 0; i < n; i++) {
		const struct log_line *l = &top->log[(top->n_log - n + i) % LOG_LINES];

		top->screen->line(line + 1 + i, l->text, top->shift, look_of(l->mood));
	}
}

static void draw_foot(const struct top *top)
{
	const struct view *view = &top->view;
	char *text;

	if (top->finding)
		text = mem_printf("find: %s_   Enter keeps it, Escape ends it", view->find);
	else
		text = mem_printf("q quit  s sort: %s  r %s  f filter: %s  / find%s%s  %zu of %zu",
				  view_sort_names[view->sort],
				  view->reverse ? "reversed" : "reverse",
				  view_filter_names[view->filter], *view->find ? ": " : "",
				  view->find, top->n_shown, top->session.fabric.n_slots);
	if (top->screen->height() > 1)
		top->screen->line(top->screen->height() - 1, text, 0, SCREEN_TITLE);
	free(text);
}

/* Files, of which no event tells. */
static void top_read_demand(struct top *top)
{
	if (top->read && text_monotonic() - top->read < TICK_MS)
		return;
	sense_shown_free(&top->demand);
	sense_show(top->session.ctx->config_dir, &top->demand);
	plan_report_free(&top->report);
	plan_report_show(&top->report);
	top->read = text_monotonic();
}

static void top_draw(struct top *top)
{
	uint64_t now = text_now();
	size_t line;

	top_read_demand(top);
	top->screen->clear();
	draw_head(top, now);
	line = draw_slots(top, 1, now);
	line = draw_compositions(top, line, now);
	draw_log(top, line);
	draw_foot(top);
	top->screen->show();
	top->drawn = text_monotonic();
	top->stale = false;
}

/* --- keys ------------------------------------------------------------------ */

static void top_find_key(struct top *top, int key)
{
	size_t len = strlen(top->view.find);

	if (key == SCREEN_ENTER || key == SCREEN_ESCAPE) {
		top->finding = false;
		if (key == SCREEN_ESCAPE)
			top->view.find[0] = '\0';
	} else if (key == SCREEN_BACK) {
		if (len)
			top->view.find[len - 1] = '\0';
	} else if (key < SCREEN_UP && len + 1 < sizeof(top->view.find)) {
		top->view.find[len] = (char)key;
		top->view.find[len + 1] = '\0';
	}
}

static void move_key(struct top *top, int key)
{
	size_t page = top->rows.slots ? top->rows.slots : 1;

	if (key == SCREEN_UP || key == 'k')
		scroll_to(top, top->first ? top->first - 1 : 0);
	else if (key == SCREEN_DOWN || key == 'j')
		scroll_to(top, top->first + 1);
	else if (key == SCREEN_PAGE_UP)
		scroll_to(top, top->first > page ? top->first - page : 0);
	else if (key == SCREEN_PAGE_DOWN)
		scroll_to(top, top->first + page);
	else if (key == SCREEN_HOME)
		scroll_to(top, 0);
	else if (key == SCREEN_END)
		scroll_to(top, top->n_shown);
	else if (key == SCREEN_RIGHT)
		top->shift += 8;
	else if (key == SCREEN_LEFT)
		top->shift = top->shift > 8 ? top->shift - 8 : 0;
}

static void top_take_key(struct top *top, int key)
{
	top->stale = true;
	if (top->finding) {
		top_find_key(top, key);
		return;
	}
	switch (key) {
	case 'q':
	case 'Q':
		top->over = true;
		break;
	case 's':
		top->view.sort = (top->view.sort + 1) % VIEW_SORTS;
		break;
	case 'r':
		top->view.reverse = !top->view.reverse;
		break;
	case 'f':
		top->view.filter = (top->view.filter + 1) % VIEW_FILTERS;
		break;
	case '/':
		top->finding = true;
		break;
	case SCREEN_ESCAPE:
		top->view.find[0] = '\0';
		break;
	default:
		move_key(top, key);
	}
}

static void take_keys(struct top *top, short revents)
{
	int key = top->screen->key();

	/* Nobody is at the keyboard any more, or never will be. */
	if (revents & (POLLHUP | POLLERR | POLLNVAL))
		top->over = true;
	if (key == SCREEN_NONE && revents & POLLIN && ++top->empty_reads >= EMPTY_READS)
		top->over = true;
	if (key != SCREEN_NONE)
		top->empty_reads = 0;
	for (; key != SCREEN_NONE; key = top->screen->key())
		top_take_key(top, key);
}

/* --- the loop --------------------------------------------------------------- */

static int top_patience(const struct top *top)
{
	uint64_t since = text_monotonic() - top->drawn;
	uint64_t may = top->stale ? DRAW_MS : TICK_MS;

	return since < may ? (int)(may - since) : 0;
}

static int loop(struct top *top)
{
	struct pollfd fds[] = {
		{ .fd = gfc_events_fd(top->session.client), .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	int ret = CTL_DONE;

	top_draw(top);
	while (!ret && !top->over && !gfc_signalled() && !top->screen->ended()) {
		int ms = top_patience(top);
		struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

		fds[0].revents = 0;
		fds[1].revents = 0;
		/* A signal ends the wait; a new size of the terminal is a key then. */
		if (ppoll(fds, 2, &ts, gfc_signal_mask()) < 0 && errno != EINTR)
			return ctl_fail(top->session.ctx, CTL_FAILED, "cannot wait: %s",
					strerror(errno));
		take_keys(top, fds[1].revents);
		ret = take_events(top);
		if (!ret && !top_patience(top))
			top_draw(top);
	}
	return ret;
}

/* --- without a terminal ------------------------------------------------------ */

static int snapshot(struct top *top)
{
	const struct session *session = &top->session;
	const struct gf_slot **slots;
	struct out *out = session->ctx->out;
	uint64_t now = text_now();

	top_read_demand(top);
	slots = view_slots(&top->view, &session->fabric, &session->knowledge, &top->n_shown);
	view_slot_table(out, slots, top->n_shown, &session->knowledge, now);
	out_line(out, "%s", "");
	if (session->fabric.n_compositions) {
		view_composition_table(out, &session->fabric, 0, session->fabric.n_compositions,
				       &session->knowledge, &top->demand, &top->report, now);
		out_line(out, "%s", "");
	}
	render_summary(out, &session->fabric);
	free(slots);
	return CTL_DONE;
}

/* Number of a word in a list that ends with NULL; a usage error when it is none of them. */
static int read_word(struct ctl_ctx *ctx, const char *option, const char *const *words,
		     unsigned int *value)
{
	const char *word = ctl_opt(ctx, option);
	struct text list = { 0 };

	*value = 0;
	if (!word)
		return CTL_DONE;
	for (; words[*value]; (*value)++)
		if (!strcmp(words[*value], word))
			return CTL_DONE;
	for (*value = 0; words[*value]; (*value)++)
		text_join(&list, ", ", words[*value]);
	ctl_fail(ctx, CTL_USAGE, "--%s %s: write one of %s", option, word, list.text);
	free(list.text);
	return CTL_USAGE;
}

static int top_read_options(struct ctl_ctx *ctx, struct view *view)
{
	unsigned int sort, filter;
	int ret;

	ret = read_word(ctx, "sort", view_sort_names, &sort);
	if (!ret)
		ret = read_word(ctx, "filter", view_filter_names, &filter);
	if (ret)
		return ret;
	view->sort = (enum view_sort)sort;
	view->filter = (enum view_filter)filter;
	view->reverse = ctl_flag(ctx, "reverse");
	if (ctl_opt(ctx, "find") && strlen(ctl_opt(ctx, "find")) >= sizeof(view->find))
		return ctl_fail(ctx, CTL_USAGE, "--find: at most %zu bytes",
				sizeof(view->find) - 1);
	snprintf(view->find, sizeof(view->find), "%s",
		 ctl_flag(ctx, "find") ? ctl_opt(ctx, "find") : "");
	return CTL_DONE;
}

static int show(struct top *top)
{
	struct ctl_ctx *ctx = top->session.ctx;
	int ret;

	if (ctx->json || !top->screen || !top->screen->possible())
		return snapshot(top);
	if (!top->screen->begin())
		return ctl_fail(ctx, CTL_FAILED,
				"cannot draw on a terminal of this kind: set TERM");
	ret = loop(top);
	top->screen->end();
	return ret;
}

/* At a terminal the program that draws goes on, and finds out whether this one can be drawn on. */
static int top_become(struct ctl_ctx *ctx)
{
	char *program;
	int ret;

	if (ctx->json || ctx->screen || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return CTL_DONE;
	program = mem_printf("%s/" SCREEN_PROGRAM, ctx->libexec_dir);
	execv(program, ctx->words);
	ret = ctl_fail(ctx, CTL_FAILED, "cannot start %s: %s", program, strerror(errno));
	free(program);
	return ret;
}

static int top_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct top *top = mem_zalloc(1, sizeof(*top));
	size_t i;
	int ret;

	(void)argv;
	top->screen = ctx->screen;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (!ret)
		ret = top_read_options(ctx, &top->view);
	if (!ret)
		ret = top_become(ctx);
	if (!ret)
		ret = session_open(ctx, &top->session, SESSION_CHANGE);
	if (!ret) {
		ret = show(top);
		session_close(&top->session);
	}
	for (i = 0; i < LOG_LINES; i++)
		free(top->log[i].text);
	sense_shown_free(&top->demand);
	plan_report_free(&top->report);
	free(top);
	return ret;
}

const struct ctl_command cmd_top = {
	.name = "top",
	.group = CTL_LOOK,
	.args = "",
	.summary = "a live screen of slots, compositions and events",
	.help = "OPERATION is the operation on a slot with its time so far and its deadline, or the last operation. The\n"
		"event of its end names the phases that took the time. A state with a ! needs attention: gpuctl show\n"
		"gives the reason. LOAD, TARGET, DEMAND and WHY are what gpuctl demand last recorded of a composition.\n"
		"Keys: q quits, s changes the order, r reverses it, f changes the filter, / searches, arrows and page keys\n"
		"move. Colours only repeat what words say, and NO_COLOR turns them off. Without a terminal, the command\n"
		"prints one snapshot.",
	.options = { options },
	.flags = CTL_NO_DRY_RUN,
	.run = top_run,
};
