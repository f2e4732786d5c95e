/* merge_words.h: how another database words the parameters of variants, and how this one does. A template's identity
 * depends neither on the order of its parameters nor on the spelling of their values, but the stored parameters of a
 * variant do. In other words a variant would be another one, for which neither verdicts nor times of this database
 * hold. */
#ifndef DB_EXCHANGE_MERGE_WORDS_H
#define DB_EXCHANGE_MERGE_WORDS_H

#include <stdint.h>

#include "db/store/launch_text.h"

/* Templates whose text differs between the databases: the other one has another text than this one, or than the
 * installed template. Begins as {0}; end it with merge_words_free. */
struct merge_words {
  struct {
    int64_t theirs;            /* the template's id in the other database */
    struct template *template; /* as this database has it */
  } * list;
  int count, room;
  struct text parameters; /* as merge_words_write returned them last */
};

/* Note that this database has a template with another text.
 *   theirs            its id in the other database
 *   name, yaml, cuda  as this database has them
 * Returns HALOTUNE_OK; HALOTUNE_PARSE or HALOTUNE_ARGUMENT if this program cannot read them; HALOTUNE_MEMORY. */
halotune_status merge_words_add(struct merge_words *words, int64_t theirs, const char *name, const char *yaml,
                                const char *cuda);

/* The parameters of a variant in the words of this database.
 *   theirs  the id of its template in the other database
 *   out     receives `parameters`, or a text that is valid until the next call
 * Returns HALOTUNE_OK; HALOTUNE_PARSE for parameters that the template does not have; HALOTUNE_MEMORY. */
halotune_status merge_words_write(struct merge_words *words, int64_t theirs, const char *parameters, const char **out);

void merge_words_free(struct merge_words *words);

#endif
