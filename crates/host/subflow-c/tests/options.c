/*
 * Options of one subflow, without a broker.
 *
 *     options ADDRESS PORT OWN
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

static mptcplab_subflow_manager *manager;
static int sock;

static int must(int result)
{
	if (result < 0) {
		fprintf(stderr, "%s\n", mptcplab_subflow_last_message());
		exit(1);
	}
	return result;
}

static struct sockaddr_in address(const char *ip, const char *port)
{
	struct sockaddr_in made;

	memset(&made, 0, sizeof(made));
	made.sin_family = AF_INET;
	made.sin_port = htons((in_port_t)atoi(port));
	if (inet_pton(AF_INET, ip, &made.sin_addr) != 1)
		exit(2);
	return made;
}

static void tell(int id)
{
	char name[16];
	socklen_t length = sizeof(name);

	must(mptcplab_subflow_getsockopt(manager, sock, id, IPPROTO_TCP, TCP_CONGESTION, name,
					 &length));
	printf("%d: %.*s\n", id, (int)length, name);
}

int main(int argc, char **argv)
{
	struct sockaddr_in server, own;
	char byte = 'x';
	int second;

	if (argc != 4)
		return 2;
	server = address(argv[1], argv[2]);
	own = address(argv[3], "0");
	sock = socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);
	if (connect(sock, (struct sockaddr *)&server, sizeof(server)) < 0 ||
	    write(sock, &byte, 1) != 1 || read(sock, &byte, 1) != 1)
		return 1;
	must(mptcplab_subflow_manager_direct(&manager));
	second = must(mptcplab_subflow_open(manager, sock, (struct sockaddr *)&own, sizeof(own),
					    NULL, 0, 0, NULL, -1));
	must(mptcplab_subflow_setsockopt(manager, sock, second, IPPROTO_TCP, TCP_CONGESTION,
					 "cubic", 5));
	tell(1);
	tell(second);
	puts(mptcplab_subflow_error_name(mptcplab_subflow_setsockopt(
		manager, sock, second, IPPROTO_TCP, 9999, &second, sizeof(second))));
	mptcplab_subflow_manager_free(manager);
	return 0;
}
