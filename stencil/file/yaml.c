/* yaml.c: turns libyaml's events into a tree, and its errors into messages with a place. */
#include "stencil/file/yaml.h"

#include <string.h>
#include <yaml.h>

#include "base/memory/array.h"
#include "base/memory/texts.h"
#include "base/text/utf8.h"

enum { MAX_NESTING = 16, MAX_FIELDS_OF_MAP = 4096 };

struct reader {
  yaml_parser_t parser;
  const struct source *source;
  struct arena *arena;
};

static struct place place_of(yaml_mark_t mark) { return (struct place){(int)mark.line + 1, (int)mark.column + 1}; }

/* Messages of libyaml for common mistakes, and our clearer messages for them. */
static const struct {
  const char *problem, *words;
} slips[] = {
    {"mapping values are not allowed in this context",
     "unexpected ':': indent all fields alike; put a text that contains ': ' in quotes, and an update with ?: behind '|'"},
    {"did not find expected key", "expected a field here, indented as those before it"},
    {"found character that cannot start any token", "a text cannot begin with this character: put the text in quotes"},
};

/* The brackets of lists and fields that stand on one line. */
static const struct {
  const char *problem;
  char begin, end;
} brackets[] = {{"did not find expected ',' or '}'", '{', '}'}, {"did not find expected ',' or ']'", '[', ']'}};

/* Fail for a byte that cannot be in YAML. libyaml gives only its offset; for broken UTF-8 that is the offset of the
 * byte that breaks the character, so step back to the character's first byte. */
static halotune_status bad_byte_fail(const struct reader *r, const char *problem) {
  const struct source *source = r->source;
  size_t offset = r->parser.problem_offset < source->length ? r->parser.problem_offset : source->length;
  bool utf8 = strstr(problem, "control character") == NULL;
  if (strstr(problem, "trailing")) {
    while (offset > 0 && ((unsigned char)source->text[--offset] & 0xC0U) != 0xC0U) continue;
  }
  return source_fail(source, place_behind((struct place){1, 1}, 1, source->text, offset), "%s%s", problem,
                     utf8 ? "; save the file as UTF-8" : "");
}

/* The byte at a place of the file; the file's end if the place is beyond it. */
static const char *byte_at(const struct source *source, struct place place) {
  const char *at = source->text;
  for (int line = 1; line < place.line && *at; at++) line += *at == '\n';
  for (int column = 1; column < place.column && *at && *at != '\n'; column++) at += character_bytes(at);
  return at;
}

/* Fail with libyaml's message or ours, and the place of the error. An error at the end of the file shows where the
 * unfinished part begins. */
static halotune_status reader_fail(const struct reader *r) {
  const yaml_parser_t *parser = &r->parser;
  const char *problem = parser->problem ? parser->problem : "not readable as YAML";
  struct place place = place_of(parser->problem_mark), begin = place_of(parser->context_mark);
  const char *culprit = byte_at(r->source, place);
  if (parser->error == YAML_MEMORY_ERROR) return fail_memory();
  if (parser->error == YAML_READER_ERROR) return bad_byte_fail(r, problem);
  if (*culprit == '\t') return source_fail(r->source, place, "a tab cannot indent a line; use spaces");
  for (size_t i = 0; i < COUNT(slips); i++) {
    if (strcmp(problem, slips[i].problem) == 0) return source_fail(r->source, place, "%s", slips[i].words);
  }
  for (size_t i = 0; i < COUNT(brackets); i++) {
    if (strcmp(problem, brackets[i].problem) != 0) continue;
    if (begin.line == place.line && *culprit)
      return source_fail(r->source, place, "expected ',' or '%c'; put a text that contains ': ' in quotes",
                         brackets[i].end);
    return source_fail(r->source, begin, "'%c' has no '%c'", brackets[i].begin, brackets[i].end);
  }
  if (!parser->context) return source_fail(r->source, place, "%s", problem);
  if (*culprit == '\0') return source_fail(r->source, begin, "%s %s", problem, parser->context);
  if (begin.line == place.line) return source_fail(r->source, place, "%s %s", problem, parser->context);
  return source_fail(r->source, place, "%s %s, which begins in line %d", problem, parser->context, begin.line);
}

static halotune_status next_event(struct reader *r, yaml_event_t *event) {
  return yaml_parser_parse(&r->parser, event) ? HALOTUNE_OK : reader_fail(r);
}

