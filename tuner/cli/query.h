/* query.h: what `halotune query` has found, and how it is printed as a C header. */
#ifndef TUNER_CLI_QUERY_H
#define TUNER_CLI_QUERY_H

#include "db/kernel_build.h"
#include "db/lookup.h"

/* An answer with all that its kernel is made from. Texts and structs belong to the ctx; the coefficients end with query_free. */
struct query {
  halotune_ctx *ctx;
  halotune_config config;
  struct answer answer;
  struct question question;
  struct known_device room;
  const struct known_device *device;
  double *coefficients; /* the stencil's defaults */
};

void query_free(struct query *query);

/* A variant that stands in for another one. */
struct query_choice {
  const char *template_name, *parameters;
};

/* Append a C header with the configuration, the machine code and functions that load and launch it. It compiles as C99 and C++
 * with cuda.h alone.
 *   built   compiled for the query's device; a variant without textures
 *   chosen  the parameters of this variant where it stands in for a winner that needs textures; NULL: it is the winner
 * Ask text_ok(text). */
void query_header(const struct query *query, const struct built *built, const struct query_choice *chosen, int alignment_bytes,
                  struct text *text);

#endif
