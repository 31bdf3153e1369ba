// SPDX-License-Identifier: GPL-2.0-only
// sources: kmod/loss.c
/*
 * What the kernel makes of looks at a GPU, compiled as it is: flap, lost, back or
 * reset. Each row is a story: what is seen at which millisecond, and what follows.
 */
#include "kmod/loss.h"
#include "tap.h"

#define LOST_MS 3000

/*
 * What can be seen.
 *   w  it is well            c  Command differs     b  BARs differ
 *   o  another card          d  the link is down    s  silent, the link is up
 *   k  BARs differ, and somebody works on it       p  well, as far as it is awake
 *   ?  nobody could look    f  nor can they, as it is recovered from an error
 */
static struct gf_sight sight_of(char what)
{
	struct gf_sight sight = { .known = true, .link = true, .answers = true, .same = true, .bars = true,
				  .command = 0x406 };

	switch (what) {
	case '?':
		return (struct gf_sight){};
	case 'f':
		return (struct gf_sight){ .frozen = true };
	case 'k':
		sight.busy = true;
		sight.bars = false;
		break;
	case 'p':
		sight.partial = true;
		break;
	case 'c':
		sight.command = 0;
		break;
	case 'b':
		sight.bars = false;
		break;
	case 'o':
		sight.same = false;
		break;
	case 'd':
		sight.link = false;
		/* fallthrough */
	case 's':
		sight.answers = sight.same = sight.bars = false;
		sight.command = 0;
	}
	return sight;
}

static const char *const verdicts[] = { "-", "flap", "lost", "back", "reset" };

static const struct story {
	const char *name;
	const char *seen;	/* MS:WHAT... */
	const char *follows;	/* a word for each */
} stories[] = {
	{ "all is well", "0:w 1000:w 9000:w", "- - -" },
	{ "a flap", "0:w 1000:d 2000:w 3000:w", "- - flap -" },
	{ "a flap that is nearly too long", "0:w 1000:d 3999:d 4000:w", "- - - flap" },
	{ "a loss", "0:w 1000:d 4000:d 5000:d", "- - lost -" },
	{ "a loss with the link up", "0:w 1000:s 4000:s", "- - lost" },
	{ "silence and a link that is down are one absence", "0:w 1000:s 2500:d 4000:s", "- - - lost" },
	{ "a loss that ends", "0:w 1000:d 4000:d 9000:w 9001:w", "- - lost back -" },
	{ "two losses", "0:w 1000:d 4000:d 5000:w 6000:d 9000:d 9500:w", "- - lost back - lost back" },
	{ "two flaps are not one loss", "0:w 1000:d 3000:w 3500:d 5000:w", "- - flap - flap" },
	{ "a reset that nobody saw", "0:w 1000:b 3999:b 4000:b", "- - - reset" },
	{ "one that is mended in time is not even a flap", "0:w 1000:b 3000:w 5000:b 7999:b", "- - - - -" },
	{ "a flap that is restored in time", "0:w 1000:d 2000:b 2100:c 2200:w", "- - - - flap" },
	{ "a flap that nobody restores", "0:w 1000:d 2000:b 4000:b 5000:b", "- - - - reset" },
	{ "addresses are restored, Command is not", "0:w 1000:d 2000:c 5000:c", "- - - reset" },
	{ "Command is the driver's as long as nothing is lost", "0:w 1000:c 5000:c 9000:w", "- - - -" },
	{ "and the last one counts", "0:w 1000:c 2000:d 3000:c", "- - - flap" },
	{ "a first look after a loss knows of no Command", "0:d 1000:c", "- flap" },
	{ "what is awake does not tell of the Command of what is not", "0:p 1000:d 2000:c", "- - flap" },
	{ "what was known of both counts", "0:w 1000:p 2000:d 3000:c 6000:c", "- - - - reset" },
	{ "until less is", "0:w 1000:c 2000:p 3000:d 4000:c", "- - - - flap" },
	{ "a loss that who is awake shows", "0:p 1000:d 4000:d 5000:p", "- - lost back" },
	{ "another card", "0:w 1000:d 2000:o 5000:o", "- - - reset" },
	{ "another card after a loss", "0:w 1000:d 4000:d 5000:o 8000:o", "- - lost - reset" },
	{ "a loss that ends wiped", "0:w 1000:d 4000:d 5000:b 7000:b 8000:b", "- - lost - - reset" },
	{ "a loss that ends restored", "0:w 1000:d 4000:d 5000:b 7000:w", "- - lost - back" },
	{ "a link that blinks all the time hides no reset", "0:w 1000:d 2000:b 3000:d 4000:b 4500:d 5000:b",
	  "- - - - - - reset" },
	{ "after a reset all begins anew", "0:b 3000:b 4000:b 7000:b", "- reset - reset" },
	{ "a reset that is known is no loss", "0:w 1000:? 9000:? 9500:w", "- - - -" },
	{ "an absence counts from where it was seen", "0:w 1000:d 2000:? 9000:d 11999:d 12000:d", "- - - - - lost" },
	{ "while somebody works on it nothing is said", "0:w 1000:k 9000:k 99000:k 99100:w", "- - - - -" },
	{ "but what has begun goes on", "0:w 1000:b 2000:k 3999:b 4000:b", "- - - - reset" },
	{ "so does a reset", "0:w 1000:b 2000:? 9000:b 11999:b 12000:b", "- - - - - reset" },
	{ "a flap before a known reset is a flap after it", "0:w 1000:d 2000:? 5000:w", "- - - flap" },
	{ "a recovery is waited out", "0:w 1000:f 60999:f 61000:w", "- - - -" },
	{ "one that nobody ends is a loss, once", "0:w 1000:f 61000:f 62000:f", "- - lost -" },
	{ "a recovery that ends late", "0:w 1000:f 61000:f 62000:w", "- - lost back" },
	{ "one that ends late and wiped", "0:w 1000:f 61000:f 62000:b 65000:b", "- - lost - reset" },
	{ "two recoveries are not one", "0:w 1000:f 40000:? 41000:f 90000:f", "- - - - -" },
	{ "what is lost stays lost while nobody looks", "0:w 1000:d 4000:d 5000:? 6000:d 9000:d 9100:w",
	  "- - lost - - - back" },
};

static void tell(const struct story *story)
{
	struct gf_loss loss = {};
	const char *seen = story->seen;
	char said[128] = "";
	unsigned int now;
	int length;
	char what;

	while (sscanf(seen, " %u:%c%n", &now, &what, &length) == 2) {
		struct gf_sight sight = sight_of(what);

		snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s%s", *said ? " " : "",
			 verdicts[gf_loss_judge(&loss, &sight, now, LOST_MS)]);
		seen += length;
	}
	is_str(said, story->follows, story->name);
}

int main(void)
{
	struct gf_sight down = sight_of('d'), wiped = sight_of('b');
	struct gf_loss loss = {};

	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
		tell(&stories[i]);
	is_int(gf_loss_judge(&loss, &down, 5, 0), GF_LOSS_LOST, "without any time a GPU is lost at once");
	loss = (struct gf_loss){};
	is_int(gf_loss_judge(&loss, &wiped, 5, 0), GF_LOSS_RESET, "or reset");
	return tap_done();
}
