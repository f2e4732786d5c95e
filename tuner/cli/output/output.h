/* output.h: writes results, as text or as a JSON document, to standard output or to the file that --output names. */
#ifndef CLI_OUTPUT_OUTPUT_H
#define CLI_OUTPUT_OUTPUT_H

#include <stdio.h>

#include "base/files/replace.h"
#include "base/text/json.h"

/* Who may read a file that --output names. */
enum output_readers {
  OUTPUT_FOR_OWNER, /* mode 0600: the content of a database */
  OUTPUT_FOR_ALL,   /* as the umask says */
};

/* Write a text to a file (see output_file), or to stdout. main reports a failure to write to stdout.
 *   path  the value of --output; NULL if the option is not given: stdout
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status output_text(const char *path, enum output_readers readers, const char *text, size_t length);

/* Follow the links of a path that the user names for a result, to the file that will be written, even if it does not
 * exist yet. A link of another user in a folder that all may write to is refused.
 *   out  receives the path of the file, from malloc, for the caller to free; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status output_target(const char *path, char **out);

/* Write a text to a path, the only way in which a command writes a file that the user names.
 *   missing, regular  replaced in one step; after a failure the old file is there
 *   link              its target is written, even if it does not exist yet; the link stays
 *   device, pipe      opened and written; it stays what it is. A pipe without a reader waits for one
 *   folder            refused
 * Returns HALOTUNE_OK, HALOTUNE_IO, HALOTUNE_MEMORY, or HALOTUNE_CANCELLED if the program was asked to stop while a
 * pipe was waited for. */
halotune_status output_file(const char *path, enum output_readers readers, const char *text, size_t length);

/* Like output_file, for a content that need not fit into memory. If `write` fails, its status is returned, and a
 * regular file stays unchanged. */
halotune_status output_pieces(const char *path, enum output_readers readers, file_writer *write, void *context);

/* Write bytes to the descriptor that a writer of output_pieces gets. The call waits for a pipe that nobody reads: for
 * pipe_limit_ms, or without a limit if `path` is /dev/stdout or the like. Returns HALOTUNE_OK, HALOTUNE_IO, or
 * HALOTUNE_CANCELLED if the program was asked to stop. */
halotune_status output_bytes(const char *path, int fd, const char *bytes, size_t length);

/* Open a file that the user names for lines that are written while the program runs. Links are followed as
 * output_target does. A new, empty file takes the place of a regular one. A pipe that no program reads is refused.
 *   out  receives the stream, for the caller to close; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status output_stream(const char *path, FILE **out);

/* Print a document on stdout, and release it. Returns HALOTUNE_OK, or HALOTUNE_MEMORY if it is NULL. */
halotune_status print_json(json_t *json);

#endif