static enum yaml_style style_of(yaml_scalar_style_t style) {
  switch (style) {
  case YAML_LITERAL_SCALAR_STYLE: return YAML_LITERAL;
  case YAML_FOLDED_SCALAR_STYLE: return YAML_FOLDED;
  case YAML_SINGLE_QUOTED_SCALAR_STYLE:
  case YAML_DOUBLE_QUOTED_SCALAR_STYLE: return YAML_QUOTED;
  default: return YAML_PLAIN;
  }
}

/* Check the characters of a value: escapes in quotes can write characters that the file itself may not contain. Line
 * ends and tabs are allowed. */
static bool is_printable(const char *text, size_t length) {
  for (size_t i = 0, step; i < length; i += step) {
    bool layout = text[i] == '\n' || text[i] == '\t';
    step = layout ? 1 : printable_bytes(text + i, length - i);
    if (step == 0) return false;
  }
  return true;
}

/* Fill in the node that an event begins, without its members. */
static halotune_status node_of_event(struct reader *r, const yaml_event_t *event, struct yaml *node) {
  struct place place = place_of(event->start_mark);
  const yaml_char_t *anchor = NULL, *tag = NULL;
  node->place = place;
  switch (event->type) {
  case YAML_SCALAR_EVENT:
    anchor = event->data.scalar.anchor, tag = event->data.scalar.tag;
    node->kind = YAML_TEXT;
    node->style = style_of(event->data.scalar.style);
    node->length = event->data.scalar.length;
    node->text = arena_text(r->arena, (const char *)event->data.scalar.value, node->length);
    if (!node->text) return fail_memory();
    if (!is_printable(node->text, node->length)) {
      return source_fail(r->source, place, "a text cannot contain a control character");
    }
    break;
  case YAML_SEQUENCE_START_EVENT:
    anchor = event->data.sequence_start.anchor, tag = event->data.sequence_start.tag;
    node->kind = YAML_LIST;
    break;
  case YAML_MAPPING_START_EVENT:
    anchor = event->data.mapping_start.anchor, tag = event->data.mapping_start.tag;
    node->kind = YAML_MAP;
    break;
  default: return source_fail(r->source, place, "aliases such as *name are not allowed in these files");
  }
  if (anchor) return source_fail(r->source, place, "anchors such as &name are not allowed in these files");
  if (tag) return source_fail(r->source, place, "tags such as !name are not allowed in these files");
  return HALOTUNE_OK;
}

static halotune_status read_members(struct reader *r, struct yaml *parent, int nesting);

/* Read the node that begins with this event, and all nodes below it. */
static halotune_status read_node(struct reader *r, const yaml_event_t *event, int nesting, struct yaml **out) {
  struct yaml *node = arena_alloc(r->arena, sizeof *node);
  if (!node) return fail_memory();
  *out = node;
  halotune_status status = node_of_event(r, event, node);
  if (status != HALOTUNE_OK || node->kind == YAML_TEXT) return status;
  if (nesting == MAX_NESTING) return source_fail(r->source, node->place, "nested more than %d deep", MAX_NESTING);
  return read_members(r, node, nesting + 1);
}

/*   keys  those of the map so far; the key is added */
static halotune_status check_key(const struct reader *r, const struct yaml *map, const struct yaml *key,
                                 struct texts *keys) {
  const int count = keys->count;
  if (key->kind != YAML_TEXT) return source_fail(r->source, key->place, "expected the name of a field");
  if (map->count == MAX_FIELDS_OF_MAP) {
    return source_fail(r->source, key->place, "more than %d fields", MAX_FIELDS_OF_MAP);
  }
  const int number = texts_add(keys, key->text, key->length);
  if (number < 0) return fail_memory();
  if (number < count) return source_fail(r->source, key->place, "'%s' stands here twice", key->text);
  return HALOTUNE_OK;
}

static halotune_status read_all_members(struct reader *r, struct yaml *parent, int nesting, struct texts *keys) {
  const struct yaml *key = NULL; /* in a map: the key whose value comes next */
  struct yaml **end = &parent->first;
  for (;;) {
    yaml_event_t event;
    struct yaml *node = NULL;
    halotune_status status = next_event(r, &event);
    if (status != HALOTUNE_OK) return status;
    bool last = event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
    if (!last) status = read_node(r, &event, nesting, &node);
    yaml_event_delete(&event);
    if (last || status != HALOTUNE_OK) return status;
    if (parent->kind == YAML_MAP && !key) {
      if ((status = check_key(r, parent, node, keys)) != HALOTUNE_OK) return status;
      key = node;
      continue;
    }
    if (key) node->key = key->text, node->key_place = key->place;
    key = NULL;
    *end = node;
    end = &node->next;
    parent->count++;
  }
}

