/* coordinates.c: joins parameters by their names, and places their values on the axes. */
#include "tuner/search/strategy/coordinates.h"

#include <math.h>
#include <stdlib.h>

enum { NO_AXIS = -1 };

/* The parameters of one name, while its axis is made. */
struct join {
  const char *name; /* "" until there is one */
  int value_count;  /* the largest number of values of a parameter */
  bool is_category, is_positive;
  double least, most; /* the range of all values */
};

/* Whether a parameter's name is that of an earlier template's, and on which axis. */
static int axis_named(const struct join *joins, int count, const char *name) {
  for (int i = 0; i < count; i++) {
    if (strcmp(joins[i].name, name) == 0) return i;
  }
  return NO_AXIS;
}

/* Give the parameter an axis, a new one or that of its name. */
static int join_parameter(struct join *joins, int *count, const struct parameter *parameter) {
  int at = axis_named(joins, *count, parameter->name);
  if (at < 0 && parameter->value_count == 1) return NO_AXIS;
  if (at < 0 && *count == GAUSSIAN_MOST_AXES - 1) return NO_AXIS; /* one axis is that of the templates */
  if (at < 0) {
    at = (*count)++;
    joins[at] = (struct join){.name = parameter->name, .is_positive = true, .least = INFINITY, .most = -INFINITY};
  }
  struct join *join = &joins[at];
  join->is_category |= parameter->is_word;
  if (parameter->value_count > join->value_count) join->value_count = parameter->value_count;
  for (int v = 0; v < parameter->value_count; v++) {
    join->least = fmin(join->least, parameter->values[v]);
    join->most = fmax(join->most, parameter->values[v]);
  }
  join->is_positive = join->least > 0;
  return at;
}

/* A category is named by its word: the place at which the word first appears, as a number. */
static double word_code(const struct coordinates *c, const struct search_space *space, int template, int parameter,
                        int value) {
  const char *word = space->templates[template]->parameters[parameter].words[value];
  for (int t = 0; t < template; t++) {
    const struct template *other = space->templates[t];
    for (int p = 0; p < other->parameter_count; p++) {
      if (c->axis[t][p] != c->axis[template][parameter]) continue;
      for (int v = 0; v < other->parameters[p].value_count; v++) {
        if (strcmp(other->parameters[p].words[v], word) == 0) return c->of[t][p][v];
      }
    }
  }
  return (double)template * MAX_VALUES + value + 1;
}

/* The share of values of one parameter that are below another one of its values. */
static double place_among(const struct parameter *parameter, int value) {
  int below = 0;
  for (int v = 0; v < parameter->value_count; v++) below += parameter->values[v] < parameter->values[value];
  return parameter->value_count > 1 ? (double)below / (parameter->value_count - 1) : 0;
}

static double coordinate_of(const struct coordinates *c, const struct search_space *space, const struct join *join,
                            int template, int parameter, int value) {
  const struct parameter *own = &space->templates[template]->parameters[parameter];
  if (join->is_category) return word_code(c, space, template, parameter, value);
  if (join->least == join->most) return 0;
  if (!join->is_positive) return place_among(own, value);
  return log(own->values[value] / join->least) / log(join->most / join->least);
}

/* Give each axis of more than two numbers a second one, on which they are categories. */
static void add_twins(struct join *joins, struct coordinates *c) {
  const int joined = c->axes;
  for (int a = 0; a < joined; a++) {
    c->twin[a] = NO_AXIS;
    if (joins[a].is_category || joins[a].value_count < 3 || c->axes == GAUSSIAN_MOST_AXES - 1) continue;
    c->twin[a] = c->axes;
    c->is_category[c->axes] = true;
    c->absent[c->axes++] = -1;
  }
}

halotune_status coordinates_make(const struct search_space *space, struct coordinates *out) {
  struct join joins[GAUSSIAN_MOST_AXES];
  const size_t room = (size_t)space->count + 1;
  *out = (struct coordinates){.of = calloc(room, sizeof *out->of), .axis = calloc(room, sizeof *out->axis)};
  if (!out->of || !out->axis) return fail_memory();
  for (int a = 0; a < GAUSSIAN_MOST_AXES; a++) joins[a] = (struct join){.name = ""};
  for (int t = 0; t < space->count; t++) {
    for (int p = 0; p < space->templates[t]->parameter_count; p++)
      out->axis[t][p] = join_parameter(joins, &out->axes, &space->templates[t]->parameters[p]);
  }
  for (int a = 0; a < out->axes; a++) {
    out->is_category[a] = joins[a].is_category;
    out->absent[a] = joins[a].is_category ? 0 : 0.5;
  }
  add_twins(joins, out);
  for (int t = 0; t < space->count; t++) {
    const struct template *template = space->templates[t];
    for (int p = 0; p < template->parameter_count; p++) {
      const int axis = out->axis[t][p];
      for (int v = 0; axis >= 0 && v < template->parameters[p].value_count; v++)
        out->of[t][p][v] = coordinate_of(out, space, &joins[axis], t, p, v);
    }
  }
  if (space->count > 1) out->is_category[out->axes++] = true;
  return HALOTUNE_OK;
}

void coordinates_free(struct coordinates *coordinates) {
  free(coordinates->of);
  free(coordinates->axis);
  *coordinates = (struct coordinates){.axes = 0};
}

void coordinates_write(const struct coordinates *c, const struct search_space *space, const struct proposal *proposal,
                       double out[]) {
  const int template = proposal->template_index;
  const int shared = space->count > 1 ? c->axes - 1 : c->axes;
  for (int a = 0; a < shared; a++) out[a] = c->absent[a];
  for (int p = 0; p < space->templates[template]->parameter_count; p++) {
    const int axis = c->axis[template][p];
    if (axis < 0) continue;
    out[axis] = c->of[template][p][proposal->configuration.choice[p]];
    if (c->twin[axis] >= 0) out[c->twin[axis]] = out[axis];
  }
  if (space->count > 1) out[c->axes - 1] = template;
}
