/* processes.h: a team on one host. Its members are forks of this process, with a socket to each. */
#ifndef FLEET_PROCESSES_H
#define FLEET_PROCESSES_H

#include "tuner/fleet/link.h"

/* wait for members that were sent home, before they are killed */
enum { PROCESSES_MOST = 255, PROCESSES_HOME_MS = 10000 };

/* Fork members. The function returns in each of them as well, where out->rank is not 0. A member dies with its leader,
 * even if that is killed, and Ctrl-C does not reach it.
 *   members  1 to PROCESSES_MOST
 *   out      ended with its table's `close` in each process; a member then has to end
 * Returns HALOTUNE_OK, or HALOTUNE_IO, HALOTUNE_ARGUMENT or HALOTUNE_MEMORY in the leader: there are no members then.
 * Threads: call it before the program starts others, opens a database or uses a GPU. */
halotune_status processes_open(int members, struct fleet_link *out);

#endif
