/* yaml.h: YAML text to a tree in which every node knows its place. What stencil and template files do not need (anchors,
 * tags, several documents) is refused, so that no file means more than it seems to. */
#ifndef STENCIL_FILE_YAML_H
#define STENCIL_FILE_YAML_H

#include <stdbool.h>

#include "base/arena.h"
#include "stencil/expression/source.h"

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP };

/* How a text stands in the file; decides whether its characters can be found there one by one. */
enum yaml_style { YAML_PLAIN, YAML_QUOTED, YAML_LITERAL, YAML_FOLDED };

struct yaml {
  enum yaml_kind kind;
  struct place place;
  enum yaml_style style; /* of a text */
  const char *text;      /* of a text: its value, NUL-terminated, with no NUL inside */
  size_t length;
  const char *key; /* of a member of a map: its name */
  struct place key_place;
  struct yaml *first, *next; /* members of a list or map, in order; the next member beside this node */
  int count;                 /* number of members */
};

/* Parse a file that holds one document.
 *   source  the text; must outlive the tree's use in errors
 *   arena   receives the tree
 * Returns HALOTUNE_OK; HALOTUNE_PARSE for what is not YAML, not UTF-8, nested too deep, names a key twice, or uses what is
 * refused here; or HALOTUNE_MEMORY. */
halotune_status yaml_parse(const struct source *source, struct arena *arena, struct yaml **out);

/* The member of a map with this name; NULL where there is none. */
const struct yaml *yaml_find(const struct yaml *map, const char *key);

/* The text of a node as a snippet whose places are those of the file.
 * Returns HALOTUNE_OK, or HALOTUNE_PARSE for a text whose lines YAML folded or whose characters it replaced. */
halotune_status yaml_snippet(const struct source *source, const struct yaml *node, struct snippet *out);

#endif
