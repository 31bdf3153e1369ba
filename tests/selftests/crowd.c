// SPDX-License-Identifier: GPL-2.0-only
/* Many workers at once; see crowd.h. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crowd.h"

#define LINE_MAX_BYTES 1024
#define WORDS_MAX 64
#define WORKERS_MAX 64

/* Devices and their files go while others write to them. */
static void write_text(char **words)
{
	char text[LINE_MAX_BYTES] = "";
	ssize_t written;
	int fd;

	if (!words[0])
		return;
	for (char **word = words + 1; *word; word++) {
		strcat(text, *word);
		strcat(text, word[1] ? " " : "\n");
	}
	fd = open(words[0], O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	written = write(fd, text, strlen(text));
	(void)written;
	close(fd);
}

/* What becomes of the rest of a line. */
enum outcome { GO_ON, SKIP_REST, STOP };

/* One command: @words up to NULL, with room for a name of the program before them. */
static enum outcome obey_words(char **words, int n, int (*command)(int argc, char **argv), int *rc)
{
	bool any = !strcmp(words[0], "any"), attempt = !strcmp(words[0], "try");

	words += any || attempt;
	n -= any || attempt;
	if (n > 0 && !strcmp(words[0], "write")) {
		write_text(words + 1);
		return GO_ON;
	}
	words[-1] = (char *)"gfclient";
	*rc = command(n + 1, words - 1);
	/* A command that nobody knows fails in front of anything. */
	if (!*rc || (*rc == 1 && any))
		return GO_ON;
	return *rc == 1 && attempt ? SKIP_REST : STOP;
}

/* What a line says, once; the commands change their words, so each round has its own. */
static int obey_line(const char *line, int (*command)(int argc, char **argv))
{
	char copy[LINE_MAX_BYTES], *words[WORDS_MAX + 2], *at = NULL;
	enum outcome then = GO_ON;
	int n = 0, rc = 0;
	char *word;

	strcpy(copy, line);
	word = strtok_r(copy, " \t\n", &at);
	while (then == GO_ON && (word || n)) {
		if (word && strcmp(word, ";")) {
			if (n == WORDS_MAX)
				return 2;
			words[++n] = word;
		} else if (n) {
			words[n + 1] = NULL;
			then = obey_words(words + 1, n, command, &rc);
			n = 0;
		}
		if (word)
			word = strtok_r(NULL, " \t\n", &at);
	}
	return then == STOP ? rc : 0;
}

static int work(const char *line, unsigned int rounds, int (*command)(int argc, char **argv))
{
	int rc = 0;

	while (!rc && rounds--)
		rc = obey_line(line, command);
	if (rc)
		fprintf(stderr, "%.*s ended with status %d\n", (int)strcspn(line, "\n"), line, rc);
	return rc;
}

/**
 * crowd() - do what the lines of standard input say, each in a process of its own
 * @rounds: how often
 * @command: does one command, and leaves nothing behind
 *
 * Return: 0, 1 when a worker stopped early, 2 for input that makes no sense.
 */
int crowd(unsigned int rounds, int (*command)(int argc, char **argv))
{
	static char lines[WORKERS_MAX][LINE_MAX_BYTES];
	unsigned int n = 0;
	int status, rc = 0;

	while (n < WORKERS_MAX && fgets(lines[n], sizeof(lines[n]), stdin)) {
		if (!strchr(lines[n], '\n'))
			return 2;
		n += lines[n][0] != '\n';
	}
	if (!n || n == WORKERS_MAX || !rounds)
		return 2;
	fflush(stdout);
	for (unsigned int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			rc = 1;
		else if (!pid)
			_exit(work(lines[i], rounds, command) ? 1 : 0);
	}
	while (wait(&status) > 0) {
		if (status)
			rc = 1;
	}
	return rc;
}
