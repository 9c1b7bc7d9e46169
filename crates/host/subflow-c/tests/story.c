/*
 * The story that every face tells in the same words, in C that is C++, too.
 *
 *     story ADDRESS PORT
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mptcplab_subflow.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

/* Longer than anything takes that happens at all. */
#define PATIENCE_MS 10000

static mptcplab_subflow_manager *manager;
static int sock;

static void must(int condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "%s: %s\n", what, mptcplab_subflow_last_message());
		exit(1);
	}
}

/* Prints the result of a command: its number or word, or the name of the error. */
static void outcome(int result, const char *word)
{
	if (result < 0)
		puts(mptcplab_subflow_error_name(result));
	else if (word)
		puts(word);
	else
		printf("%d\n", result);
}

/* "10.0.1.2" or "10.0.1.2/80"; returns the length. */
static socklen_t address(const char *text, struct sockaddr_storage *into)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)into;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)into;
	char host[64];
	const char *slash = strchr(text, '/');
	in_port_t port = htons(slash ? (in_port_t)atoi(slash + 1) : 0);

	snprintf(host, sizeof(host), "%.*s",
		 slash ? (int)(slash - text) : (int)strlen(text), text);
	memset(into, 0, sizeof(*into));
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = port;
		return sizeof(*v4);
	}
	must(inet_pton(AF_INET6, host, &v6->sin6_addr) == 1, text);
	v6->sin6_family = AF_INET6;
	v6->sin6_port = port;
	return sizeof(*v6);
}

/* The address without the port, which differs from run to run. */
static const char *ip(const struct sockaddr_storage *from, char *room, socklen_t length)
{
	switch (from->ss_family) {
	case AF_INET:
		return inet_ntop(AF_INET, &((const struct sockaddr_in *)from)->sin_addr, room,
				 length);
	case AF_INET6:
		return inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)from)->sin6_addr, room,
				 length);
	default:
		return "-";
	}
}

static const char *known(int number, char *room, size_t length)
{
	if (number < 0)
		return "-";
	snprintf(room, length, "%d", number);
	return room;
}

static void tell_ids(void)
{
	int ids[16], first;
	int count = mptcplab_subflow_ids(sock, ids, 16);

	must(count >= 0 && count <= 16, "ids");
	/* Subflows that there is no room for are counted all the same. */
	must(mptcplab_subflow_ids(sock, &first, 1) == count && first == ids[0], "one id");
	must(mptcplab_subflow_ids(sock, NULL, 0) == count, "no id");
	printf("ids:");
	for (int i = 0; i < count; i++)
		printf(" %d", ids[i]);
	puts("");
}

static void tell_tuple(int id)
{
	struct mptcplab_subflow_tuple tuple;
	char local[64], remote[64], numbers[3][16];
	int result = mptcplab_subflow_tuple(sock, id, &tuple);

	printf("tuple %d: ", id);
	if (result < 0) {
		outcome(result, NULL);
		return;
	}
	printf("%s %s %s %s %s %s\n", ip(&tuple.local, local, sizeof(local)),
	       ip(&tuple.remote, remote, sizeof(remote)),
	       known(tuple.local_id, numbers[0], sizeof(numbers[0])),
	       known(tuple.remote_id, numbers[1], sizeof(numbers[1])),
	       tuple.state == TCP_ESTABLISHED ? "ESTABLISHED" : "?",
	       known(tuple.backup, numbers[2], sizeof(numbers[2])));
}

static void open_subflow(const char *local, const char *remote, int backup, const char *interface)
{
	struct sockaddr_storage here, there;
	socklen_t here_length = address(local, &here);
	socklen_t there_length = remote ? address(remote, &there) : 0;

	printf("open %s %s %d %s: ", local, remote ? remote : "-", backup,
	       interface ? interface : "-");
	outcome(mptcplab_subflow_open(manager, sock, (const struct sockaddr *)&here, here_length,
				      remote ? (const struct sockaddr *)&there : NULL,
				      there_length, backup, interface, 300),
		NULL);
}

static void close_subflow(int id)
{
	printf("close %d: ", id);
	outcome(mptcplab_subflow_close(manager, sock, id), "done");
}

static void set_backup(int id, int backup)
{
	printf("backup %d %d: ", id, backup);
	outcome(mptcplab_subflow_set_backup(manager, sock, id, backup), "done");
}

static void announce(const char *local)
{
	struct sockaddr_storage here;
	socklen_t length = address(local, &here);

	printf("announce %s: ", local);
	outcome(mptcplab_subflow_announce(manager, sock, (const struct sockaddr *)&here, length),
		NULL);
}

