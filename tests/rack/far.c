// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs programs in a host of the rack as if they were here: output and errors come as they are
 * written, each in its own stream, and the status at the end. Whoever ends here, or whose output
 * nobody reads any more, ends there too, by SIGTERM.
 *
 *	far serve PORT             in the host
 *	far run PORT WORD...       here, where 127.0.0.1:PORT leads to the host's
 *
 * A request is the number of its bytes, 32 bits, and its words, each with a NUL; an answer is
 * frames: a byte (1 output, 2 errors, 0 the status), 32 bits, and as many bytes for 1 and 2.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	REQUEST_MAX = 1 << 16,
	WORDS_MAX = 256,
	PIECE = 1 << 14
};

struct frame {
	uint8_t stream;
	uint32_t value; /* bytes that follow, or the status */
};

static bool fd_write(int fd, const void *data, size_t size)
{
	const char *from = data;
	ssize_t n;

	for (; size; from += n, size -= n) {
		n = write(fd, from, size);
		if (n < 0 && errno == EINTR)
			n = 0;
		if (n < 0)
			return false;
	}
	return true;
}

static bool fd_read(int fd, void *data, size_t size)
{
	char *to = data;
	ssize_t n;

	for (; size; to += n, size -= n) {
		n = read(fd, to, size);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return false;
	}
	return true;
}

static bool frame_write(int fd, struct frame frame)
{
	uint8_t head[5] = { frame.stream };
	uint32_t value = htonl(frame.value);

	memcpy(head + 1, &value, sizeof(value));
	return fd_write(fd, head, sizeof(head));
}

static bool frame_read(int fd, struct frame *frame)
{
	uint8_t head[5];
	uint32_t value;

	if (!fd_read(fd, head, sizeof(head)))
		return false;
	memcpy(&value, head + 1, sizeof(value));
	*frame = (struct frame){ .stream = head[0], .value = ntohl(value) };
	return true;
}

/* --- in the host ------------------------------------------------------------- */

static char *request_read(int fd, char *words[WORDS_MAX + 1])
{
	uint32_t size;
	char *text, *at;
	int n = 0;

	if (!fd_read(fd, &size, sizeof(size)))
		return NULL;
	size = ntohl(size);
	if (!size || size > REQUEST_MAX)
		return NULL;
	text = calloc(1, size + 1);
	if (!text)
		err(1, "memory");
	if (!fd_read(fd, text, size)) {
		free(text);
		return NULL;
	}
	for (at = text; at < text + size && n < WORDS_MAX; at += strlen(at) + 1)
		words[n++] = at;
	words[n] = NULL;
	return text;
}

static pid_t program_start(char **words, int pipes[2][2])
{
	pid_t pid;

	for (int i = 0; i < 2; i++)
		if (pipe(pipes[i]))
			err(1, "pipe");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		for (int i = 0; i < 2; i++) {
			dup2(pipes[i][1], i + 1);
			close(pipes[i][0]);
			close(pipes[i][1]);
		}
		signal(SIGPIPE, SIG_DFL);
		execvp(words[0], words);
		warn("%s", words[0]);
		_exit(127);
	}
	for (int i = 0; i < 2; i++)
		close(pipes[i][1]);
	return pid;
}

/* One request; the process is its own. */
static void request_serve(int fd)
{
	char *words[WORDS_MAX + 1], *text = request_read(fd, words), piece[PIECE];
	struct pollfd polls[3] = { { .fd = fd, .events = POLLIN } };
	int pipes[2][2], status = 0;
	pid_t pid;

	if (!text)
		exit(1);
	pid = program_start(words, pipes);
	for (int i = 0; i < 2; i++)
		polls[i + 1] = (struct pollfd){ .fd = pipes[i][0], .events = POLLIN };
	while (polls[1].fd >= 0 || polls[2].fd >= 0) {
		if (poll(polls, 3, -1) < 0)
			err(1, "poll");
		/* Nothing comes after a request but its end. */
		if (polls[0].revents) {
			kill(pid, SIGTERM);
			polls[0].fd = -1;
		}
		for (int i = 1; i < 3; i++) {
			ssize_t n = polls[i].revents ? read(polls[i].fd, piece, PIECE) : -2;

			if (n == 0 || n == -1)
				polls[i].fd = -1;
			else if (n > 0 && frame_write(fd, (struct frame){ i, n }))
				fd_write(fd, piece, n);
		}
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	frame_write(fd, (struct frame){ 0, status });
	free(text);
	exit(0);
}

static void serve(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_ANY) };
	int listens = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1, fd;

	setsockopt(listens, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(listens, (struct sockaddr *)&address, sizeof(address)) || listen(listens, 64))
		err(1, "port %d", port);
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		fd = accept4(listens, NULL, NULL, SOCK_CLOEXEC);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (fd >= 0 && !fork()) {
			close(listens);
			request_serve(fd);
		}
		close(fd);
	}
}

/* --- here -------------------------------------------------------------------- */

static bool request_write(int fd, char **words)
{
	char text[REQUEST_MAX];
	uint32_t size = 0, number;

	for (; *words; words++) {
		size_t length = strlen(*words) + 1;

		if (length > sizeof(text) - size)
			errx(125, "the command is too long");
		memcpy(text + size, *words, length);
		size += length;
	}
	number = htonl(size);
	return fd_write(fd, &number, sizeof(number)) && fd_write(fd, text, size);
}

static int run(int port, char **words)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* Of the output only that nobody reads it. */
	struct pollfd polls[2] = { { .fd = fd, .events = POLLIN }, { .fd = 1 } };
	struct frame frame;
	char piece[PIECE];

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) || !request_write(fd, words))
		err(125, "host at port %d", port);
	for (;;) {
		if (poll(polls, 2, -1) < 0)
			err(125, "poll");
		if (polls[1].revents & POLLERR)
			return 128 + SIGPIPE;
		if (!polls[0].revents)
			continue;
		if (!frame_read(fd, &frame))
			errx(125, "host at port %d: it does not answer", port);
		if (!frame.stream)
			return frame.value;
		if (frame.stream > 2 || frame.value > PIECE || !fd_read(fd, piece, frame.value))
			errx(125, "host at port %d: no answer of ours", port);
		fd_write(frame.stream, piece, frame.value);
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "serve"))
		serve(atoi(argv[2]));
	if (argc > 3 && !strcmp(argv[1], "run"))
		return run(atoi(argv[2]), argv + 3);
	errx(2, "usage: far serve PORT | far run PORT WORD...");
}
