/*
 * The subflows of a program's own MPTCP connections on an unpatched Linux kernel.
 *
 * `fd` is always a connected MPTCP socket (IPPROTO_MPTCP). What there is to know of one's own
 * connection the kernel tells anybody. Commands are carried out by a manager: the broker (`mptcplab
 * broker`), or this process itself where it has CAP_NET_ADMIN. Connections must be opened while
 * net.mptcp.path_manager=userspace.
 *
 * Functions that return int return a number >= 0, or a negative code of enum
 * mptcplab_subflow_error; mptcplab_subflow_last_message() then says what to do about it. Signals do
 * not end a wait. A manager may be used by any number of threads at once; a watch by one at a time.
 */
#ifndef MPTCPLAB_SUBFLOW_H
#define MPTCPLAB_SUBFLOW_H

#include <stddef.h>
#include <sys/socket.h>

/* Changes with every change that breaks programs; it is the number of the library's name, too. */
#define MPTCPLAB_SUBFLOW_VERSION 1

/* Room for the reason of an event, its final zero included. */
#define MPTCPLAB_SUBFLOW_REASON_BYTES 128

#ifdef __cplusplus
extern "C" {
#endif

enum mptcplab_subflow_error {
	/* The socket is of another protocol. */
	MPTCPLAB_SUBFLOW_NOT_MPTCP = -1,
	/* There is no connection. */
	MPTCPLAB_SUBFLOW_NOT_CONNECTED = -2,
	/* The peer has not confirmed the handshake yet. */
	MPTCPLAB_SUBFLOW_NOT_ESTABLISHED = -3,
	/* The connection goes on as plain TCP. */
	MPTCPLAB_SUBFLOW_FELL_BACK = -4,
	/* The connection was opened under the kernel's own path manager. */
	MPTCPLAB_SUBFLOW_KERNEL_PATH_MANAGER = -5,
	/* The connection has no such subflow, or no longer. */
	MPTCPLAB_SUBFLOW_NO_SUCH_SUBFLOW = -6,
	/* The connection may not have more subflows. */
	MPTCPLAB_SUBFLOW_LIMIT_REACHED = -7,
	/* The address is not one of this host, or its port is taken. */
	MPTCPLAB_SUBFLOW_NOT_LOCAL = -8,
	/* There is no way from that address to the peer. */
	MPTCPLAB_SUBFLOW_NO_ROUTE = -9,
	/* One address is of IPv4, the other of IPv6. */
	MPTCPLAB_SUBFLOW_FAMILIES_DIFFER = -10,
	/* There is no such interface. */
	MPTCPLAB_SUBFLOW_NO_INTERFACE = -11,
	/* The peer did not let the subflow join. */
	MPTCPLAB_SUBFLOW_REFUSED = -12,
	/* No answer came from the peer. */
	MPTCPLAB_SUBFLOW_TIMED_OUT = -13,
	/* The waiting was ended. */
	MPTCPLAB_SUBFLOW_INTERRUPTED = -14,
	/* The connection has announced no address with this id. */
	MPTCPLAB_SUBFLOW_NO_SUCH_ADDRESS = -15,
	/* All ids of addresses of the connection are taken. */
	MPTCPLAB_SUBFLOW_NO_ID_LEFT = -16,
	/* There is neither privilege nor a broker. */
	MPTCPLAB_SUBFLOW_NOT_PRIVILEGED = -17,
	/* The broker cannot be reached. */
	MPTCPLAB_SUBFLOW_NO_BROKER = -18,
	/* The broker's policy forbids it. */
	MPTCPLAB_SUBFLOW_FORBIDDEN = -19,
	/* The broker has too much to do for this program, or events were lost. */
	MPTCPLAB_SUBFLOW_TOO_MANY = -20,
	/* The socket is of another network namespace than the broker or process that should act. */
	MPTCPLAB_SUBFLOW_FOREIGN_NAMESPACE = -21,
	/* The kernel does not know the option, or does not set it on a subflow. */
	MPTCPLAB_SUBFLOW_OPTION_REFUSED = -22,
	/* Options on one subflow need BPF. */
	MPTCPLAB_SUBFLOW_NEEDS_BPF = -23,
	/* The kernel has no MPTCP. */
	MPTCPLAB_SUBFLOW_NO_MPTCP = -24,
	/* Program and broker do not understand each other. */
	MPTCPLAB_SUBFLOW_PROTOCOL = -25,
	/* The kernel refused something for another reason. */
	MPTCPLAB_SUBFLOW_KERNEL = -26,
	/* An argument is a null pointer, no address, or out of range. */
	MPTCPLAB_SUBFLOW_INVALID = -27,
	/* A fault of the library. */
	MPTCPLAB_SUBFLOW_FAULT = -28,
	/* The connection is being closed by one of its ends. */
	MPTCPLAB_SUBFLOW_CLOSING = -29,
	/* The peer has the address already, as that of the first subflow. */
	MPTCPLAB_SUBFLOW_ALREADY_KNOWN = -30,
};

/* MPTCPLAB_SUBFLOW_VERSION of the library that the program runs with. */
int mptcplab_subflow_version(void);

/* The meaning of a code, and its name in lower case without the prefix ("no_route"). */
const char *mptcplab_subflow_strerror(int code);
const char *mptcplab_subflow_error_name(int code);

/* The message of the last call of this thread that failed; valid until the next one fails. */
const char *mptcplab_subflow_last_message(void);

/*
 * Questions that need no privilege
 */

/* How many subflows there are now; the ids of the first `room` go to `ids`. */
int mptcplab_subflow_ids(int fd, int *ids, size_t room);

/* A subflow's addresses, and what it is in its connection; -1 is not known. */
struct mptcplab_subflow_tuple {
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	/* Ids of the addresses. */
	int local_id;
	int remote_id;
	/* State of TCP as in <netinet/tcp.h>: TCP_ESTABLISHED … */
	int state;
	/* 1: it is a backup, for one of the two ends. */
	int backup;
};

int mptcplab_subflow_tuple(int fd, int id, struct mptcplab_subflow_tuple *tuple);

/*
 * Managers
 */

typedef struct mptcplab_subflow_manager mptcplab_subflow_manager;

/* By the broker that MPTCPLAB_BROKER names, or the host's, or else by this process itself. */
int mptcplab_subflow_manager_open(mptcplab_subflow_manager **manager);
/* By this process itself, in the network namespace of the calling thread. */
int mptcplab_subflow_manager_direct(mptcplab_subflow_manager **manager);
/* By the broker at this Unix socket. */
int mptcplab_subflow_manager_broker(const char *path, mptcplab_subflow_manager **manager);
/* A null pointer is passed over. */
void mptcplab_subflow_manager_free(mptcplab_subflow_manager *manager);

/*
 * Commands
 */

/*
 * Opens a subflow from `local` (port 0: any), waits until the peer has let it join, and returns its
 * id. `remote` may be null: where the connection was opened to; its port may be 0: that of the
 * connection. A backup carries data only while no other subflow can. `interface` is the name of the
 * one that the subflow is bound to, or null. A `timeout_ms` below 0 is 5000.
 */
int mptcplab_subflow_open(mptcplab_subflow_manager *manager, int fd,
			  const struct sockaddr *local, socklen_t local_length,
			  const struct sockaddr *remote, socklen_t remote_length,
			  int backup, const char *interface, int timeout_ms);

/* Closes a subflow. What was sent on it and not acknowledged goes out on others. */
int mptcplab_subflow_close(mptcplab_subflow_manager *manager, int fd, int id);

/* Makes a subflow a backup, or no longer (0), and tells the peer (MP_PRIO). */
int mptcplab_subflow_set_backup(mptcplab_subflow_manager *manager, int fd, int id, int backup);

/* Announces an address to the peer (ADD_ADDR), with a port or without (0), and returns its id. */
int mptcplab_subflow_announce(mptcplab_subflow_manager *manager, int fd,
			      const struct sockaddr *address, socklen_t length);

/* Withdraws an announced address (REMOVE_ADDR); its subflows close. */
int mptcplab_subflow_withdraw(mptcplab_subflow_manager *manager, int fd, int address_id);

/*
 * The value of an option on one subflow, as getsockopt(2) gives it: at most `*length` bytes go to
 * `value`, and `*length` says how many did. Returns the value's whole length. TCP_INFO, a struct
 * tcp_info, needs neither privilege nor a broker, and `manager` may be null for it.
 */
int mptcplab_subflow_getsockopt(mptcplab_subflow_manager *manager, int fd, int id, int level,
				int option, void *value, socklen_t *length);

/*
 * Sets an option on one subflow only, as setsockopt(2) does. This and the reading of others than
 * TCP_INFO is done by BPF: the manager's broker was started by root, or this process has
 * CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN and CAP_NET_ADMIN outside of user namespaces, and libbpf.
 */
int mptcplab_subflow_setsockopt(mptcplab_subflow_manager *manager, int fd, int id, int level,
				int option, const void *value, socklen_t length);

/*
 * Events
 */

enum mptcplab_subflow_event_kind {
	/* The connection was opened; its handshake is not complete. */
	MPTCPLAB_SUBFLOW_EVENT_CREATED = 1,
	/* The connection is established. */
	MPTCPLAB_SUBFLOW_EVENT_ESTABLISHED = 2,
	/* The connection is closed. Nothing follows. */
	MPTCPLAB_SUBFLOW_EVENT_CLOSED = 3,
	/* The peer announced an address (ADD_ADDR): `remote` and `remote_id`. */
	MPTCPLAB_SUBFLOW_EVENT_ADDRESS_ANNOUNCED = 4,
	/* The peer withdrew an address (REMOVE_ADDR): `remote_id`. */
	MPTCPLAB_SUBFLOW_EVENT_ADDRESS_REMOVED = 5,
	/* An additional subflow is established. */
	MPTCPLAB_SUBFLOW_EVENT_SUBFLOW_ESTABLISHED = 6,
	/* A subflow is closed, or could not be opened. */
	MPTCPLAB_SUBFLOW_EVENT_SUBFLOW_CLOSED = 7,
	/* The peer changed a subflow's priority (MP_PRIO). */
	MPTCPLAB_SUBFLOW_EVENT_PRIORITY_CHANGED = 8
};

/* Something that happened. What is not known is -1, an address of AF_UNSPEC, or an empty text. */
struct mptcplab_subflow_event {
	/* enum mptcplab_subflow_event_kind */
	int kind;
	/* Id of the subflow that it happened to. */
	int subflow;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	int local_id;
	int remote_id;
	/* 1: the peer wants the subflow to be used as a backup. */
	int backup;
	/* Why the subflow closed, where it was not in order. */
	char reason[MPTCPLAB_SUBFLOW_REASON_BYTES];
};

typedef struct mptcplab_subflow_watch mptcplab_subflow_watch;

/* Watches what happens to a connection from now on. It ends with the connection. */
int mptcplab_subflow_events(mptcplab_subflow_manager *manager, int fd,
			    mptcplab_subflow_watch **watch);

/* A descriptor that is ready to be read when there may be an event. */
int mptcplab_subflow_watch_fd(mptcplab_subflow_watch *watch);

/*
 * The next event: 1 when there is one; 0 when none came within `timeout_ms` (below 0: waits as long
 * as it takes), and after the connection is closed.
 */
int mptcplab_subflow_watch_next(mptcplab_subflow_watch *watch,
				struct mptcplab_subflow_event *event, int timeout_ms);

/* A null pointer is passed over. */
void mptcplab_subflow_watch_free(mptcplab_subflow_watch *watch);

#ifdef __cplusplus
}
#endif

#endif
