/* npy.c: reads and writes the header of a file in NumPy's format. The header is a short prefix and the text of a Python
 * dictionary with the keys descr, fortran_order and shape. */
#include "base/files/npy.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC_BYTES = sizeof magic - 1, VERSION_1_PREFIX = MAGIC_BYTES + 4 };

static unsigned long little_endian(const char *bytes, int count) {
  unsigned long value = 0;
  for (int i = count - 1; i >= 0; i--) value = value << CHAR_BIT | (unsigned char)bytes[i];
  return value;
}

halotune_status npy_header_bytes(const char *prefix, size_t length, size_t *out) {
  if (length >= 4 && memcmp(prefix, "PK\3\4", 4) == 0)
    return fail(HALOTUNE_PARSE, "this is an archive (.npz); save each array in a file of its own with numpy.save");
  if (length < MAGIC_BYTES || memcmp(prefix, magic, MAGIC_BYTES) != 0)
    return fail(HALOTUNE_PARSE, "this is not a file in NumPy's format (.npy); write it with numpy.save");
  if (length < NPY_PREFIX_BYTES) return fail(HALOTUNE_PARSE, "the file ends in its header");
  const int major = (unsigned char)prefix[MAGIC_BYTES], minor = (unsigned char)prefix[MAGIC_BYTES + 1];
  if (major < 1 || major > 3)
    return fail(HALOTUNE_PARSE, "the file has version %d.%d of NumPy's format; versions 1 to 3 are known", major,
                minor);
  const int width = major == 1 ? 2 : 4;
  const unsigned long text_bytes = little_endian(prefix + MAGIC_BYTES + 2, width);
  if (text_bytes > NPY_MOST_HEADER_BYTES)
    return fail(HALOTUNE_PARSE, "the header has %lu bytes; at most %d are read", text_bytes, NPY_MOST_HEADER_BYTES);
  *out = MAGIC_BYTES + 2 + (size_t)width + text_bytes;
  return *out < NPY_PREFIX_BYTES ? fail(HALOTUNE_PARSE, "the header is empty") : HALOTUNE_OK;
}

/* The text of the dictionary, and how far it was read. */
struct cursor {
  const char *start, *at, *end;
};

static halotune_status fail_damaged(const struct cursor *c, const char *expected) {
  return fail(HALOTUNE_PARSE, "the header is damaged: byte %td is not %s", c->at - c->start + 1, expected);
}

static void skip_space(struct cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t')) c->at++;
}

/* Skip spaces, and this character if it comes next. Returns whether it did. */
static bool take_character(struct cursor *c, char wanted) {
  skip_space(c);
  if (c->at == c->end || *c->at != wanted) return false;
  c->at++;
  return true;
}

static bool take_word(struct cursor *c, const char *word) {
  const size_t length = strlen(word);
  skip_space(c);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
  c->at += length;
  return true;
}

/* Read a string of at most NPY_TYPE_BYTES - 1 letters, digits, underscores and signs of byte order. */
static halotune_status read_string(struct cursor *c, char out[NPY_TYPE_BYTES]) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_<>=|[]";
  const char quote = take_character(c, '\'') ? '\'' : '"';
  size_t length = 0;
  if (quote == '"' && !take_character(c, '"')) return fail_damaged(c, "a quote");
  while (c->at < c->end && *c->at && strchr(letters, *c->at) && length < NPY_TYPE_BYTES - 1) out[length++] = *c->at++;
  out[length] = '\0';
  if (c->at == c->end || *c->at != quote) return fail_damaged(c, "part of a name");
  c->at++;
  return HALOTUNE_OK;
}

static halotune_status read_type(struct cursor *c, struct npy *out) {
  skip_space(c);
  if (c->at < c->end && *c->at == '[')
    return fail(HALOTUNE_PARSE, "the array holds records; save one field of them with numpy.save");
  halotune_status status = read_string(c, out->type);
  if (status != HALOTUNE_OK) return status;
  if (strlen(out->type) >= 2 && strchr("<>=|", out->type[0])) return HALOTUNE_OK;
  return fail(HALOTUNE_PARSE, "the header is damaged: '%s' is not a type", out->type);
}

static halotune_status read_bool(struct cursor *c, bool *out) {
  if (take_word(c, "True")) return *out = true, HALOTUNE_OK;
  if (take_word(c, "False")) return *out = false, HALOTUNE_OK;
  return fail_damaged(c, "True or False");
}

static halotune_status read_number(struct cursor *c, long long *out) {
  enum { BASE = 10 };
  skip_space(c);
  const char *first = c->at;
  for (*out = 0; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
    if (*out > (LLONG_MAX - BASE) / BASE) return fail(HALOTUNE_PARSE, "the header is damaged: an axis is too long");
    *out = *out * BASE + (*c->at - '0');
  }
  if (c->at == first) return fail_damaged(c, "a digit");
  (void)take_character(c, 'L'); /* NumPy under Python 2 wrote "3L" */
  return HALOTUNE_OK;
}

