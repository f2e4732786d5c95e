/* stop_signals.h: how a command is asked to stop: SIGINT (Ctrl-C) and SIGTERM. */
#ifndef CLI_OUTPUT_STOP_SIGNALS_H
#define CLI_OUTPUT_STOP_SIGNALS_H

#include <signal.h>

/* Catch both signals from now on. The first one sets the flag, which also
 * ends waits for pipes; the second one ends the program at once. */
void stop_signals_catch(void);

/* The flag: not 0 once a signal was caught. */
const volatile sig_atomic_t *stop_flag(void);

#endif
