/* db_brings.c: writes the contents that a file would add: texts that decide what runs, machine code, and times. */
#include "tuner/cli/db/db_brings.h"

#include <string.h>

#include "base/text/line_diff.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "db/exchange/source_compare.h"
#include "library/lookup/installed.h"

/* Print a text of a file, each line after blanks, in printable characters. */
static void print_lines(FILE *out, const char *text) {
  char piece[1024], printable[4 * sizeof piece];
  for (const char *end; *text; text = *end ? end + 1 : end) {
    end = strchrnul(text, '\n');
    fprintf(out, "    ");
    do { /* lines are printed whole, however long they are */
      const size_t left = (size_t)(end - text), length = left < sizeof piece ? left : sizeof piece - 1;
      memcpy(piece, text, length);
      piece[length] = '\0';
      printable_copy(printable, sizeof printable, piece);
      fprintf(out, "%s", printable);
      text += length;
    } while (text < end);
    fprintf(out, "\n");
  }
}

/* Print the text that would be compiled, unless this program would generate the same. */
static void print_source(void *context, const struct compared_source *source) {
  FILE *out = context;
  struct text diff = {0};
  fprintf(out, "  source   %s, %s: ", source->hash, source->name);
  if (source->is_same)
    fprintf(out, "this Halotune generates the same%s\n",
            source->is_installed ? "" : " from the template of the file, which is not the installed one");
  else if (!*source->stored)
    fprintf(out, "the source was left out; this Halotune generates another source, which would be compiled:\n");
  else if (*source->why)
    fprintf(out, "this Halotune does not generate it (%s); it would be compiled as it is:\n", source->why);
  else fprintf(out, "this Halotune generates other lines (-) than would be compiled (+):\n");
  if (!source->is_same) {
    line_diff(source->generated, source->stored, &diff);
    print_lines(out, text_ok(&diff) ? text_string(&diff) : source->stored);
  }
  text_free(&diff);
}

static void print_content(void *context, const struct content *content) {
  char name[FAIL_TEXT_BYTES];
  printable_name(name, sizeof name, content->name);
  fprintf(context, "  %-8s %s, %s%s\n", content->kind, content->hash, name,
          content->is_known ? ": trusted already" : "");
}

/* How many contents of each kind a file has, and how many of them the database has. */
struct tally {
  long all[CONTENT_KINDS], known[CONTENT_KINDS];
};

static void count_content(void *context, const struct content *content) {
  struct tally *tally = context;
  tally->all[content->number]++;
  tally->known[content->number] += content->is_known;
}

static void print_tally(FILE *out, const struct tally *tally) {
  const char *before = "";
  for (int kind = 0; kind < CONTENT_KINDS; kind++) {
    if (tally->all[kind] == 0) continue;
    fprintf(out, "%s%ld %s", before, tally->all[kind], content_word(kind, tally->all[kind]));
    if (tally->known[kind] > 0) fprintf(out, " (%ld trusted already)", tally->known[kind]);
    before = ", ";
  }
  fprintf(out, "%s\n", *before ? "" : "nothing that runs");
}

halotune_status brings_begin(struct brings *brings) {
  struct store *store = NULL;
  halotune_status status = store_open(brings->path, STORE_READ, &store);
  if (status == HALOTUNE_NOT_FOUND) status = HALOTUNE_OK;
  if (status == HALOTUNE_OK) status = content_known_read(store, &brings->known);
  store_close(store);
  return status;
}

halotune_status brings_write(const struct brings *brings, const char *path, const char *signer, const char *giver,
                             const struct imported *file, FILE *out) {
  struct tally tally = {{0}, {0}};
  struct text name = {0};
  char document[IDENTITY_HEX_BYTES];
  halotune_status status;
  identity_hex(file->document, document);
  text_shell_word(&name, path); /* a name must not look like what comes behind it */
  fprintf(out, "%s, document %s%s%s, ", text_string(&name), document, *signer ? ", signed by " : "", signer);
  text_free(&name);
  if (!brings->lists) {
    status = content_each(file->store, brings->known, giver, count_content, &tally);
    fprintf(out, "brings ");
    print_tally(out, &tally);
    return status;
  }
  fprintf(out, "would bring:\n");
  status = content_each(file->store, brings->known, giver, print_content, out);
  if (status != HALOTUNE_OK || !brings->compares) return status;
  fprintf(out, "%s, compiled from source:\n", path);
  return sources_compare(file->store, installed_template, print_source, out);
}

void brings_end(struct brings *brings) { content_known_free(brings->known); }
