// SPDX-License-Identifier: GPL-2.0-only
/* DOC: pictures of replays, see picture.h. Demand is grey, what is given blue, moves red. */
#include "base/text.h"
#include "picture.h"

#define WIDTH 960.0
#define HEIGHT 300.0
#define MOVES 90.0
#define LEFT 56.0
#define TOP 44.0

static double picture_largest(const double *v, size_t n, double most)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (v[i] > most)
			most = v[i];
	return most > 0 ? most : 1;
}

static double x_of(const struct picture *p, size_t i)
{
	return LEFT + WIDTH * (double)i / (double)(p->n ? p->n : 1);
}

static void area(struct text *t, const struct picture *p, const double *v, double most,
		 const char *style)
{
	size_t i;

	text_add(t, "<path %s d=\"M%.1f %.1f", style, LEFT, TOP + HEIGHT);
	for (i = 0; i < p->n; i++)
		text_add(t, "L%.1f %.1fH%.1f", x_of(p, i), TOP + HEIGHT * (1 - v[i] / most),
			 x_of(p, i + 1));
	text_add(t, "V%.1fZ\"/>\n", TOP + HEIGHT);
}

static void bars(struct text *t, const struct picture *p, double most)
{
	double foot = TOP + HEIGHT + 24 + MOVES;
	size_t i;

	text_add(t, "<path fill=\"#c0392b\" d=\"");
	for (i = 0; i < p->n; i++)
		if (p->moves[i] > 0)
			text_add(t, "M%.1f %.1fV%.1fH%.1fV%.1fZ", x_of(p, i), foot,
				 foot - MOVES * p->moves[i] / most, x_of(p, i + 1), foot);
	text_add(t, "\"/>\n");
}

static void label(struct text *t, double x, double y, double value, const char *unit)
{
	text_add(t, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">", x, y);
	text_add(t, "%.0f %s</text>\n", value, unit);
}

char *picture_svg(const struct picture *p)
{
	double most =
		picture_largest(p->demand, p->n, picture_largest(p->allocated, p->n, p->pool));
	double moves = picture_largest(p->moves, p->n, 0),
	       level = TOP + HEIGHT * (1 - p->pool / most);
	struct text t = { 0 };

	text_add(&t, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" ",
		 LEFT + WIDTH + 20, TOP + HEIGHT + MOVES + 52);
	text_add(&t, "font-family=\"sans-serif\" font-size=\"12\">\n");
	text_add(&t, "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n");
	text_add(&t, "<text x=\"%.0f\" y=\"18\" font-size=\"14\">%s</text>\n", LEFT, p->title);
	text_add(&t, "<text x=\"%.0f\" y=\"36\">grey: wanted GPUs, blue: given, ", LEFT);
	text_add(&t, "line: pool, red: GPUs that change hands</text>\n");
	area(&t, p, p->demand, most, "fill=\"#c8ccd0\"");
	area(&t, p, p->allocated, most, "fill=\"#2f6fb2\" fill-opacity=\"0.75\"");
	text_add(&t, "<path stroke=\"#000000\" stroke-dasharray=\"6 4\" ");
	text_add(&t, "d=\"M%.1f %.1fh%.1f\"/>\n", LEFT, level, WIDTH);
	bars(&t, p, moves);
	label(&t, LEFT - 6, level + 4, p->pool, "");
	label(&t, LEFT - 6, TOP + HEIGHT, 0, "");
	label(&t, LEFT - 6, TOP + HEIGHT + 34, moves, "");
	label(&t, LEFT + WIDTH, TOP + HEIGHT + MOVES + 42, (double)p->n, p->unit);
	text_add(&t, "</svg>\n");
	return t.text;
}
