/* line_diff.c: the longest common sequence of lines, by a table of lengths, between a common start and a common end. */
#include "base/text/line_diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"

/* The lines of a text, each with its end, if it has one. */
struct lines {
  const char **at;
  int count, room;
  const char *end;
};

static bool lines_cut(const char *text, struct lines *out) {
  *out = (struct lines){.end = text + strlen(text)};
  for (const char *line = text; line < out->end;) {
    const char *stop = strchr(line, '\n');
    if (!array_room(out->at, out->count, out->room)) return false;
    out->at[out->count++] = line;
    line = stop ? stop + 1 : out->end;
  }
  return true;
}

/* The length of a line, without its end. */
static size_t length_of(const struct lines *lines, int i) {
  const char *stop = i + 1 < lines->count ? lines->at[i + 1] : lines->end;
  size_t length = (size_t)(stop - lines->at[i]);
  return length > 0 && lines->at[i][length - 1] == '\n' ? length - 1 : length;
}

static bool is_same_line(const struct lines *a, int i, const struct lines *b, int k) {
  const size_t length = length_of(a, i);
  return length == length_of(b, k) && memcmp(a->at[i], b->at[k], length) == 0;
}

/* A difference that is being written. */
struct diff {
  struct lines from, to;
  int first, last_from, last_to; /* what lies before the first line and behind the last ones is common */
  struct text *out;
  bool is_within; /* the last line that was looked at differs */
};

static void write_line(struct diff *d, char sign, const struct lines *lines, int i, int from, int to) {
  if (!d->is_within) text_printf(d->out, "@@ line %d and %d\n", from + 1, to + 1);
  d->is_within = true;
  text_printf(d->out, "%c", sign);
  text_add(d->out, lines->at[i], length_of(lines, i));
  text_add(d->out, "\n", 1);
}

/* Walk along both texts. lengths[i * width + k] is the length of the longest common sequence behind these two lines. If
 * `lengths` is NULL, all lines count as different. */
static void write_walk(struct diff *d, const uint16_t *lengths) {
  const int rows = d->last_from - d->first, columns = d->last_to - d->first, width = columns + 1;
  int i = 0, k = 0;
  while (i < rows || k < columns) {
    const int from = d->first + i, to = d->first + k;
    if (lengths && i < rows && k < columns && is_same_line(&d->from, from, &d->to, to)) {
      d->is_within = false;
      i++;
      k++;
    } else if (i < rows && (k == columns || !lengths || lengths[(i + 1) * width + k] >= lengths[i * width + k + 1])) {
      write_line(d, '-', &d->from, from, from, to);
      i++;
    } else {
      write_line(d, '+', &d->to, to, from, to);
      k++;
    }
  }
}

/* The table of write_walk, from malloc; NULL if it would be too large, or memory is out. */
static uint16_t *lengths_make(const struct diff *d) {
  enum { MOST_LINES = 4096 };
  const int rows = d->last_from - d->first, columns = d->last_to - d->first, width = columns + 1;
  if (rows > MOST_LINES || columns > MOST_LINES) return NULL;
  uint16_t *lengths = calloc((size_t)(rows + 1) * (size_t)width, sizeof *lengths);
  for (int i = rows - 1; i >= 0 && lengths; i--) {
    for (int k = columns - 1; k >= 0; k--) {
      const uint16_t below = lengths[(i + 1) * width + k], right = lengths[i * width + k + 1];
      lengths[i * width + k] = is_same_line(&d->from, d->first + i, &d->to, d->first + k)
                                   ? (uint16_t)(lengths[(i + 1) * width + k + 1] + 1)
                               : below > right ? below
                                               : right;
    }
  }
  return lengths;
}

void line_diff(const char *from, const char *to, struct text *out) {
  struct diff d = {.out = out};
  uint16_t *lengths = NULL;
  if (lines_cut(from, &d.from) && lines_cut(to, &d.to)) {
    d.last_from = d.from.count;
    d.last_to = d.to.count;
    while (d.first < d.last_from && d.first < d.last_to && is_same_line(&d.from, d.first, &d.to, d.first)) d.first++;
    while (d.last_from > d.first && d.last_to > d.first &&
           is_same_line(&d.from, d.last_from - 1, &d.to, d.last_to - 1)) {
      d.last_from--;
      d.last_to--;
    }
    lengths = lengths_make(&d);
    write_walk(&d, lengths);
  } else {
    out->out_of_memory = true;
  }
  free(lengths);
  free(d.to.at);
  free(d.from.at);
}
