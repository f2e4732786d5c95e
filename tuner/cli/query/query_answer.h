/* query_answer.h: what `halotune query` has found, and how it is printed as a C header. */
#ifndef CLI_QUERY_QUERY_ANSWER_H
#define CLI_QUERY_QUERY_ANSWER_H

#include "library/kernel/kernel_build.h"
#include "library/lookup/lookup.h"
#include "tuner/cli/options/loaded_stencil.h"

/* A question, and its answer with all that its kernel is made from. Texts and structs belong to the ctx; the
 * coefficients end with query_free. */
struct query {
  halotune_ctx *ctx;
  halotune_problem problem;
  struct loaded file;                /* of a stencil that was given as a file */
  char stencil_hash[HASH_HEX_BYTES]; /* the name of a stencil that was given as a file */
  bool is_untuned;                   /* there is no winner of just this problem that lookup may return */
  halotune_config config;
  struct answer answer;
  struct question question;
  struct known_device room;
  const struct known_device *device;
  double *coefficients; /* the defaults of the file, or of the stencil that the database knows */
};

void query_free(struct query *query);

/* Append "512x512x512". */
void query_add_grid(const long long grid[MAX_DIMS], int dims, struct text *text);

/* Say on stderr where a database has a winner of just this problem that was imported without trust, and how to give it
 * trust. For what is_untuned. */
void query_tell_untrusted(const struct query *query);

/* The grid on which the winner was verified as well, as "509x251x499"; "" where its rules kept none.
 * Returns whether that is known: there is a winner, and its database is still there. */
enum { QUERY_GRID_BYTES = 64 };
bool query_second_grid(const struct query *query, char grid[QUERY_GRID_BYTES]);

/* A variant that stands in for another one. */
struct query_choice {
  const char *template_name, *parameters;
};

/* Append a C header with the configuration, the machine code and functions that load and launch it. It compiles as C99 and C++
 * with cuda.h alone.
 *   built   compiled for the query's device; a variant without textures
 *   chosen  the parameters of this variant where it stands in for a winner that needs textures; NULL: it is the winner
 * Ask text_ok(text). */
void query_header(const struct query *query, const struct built *built, const struct query_choice *chosen,
                  int alignment_bytes, struct text *text);

#endif