static void withdraw(int id)
{
	printf("withdraw %d: ", id);
	outcome(mptcplab_subflow_withdraw(manager, sock, id), "done");
}

/* The first byte is the state. */
static void tell_tcp_info(int id)
{
	unsigned char whole[1024], state = 0;
	socklen_t length = sizeof(whole), one = 1;
	int result = mptcplab_subflow_getsockopt(manager, sock, id, IPPROTO_TCP, TCP_INFO, whole,
						 &length);

	printf("TCP_INFO %d: ", id);
	if (result < 0) {
		outcome(result, NULL);
		return;
	}
	must((socklen_t)result == length && length >= 168, "TCP_INFO");
	/* Cut as the kernel cuts, and without a manager. */
	must(mptcplab_subflow_getsockopt(NULL, sock, id, IPPROTO_TCP, TCP_INFO, &state, &one) ==
		     result && one == 1,
	     "a byte of TCP_INFO");
	must(state == whole[0], "the state");
	printf("%d\n", state);
}

/* Has the server do something. */
static void ask(char what)
{
	must(write(sock, &what, 1) == 1, "write");
}

static void echo(void)
{
	char heard;

	ask('x');
	must(read(sock, &heard, 1) == 1, "read");
	printf("echo: %c\n", heard);
}

static void tell(const struct mptcplab_subflow_event *event)
{
	static const char *const kinds[] = {
		"none", "created", "established", "closed", "address_announced",
		"address_removed", "subflow_established", "subflow_closed", "priority_changed",
	};
	char local[64], remote[64], numbers[4][16];

	printf("%s %s %s %s %s %s %s %s\n", kinds[event->kind],
	       known(event->subflow, numbers[0], sizeof(numbers[0])),
	       ip(&event->local, local, sizeof(local)), ip(&event->remote, remote, sizeof(remote)),
	       known(event->local_id, numbers[1], sizeof(numbers[1])),
	       known(event->remote_id, numbers[2], sizeof(numbers[2])),
	       known(event->backup, numbers[3], sizeof(numbers[3])),
	       event->reason[0] ? event->reason : "-");
}

static void tell_event(mptcplab_subflow_watch *watch)
{
	struct mptcplab_subflow_event event;

	must(mptcplab_subflow_watch_next(watch, &event, PATIENCE_MS) == 1, "event");
	printf("event: ");
	tell(&event);
}

/* Null pointers and numbers that are none are errors, not crashes. */
static void misuse(void)
{
	const int invalid = MPTCPLAB_SUBFLOW_INVALID;
	struct sockaddr_storage here;
	socklen_t length = address("10.0.2.2", &here);
	const struct sockaddr *local = (const struct sockaddr *)&here;
	int value = 1;

	must(mptcplab_subflow_manager_direct(NULL) == invalid, "no place for a manager");
	must(mptcplab_subflow_manager_open(NULL) == invalid, "no place for a manager");
	must(mptcplab_subflow_manager_broker(NULL, &manager) == invalid, "no path");
	must(mptcplab_subflow_manager_broker("/nowhere", &manager) == MPTCPLAB_SUBFLOW_NO_BROKER,
	     "no broker");
	must(!strcmp(mptcplab_subflow_last_message(),
		     "no broker at /nowhere: No such file or directory"),
	     "the message");
	must(mptcplab_subflow_ids(-1, NULL, 0) == invalid, "no descriptor");
	must(mptcplab_subflow_ids(sock, NULL, 4) == invalid, "no place for ids");
	must(mptcplab_subflow_tuple(sock, 1, NULL) == invalid, "no place for a tuple");
	must(mptcplab_subflow_tuple(sock, -1, NULL) == invalid, "no id");
	must(mptcplab_subflow_open(NULL, sock, local, length, NULL, 0, 0, NULL, -1) == invalid,
	     "no manager");
	must(mptcplab_subflow_open(manager, sock, NULL, 0, NULL, 0, 0, NULL, -1) == invalid,
	     "no address");
	must(mptcplab_subflow_open(manager, sock, local, 7, NULL, 0, 0, NULL, -1) == invalid,
	     "half an address");
	must(!strcmp(mptcplab_subflow_last_message(),
		     "local has 7 bytes; a sockaddr_in has 16"),
	     "the message");
	must(mptcplab_subflow_close(manager, sock, -5) == invalid, "no id");
	must(mptcplab_subflow_withdraw(manager, sock, 256) == invalid, "no id");
	must(mptcplab_subflow_announce(manager, sock, NULL, length) == invalid, "no address");
	must(mptcplab_subflow_getsockopt(manager, sock, 1, IPPROTO_TCP, TCP_INFO, &value, NULL) ==
		     invalid,
	     "no length");
	length = sizeof(value);
	must(mptcplab_subflow_getsockopt(manager, sock, 1, IPPROTO_TCP, TCP_INFO, NULL, &length) ==
		     invalid,
	     "no value");
	must(mptcplab_subflow_setsockopt(manager, sock, 1, SOL_SOCKET, SO_MARK, NULL, 4) == invalid,
	     "no value");
	must(mptcplab_subflow_setsockopt(NULL, sock, 1, SOL_SOCKET, SO_MARK, &value, 4) == invalid,
	     "no manager");
	must(mptcplab_subflow_events(manager, sock, NULL) == invalid, "no place for a watch");
	must(mptcplab_subflow_watch_fd(NULL) == invalid, "no watch");
	must(mptcplab_subflow_watch_next(NULL, NULL, 0) == invalid, "no watch");
	mptcplab_subflow_watch_free(NULL);
	mptcplab_subflow_manager_free(NULL);
	must(!strcmp(mptcplab_subflow_strerror(invalid), "invalid argument"), "strerror");
	must(!strcmp(mptcplab_subflow_error_name(-1000), "none"), "no error");
}

