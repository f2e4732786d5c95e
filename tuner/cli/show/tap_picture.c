/* tap_picture.c: draws the taps of a stencil. */
#include "tuner/cli/show/tap_picture.h"

#include <stdio.h>

struct picture {
  const struct analysis *analysis;
  int input, dims;
  int low[MAX_DIMS], high[MAX_DIMS]; /* the reach of this input */
};

static bool has_tap(const struct picture *p, int x, int y, int z) {
  for (int i = 0; i < p->analysis->tap_count; i++) {
    const struct tap *tap = &p->analysis->taps[i];
    if (tap->input == p->input && tap->offset[0] == x && tap->offset[1] == y && tap->offset[2] == z) return true;
  }
  return false;
}

static bool planes_alike(const struct picture *p, int z, int other) {
  for (int y = p->low[1]; y <= p->high[1]; y++) {
    for (int x = p->low[0]; x <= p->high[0]; x++) {
      if (has_tap(p, x, y, z) != has_tap(p, x, y, other)) return false;
    }
  }
  return true;
}

/* 'o' is the centre, '*' another tap, '.' a point that is not read, '+' a centre that is not read. */
static char symbol_at(const struct picture *p, int x, int y, int z) {
  bool centre = x == 0 && y == 0 && z == 0;
  if (has_tap(p, x, y, z)) return centre ? 'o' : '*';
  return centre ? '+' : '.';
}

enum { MAX_PLANES = 2 * MAX_RADIUS + 1, INDENT = 11, LINE_WIDTH = 100 };

/* Neighbouring planes that look alike. */
struct planes {
  int first, last;
};

static int group_planes(const struct picture *p, struct planes *groups) {
  int count = 0;
  for (int z = p->low[2]; z <= p->high[2]; z++) {
    bool centre_splits = z == 0 || z == 1; /* the centre's plane differs from its neighbours only in the symbol */
    if (count > 0 && !centre_splits && planes_alike(p, z, z - 1)) groups[count - 1].last = z;
    else groups[count++] = (struct planes){z, z};
  }
  return count;
}

static void add_title(struct text *text, struct planes planes, int width) {
  char title[32];
  if (planes.first == planes.last) snprintf(title, sizeof title, "z%+d", planes.first);
  else snprintf(title, sizeof title, "z%+d..%+d", planes.first, planes.last);
  if (planes.first == 0 && planes.last == 0) snprintf(title, sizeof title, "z");
  text_printf(text, "%-*s", width, title);
}

/* Draw the groups [first, last) side by side, y downwards. */
static void add_row_of_planes(struct text *text, const struct picture *p, const struct planes *groups, int first,
                              int last, int width) {
  if (p->dims == 3) {
    text_printf(text, "%*s", INDENT, "");
    for (int g = first; g < last; g++) add_title(text, groups[g], width);
    text_printf(text, "\n");
  }
  for (int y = p->low[1]; y <= p->high[1]; y++) {
    text_printf(text, "%*s", INDENT, "");
    for (int g = first; g < last; g++) {
      int drawn = 0;
      for (int x = p->low[0]; x <= p->high[0]; x++, drawn += 2) {
        text_printf(text, "%c ", symbol_at(p, x, y, groups[g].first));
      }
      text_printf(text, "%*s", width - drawn, "");
    }
    text_printf(text, "\n");
  }
}

static void add_picture(struct text *text, const struct picture *p) {
  struct planes groups[MAX_PLANES];
  int count = group_planes(p, groups);
  int width = 2 * (p->high[0] - p->low[0] + 1) + 2;
  if (width < 9 && p->dims == 3) width = 9; /* the titles */
  int in_line = (LINE_WIDTH - INDENT) / width;
  if (in_line < 1) in_line = 1;
  for (int first = 0; first < count; first += in_line) {
    add_row_of_planes(text, p, groups, first, first + in_line < count ? first + in_line : count, width);
  }
}

static struct picture picture_of(const struct loaded *loaded, int input) {
  struct picture p = {.analysis = loaded->analysis, .input = input, .dims = loaded->stencil->dims};
  for (int i = 0; i < loaded->analysis->tap_count; i++) {
    const struct tap *tap = &loaded->analysis->taps[i];
    for (int axis = 0; axis < MAX_DIMS && tap->input == input; axis++) {
      if (tap->offset[axis] < p.low[axis]) p.low[axis] = tap->offset[axis];
      if (tap->offset[axis] > p.high[axis]) p.high[axis] = tap->offset[axis];
    }
  }
  return p;
}

/* Remove blanks at the ends of lines. */
static void trim_line_ends(struct text *text, size_t from) {
  size_t to = from;
  for (size_t i = from; i < text->length; i++) {
    if (text->bytes[i] == '\n') {
      while (to > from && text->bytes[to - 1] == ' ') to--;
    }
    text->bytes[to++] = text->bytes[i];
  }
  text->length = to;
  if (text->bytes) text->bytes[to] = '\0';
}

void tap_picture(const struct loaded *loaded, struct text *text) {
  size_t from = text->length;
  for (int input = 0; input < loaded->stencil->input_count; input++) {
    struct picture p = picture_of(loaded, input);
    bool centre_only = true;
    for (int axis = 0; axis < MAX_DIMS; axis++) centre_only = centre_only && p.low[axis] == 0 && p.high[axis] == 0;
    bool explain = input == 0 && p.dims > 1;
    text_printf(text, "%-*s%s%s\n", INDENT, input == 0 ? "taps" : "", loaded->stencil->inputs[input],
                explain ? " (x to the right, y downwards)" : "");
    if (centre_only) text_printf(text, "%*so\n", INDENT, "");
    else add_picture(text, &p);
  }
  trim_line_ends(text, from);
}