static halotune_status read_shape(struct cursor *c, struct npy *out) {
  bool needs_comma = false;
  if (!take_character(c, '(')) return fail_damaged(c, "'('");
  while (!take_character(c, ')')) {
    if (needs_comma && !take_character(c, ',')) return fail_damaged(c, "','");
    if (needs_comma && take_character(c, ')')) break;
    if (out->dims == NPY_MOST_DIMS) return fail(HALOTUNE_PARSE, "the array has more than %d axes", NPY_MOST_DIMS);
    halotune_status status = read_number(c, &out->shape[out->dims++]);
    if (status != HALOTUNE_OK) return status;
    needs_comma = true;
  }
  return HALOTUNE_OK;
}

enum { KEY_TYPE, KEY_ORDER, KEY_SHAPE, KEY_COUNT };
static const char *const keys[KEY_COUNT] = {"descr", "fortran_order", "shape"};

static halotune_status read_entry(struct cursor *c, bool seen[KEY_COUNT], struct npy *out) {
  char name[NPY_TYPE_BYTES];
  int key = 0;
  halotune_status status = read_string(c, name);
  if (status != HALOTUNE_OK) return status;
  while (key < KEY_COUNT && strcmp(name, keys[key]) != 0) key++;
  if (key == KEY_COUNT || seen[key]) return fail(HALOTUNE_PARSE, "the header is damaged by the key '%s'", name);
  seen[key] = true;
  if (!take_character(c, ':')) return fail_damaged(c, "':'");
  if (key == KEY_TYPE) return read_type(c, out);
  return key == KEY_ORDER ? read_bool(c, &out->is_fortran) : read_shape(c, out);
}

halotune_status npy_parse(const char *bytes, size_t length, struct npy *out) {
  size_t header_bytes = 0;
  bool seen[KEY_COUNT] = {false};
  *out = (struct npy){.dims = 0};
  halotune_status status = npy_header_bytes(bytes, length, &header_bytes);
  if (status != HALOTUNE_OK) return status;
  if (length < header_bytes) return fail(HALOTUNE_PARSE, "the file ends in its header");
  const size_t prefix = bytes[MAGIC_BYTES] == 1 ? VERSION_1_PREFIX : NPY_PREFIX_BYTES;
  struct cursor c = {bytes, bytes + prefix, bytes + header_bytes};
  out->header_bytes = header_bytes;
  if (!take_character(&c, '{')) return fail_damaged(&c, "'{'");
  while (!take_character(&c, '}')) {
    if ((status = read_entry(&c, seen, out)) != HALOTUNE_OK) return status;
    if (take_character(&c, ',')) continue;
    if (!take_character(&c, '}')) return fail_damaged(&c, "',' or '}'");
    break;
  }
  skip_space(&c);
  if (c.at != c.end) return fail_damaged(&c, "a space");
  for (int key = 0; key < KEY_COUNT; key++) {
    if (!seen[key]) return fail(HALOTUNE_PARSE, "the header is damaged: it has no '%s'", keys[key]);
  }
  return HALOTUNE_OK;
}

void npy_write_shape(int dims, const long long shape[], struct text *text) {
  text_printf(text, "(");
  for (int i = 0; i < dims; i++) text_printf(text, "%s%lld", i > 0 ? ", " : "", shape[i]);
  text_printf(text, dims == 1 ? ",)" : ")");
}

void npy_write_header(const char *type, int dims, const long long shape[], struct text *text) {
  enum { ALIGNMENT = 64, BYTE_VALUES = 1 << CHAR_BIT };
  struct text dictionary = {0};
  text_printf(&dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': ", type);
  npy_write_shape(dims, shape, &dictionary);
  text_printf(&dictionary, ", }");
  /* The elements begin at a multiple of 64 bytes, so that a program can map them into memory. */
  while ((VERSION_1_PREFIX + dictionary.length + 1) % ALIGNMENT != 0 && text_ok(&dictionary))
    text_add(&dictionary, " ", 1);
  text_add(&dictionary, "\n", 1);
  const char prefix[4] = {1, 0, (char)(dictionary.length % BYTE_VALUES), (char)(dictionary.length / BYTE_VALUES)};
  text_add(text, magic, MAGIC_BYTES);
  text_add(text, prefix, sizeof prefix);
  text_add(text, text_string(&dictionary), dictionary.length);
  if (!text_ok(&dictionary)) text->out_of_memory = true;
  text_free(&dictionary);
}
