/* output.h: results: a text or a JSON document, to standard output or to the file that --output names. */
#ifndef CLI_OUTPUT_OUTPUT_H
#define CLI_OUTPUT_OUTPUT_H

#include "base/json.h"
#include "tuner/cli/options/command.h"

/* Who may read a file that --output names. */
enum output_readers {
  OUTPUT_FOR_OWNER, /* mode 0600: the content of a database */
  OUTPUT_FOR_ALL,   /* as the umask says */
};

/* Write a text to the file that --output names (see output_file), or to stdout if the option is not given. main reports
 * a failure to write to stdout.
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status output_text(const struct invocation *invocation, enum output_readers readers, const char *text,
                            size_t length);

/* Write a text to a path, the only way in which a command writes a file that the user names.
 *   missing, regular  replaced in one step; after a failure the old file is there
 *   link              its target is written, even if it does not exist yet; the link stays
 *   device, pipe      opened and written; it stays what it is. A pipe without a reader waits for one
 *   folder            refused
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status output_file(const char *path, enum output_readers readers, const char *text, size_t length);

/* Print a document on stdout, and release it. Returns HALOTUNE_OK, or HALOTUNE_MEMORY if it is NULL. */
halotune_status print_json(json_t *json);

#endif
