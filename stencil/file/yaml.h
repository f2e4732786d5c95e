/* yaml.h: parses YAML text into a tree in which every node knows its place. Features that stencil and template files do
 * not need (anchors, tags, several documents) are refused. */
#ifndef STENCIL_FILE_YAML_H
#define STENCIL_FILE_YAML_H

#include <stdbool.h>

#include "base/memory/arena.h"
#include "stencil/expression/source.h"

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP };

/* How a text is written in the file. It decides whether each character of the value stands in the file as it is. */
enum yaml_style { YAML_PLAIN, YAML_QUOTED, YAML_LITERAL, YAML_FOLDED };

struct yaml {
  enum yaml_kind kind;
  struct place place;
  enum yaml_style style; /* of a text */
  const char *text;      /* the value of a text; NUL-terminated, with no NUL inside */
  size_t length;
  const char *key; /* the name of a member of a map */
  struct place key_place;
  struct yaml *first, *next; /* the first member of a list or map; the next member after this node */
  int count;                 /* number of members */
};

/* Parse a file that holds one document.
 *   source  the text; must live as long as errors about the tree can be made
 *   arena   receives the tree
 * Returns HALOTUNE_OK; HALOTUNE_PARSE for a text that is not YAML or not UTF-8, is nested too deep, names a key twice
 * or uses a refused feature; or HALOTUNE_MEMORY. */
halotune_status yaml_parse(const struct source *source, struct arena *arena, struct yaml **out);

/* Find the member of a map with this name. Returns NULL if there is none. */
const struct yaml *yaml_find(const struct yaml *map, const char *key);

/* Get the text of a node as a snippet. A place in the snippet is a place in the file.
 * Returns HALOTUNE_OK, or HALOTUNE_PARSE for a text whose lines YAML folded or whose characters it replaced. */
halotune_status yaml_snippet(const struct source *source, const struct yaml *node, struct snippet *out);

#endif