int main(int argc, char **argv)
{
	struct mptcplab_subflow_event event, last;
	struct sockaddr_storage server;
	mptcplab_subflow_watch *watch;
	char byte;
	char target[64];
	socklen_t length;
	int told, datagrams;

	must(argc == 3, "ADDRESS PORT");
	must(mptcplab_subflow_version() == MPTCPLAB_SUBFLOW_VERSION, "version");
	snprintf(target, sizeof(target), "%s/%s", argv[1], argv[2]);
	length = address(target, &server);
	sock = socket(server.ss_family, SOCK_STREAM, IPPROTO_MPTCP);
	must(sock >= 0, "socket");
	must(connect(sock, (struct sockaddr *)&server, length) == 0, "connect");
	must(mptcplab_subflow_manager_direct(&manager) == 0, "manager");

	echo();
	must(mptcplab_subflow_events(manager, sock, &watch) == 0, "events");
	must(mptcplab_subflow_watch_fd(watch) >= 0, "descriptor");
	must(mptcplab_subflow_watch_next(watch, &event, 0) == 0, "no event yet");
	misuse();
	tell_ids();
	open_subflow("10.0.2.2", NULL, 0, NULL);
	tell_event(watch);
	open_subflow("10.0.3.2", NULL, 1, "eth3");
	tell_event(watch);
	tell_ids();
	tell_tuple(2);
	tell_tuple(3);
	tell_tcp_info(2);
	set_backup(3, 0);
	tell_tuple(3);
	set_backup(2, 1);
	tell_tuple(2);
	set_backup(2, 0);
	ask('p');
	tell_event(watch);
	announce("10.0.1.2");
	withdraw(3);
	withdraw(77);
	ask('a');
	tell_event(watch);
	open_subflow("10.0.2.2", "10.0.2.1", 0, NULL);
	tell_event(watch);
	close_subflow(4);
	tell_event(watch);
	ask('w');
	tell_event(watch);
	close_subflow(1);
	tell_event(watch);
	echo();
	close_subflow(2);
	tell_event(watch);
	echo();
	tell_ids();
	mptcplab_subflow_watch_free(watch);

	close_subflow(2);
	set_backup(99, 1);
	tell_tuple(99);
	tell_tcp_info(99);
	open_subflow("10.9.9.9", NULL, 0, NULL);
	open_subflow("10.0.2.2", NULL, 0, "wlan7");
	open_subflow("10.0.2.2", "fd00:2::1", 0, NULL);
	open_subflow("10.0.2.2", "192.0.2.1", 0, NULL);
	open_subflow("10.0.2.2", "10.0.2.1/9", 0, NULL);
	open_subflow("10.0.2.2", "10.0.2.77", 0, NULL);
	datagrams = socket(AF_INET, SOCK_DGRAM, 0);
	printf("ids of another: ");
	outcome(mptcplab_subflow_ids(datagrams, NULL, 0), NULL);

	must(mptcplab_subflow_events(manager, sock, &watch) == 0, "events");
	ask('q');
	must(read(sock, &byte, 1) == 0, "the end");
	close(sock);
	while ((told = mptcplab_subflow_watch_next(watch, &event, -1)) == 1)
		last = event;
	must(told == 0, "events to the end");
	printf("last event: ");
	tell(&last);
	mptcplab_subflow_watch_free(watch);
	mptcplab_subflow_manager_free(manager);
	return 0;
}