static halotune_status read_members(struct reader *r, struct yaml *parent, int nesting) {
  struct texts keys = {0};
  const halotune_status status = read_all_members(r, parent, nesting, &keys);
  texts_free(&keys);
  return status;
}

/* Read the only document of the file. */
static halotune_status read_document(struct reader *r, struct yaml **out) {
  struct yaml *root = NULL;
  int documents = 0;
  for (;;) {
    yaml_event_t event;
    halotune_status status = next_event(r, &event);
    if (status != HALOTUNE_OK) return status;
    yaml_event_type_t type = event.type;
    if (type == YAML_DOCUMENT_START_EVENT) {
      if (++documents > 1)
        status = source_fail(r->source, place_of(event.start_mark), "a file can hold only one document");
    } else if (type != YAML_STREAM_START_EVENT && type != YAML_STREAM_END_EVENT && type != YAML_DOCUMENT_END_EVENT) {
      status = read_node(r, &event, 0, &root);
    }
    yaml_event_delete(&event);
    if (status != HALOTUNE_OK) return status;
    if (type == YAML_STREAM_END_EVENT) break;
  }
  if (!root) return source_fail(r->source, (struct place){1, 1}, "the file is empty");
  *out = root;
  return HALOTUNE_OK;
}

/* Refuse characters that YAML takes for line ends, but editors and our line numbers do not. */
static halotune_status check_line_ends(const struct source *source) {
  static const char *const others[] = {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"}; /* U+0085, U+2028, U+2029 */
  for (size_t i = 0; i < source->length; i++) {
    const char *at = source->text + i;
    bool refused = *at == '\r' && at[1] != '\n';
    for (size_t k = 0; k < COUNT(others); k++) refused = refused || strncmp(at, others[k], strlen(others[k])) == 0;
    if (!refused) continue;
    struct place place = place_behind((struct place){1, 1}, 1, source->text, i);
    return source_fail(source, place,
                       "only YAML takes this character for the end of a line; end lines with LF or with CR LF");
  }
  return HALOTUNE_OK;
}

halotune_status yaml_parse(const struct source *source, struct arena *arena, struct yaml **out) {
  struct reader r = {.source = source, .arena = arena};
  *out = NULL;
  halotune_status status = check_line_ends(source);
  if (status != HALOTUNE_OK) return status;
  if (!yaml_parser_initialize(&r.parser)) return fail_memory();
  /* otherwise libyaml guesses the encoding from the first bytes */
  yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&r.parser, (const unsigned char *)source->text, source->length);
  status = read_document(&r, out);
  yaml_parser_delete(&r.parser);
  return status;
}

const struct yaml *yaml_find(const struct yaml *map, const char *key) {
  for (const struct yaml *node = map->first; node; node = node->next) {
    if (strcmp(node->key, key) == 0) return node;
  }
  return NULL;
}

/* The place where the text of a literal block begins: the line below '|', after the indentation that YAML removed. */
static struct place literal_start(const struct source *source, const struct yaml *node) {
  struct place start = {node->place.line + 1, 1};
  size_t blank = strspn(node->text, "\n");    /* an empty line may be shorter than the indentation */
  if (!node->text[blank]) return node->place; /* only empty lines */
  size_t in_value = strcspn(node->text + blank, "\n");
  size_t in_file = strcspn(byte_at(source, (struct place){start.line + (int)blank, 1}), "\r\n");
  if (in_file >= in_value) start.column += (int)(in_file - in_value);
  return start;
}

halotune_status yaml_snippet(const struct source *source, const struct yaml *node, struct snippet *out) {
  struct place start = node->place;
  if (node->style == YAML_LITERAL) {
    start = literal_start(source, node);
  } else { /* the text is on one line, and the same characters stand in the file */
    if (node->style == YAML_QUOTED) start.column++;
    if (node->style == YAML_FOLDED || strncmp(byte_at(source, start), node->text, node->length) != 0) {
      return source_fail(source, node->place, "write this on one plain line, or as a literal block behind '|'");
    }
  }
  *out = (struct snippet){.source = source, .text = node->text, .length = node->length, .start = start};
  return HALOTUNE_OK;
}
