/* stage_words.h: the words with which templates speak of stages that differ: how many there are, numbers that each
 * stage has, sums of these, and updates; private to stencil/. */
#ifndef STENCIL_GENERATE_STAGE_WORDS_H
#define STENCIL_GENERATE_STAGE_WORDS_H

#include "stencil/generate/prelude_parts.h"

/* Append the definitions of these words. */
void stage_words_write(struct text *text, const struct prelude *prelude);

/* Append a template's text. Where all stages are alike, what the words stand for is put in their place: a sum over so
 * many stages becomes a product. So the source of one update says no more than it needs.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status stage_words_inline(const struct prelude *prelude, const char *cuda, struct text *out);

#endif
