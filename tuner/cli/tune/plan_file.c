/* plan_file.c: reads the YAML of a plan, member by member, and writes it. */
#include "tuner/cli/tune/plan_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/memory/array.h"
#include "base/text/nearest.h"
#include "gpu/architecture/gpus.h"
#include "stencil/file/yaml.h"
#include "tuner/cli/options/option_value.h"

enum { VERSION = 1, MOST_STEPS = 64 };

#define plan_fail(plan, place, ...) source_fail(&(plan)->source, place, __VA_ARGS__)

/* A member of a map, and what reads it. */
struct member {
  const char *key;
  halotune_status (*read)(struct plan_file *plan, const struct yaml *node, void *out);
};

static halotune_status members_read(struct plan_file *plan, const struct yaml *map, const struct member *members,
                                    int count, void *out) {
  halotune_status status = HALOTUNE_OK;
  for (const struct yaml *item = map->first; item && status == HALOTUNE_OK; item = item->next) {
    struct nearest nearest = nearest_to(item->key, strlen(item->key));
    const struct member *found = NULL;
    for (int i = 0; i < count; i++) {
      if (strcmp(item->key, members[i].key) == 0) found = &members[i];
      nearest_try(&nearest, members[i].key);
    }
    status = found ? found->read(plan, item, out)
                   : plan_fail(plan, item->key_place, "a plan has no '%s' here%s", item->key, nearest.question);
  }
  return status;
}

static halotune_status text_read(struct plan_file *plan, const struct yaml *node, const char *what, const char **out) {
  if (node->kind != YAML_TEXT || node->length == 0 || strchr(node->text, '\n'))
    return plan_fail(plan, node->place, "expected %s", what);
  *out = arena_text(&plan->arena, node->text, node->length);
  return *out ? HALOTUNE_OK : fail_memory();
}

static halotune_status whole_read(struct plan_file *plan, const struct yaml *node, const char *what, long most,
                                  long *out) {
  enum { MOST_DIGITS = 12 };
  const bool digits = node->kind == YAML_TEXT && node->length > 0 && node->length <= MOST_DIGITS &&
                      strspn(node->text, "0123456789") == node->length;
  *out = digits ? strtol(node->text, NULL, 10) : 0;
  if (*out >= 1 && *out <= most) return HALOTUNE_OK;
  return plan_fail(plan, node->place, "expected %s, a whole number from 1 to %ld", what, most);
}

static halotune_status budget_read(struct plan_file *plan, const struct yaml *node, double *out) {
  const char *text;
  halotune_status status = text_read(plan, node, "a time such as 60s", &text);
  if (status != HALOTUNE_OK || seconds_read(text, out)) return status;
  return plan_fail(plan, node->place, "expected a time such as 90s, 5m or 1h");
}

/* --- a task --- */

static halotune_status task_stencil(struct plan_file *plan, const struct yaml *node, void *out) {
  return text_read(plan, node, "the name of a stencil or the path of its file", &((struct site_task *)out)->stencil);
}

static halotune_status task_dtype(struct plan_file *plan, const struct yaml *node, void *out) {
  struct site_task *task = out;
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (node->kind != YAML_TEXT || strcmp(node->text, dtype_names[i]) != 0) continue;
    task->dtype = (enum dtype)i;
    return HALOTUNE_OK;
  }
  return plan_fail(plan, node->place,
                   "expected one element type: f32 or f64; a task has one, so write a line for each");
}

static halotune_status task_grid(struct plan_file *plan, const struct yaml *node, void *out) {
  struct site_task *task = out;
  halotune_status status = HALOTUNE_OK;
  if (node->kind != YAML_LIST || node->count < 1 || node->count > MAX_DIMS)
    return plan_fail(plan, node->place, "expected one grid, such as [512, 512, 512]: points along x, y and z");
  task->grid = (struct grid){{1, 1, 1}};
  task->dims = 0;
  for (const struct yaml *item = node->first; item && status == HALOTUNE_OK; item = item->next)
    status = whole_read(plan, item, "the points along an axis", GRID_MOST_AXIS_POINTS, &task->grid.n[task->dims++]);
  return status;
}

static halotune_status task_steps(struct plan_file *plan, const struct yaml *node, void *out) {
  long steps;
  halotune_status status = whole_read(plan, node, "the time steps of a launch", MOST_STEPS, &steps);
  ((struct site_task *)out)->steps = (int)steps;
  return status;
}

static halotune_status task_budget(struct plan_file *plan, const struct yaml *node, void *out) {
  return budget_read(plan, node, &((struct site_task *)out)->budget_s);
}

static halotune_status task_read(struct plan_file *plan, const struct yaml *node, struct site_task *task) {
  static const struct member members[] = {{"stencil", task_stencil},
                                          {"dtype", task_dtype},
                                          {"grid", task_grid},
                                          {"steps", task_steps},
                                          {"budget", task_budget}};
  static const char *const needed[] = {"stencil", "dtype", "grid"};
  *task = (struct site_task){.place = node->place};
  if (node->kind != YAML_MAP)
    return plan_fail(plan, node->place, "expected a task, such as {stencil: star7, dtype: f32, grid: [512, 512, 512]}");
  halotune_status status = members_read(plan, node, members, COUNT(members), task);
  for (size_t i = 0; i < COUNT(needed) && status == HALOTUNE_OK; i++) {
    if (!yaml_find(node, needed[i]))
      status =
          plan_fail(plan, node->place,
                    "the task has no '%s', such as in {stencil: star7, dtype: f32, grid: [512, 512, 512]}", needed[i]);
  }
  return status;
}

/* --- the plan --- */

static halotune_status plan_version(struct plan_file *plan, const struct yaml *node, void *out) {
  (void)out;
  if (node->kind == YAML_TEXT && strcmp(node->text, "1") == 0) return HALOTUNE_OK;
  return plan_fail(plan, node->place, "this Halotune reads version %d of plans", VERSION);
}

static halotune_status plan_budget(struct plan_file *plan, const struct yaml *node, void *out) {
  (void)out;
  return budget_read(plan, node, &plan->budget_s);
}

static halotune_status plan_gpus(struct plan_file *plan, const struct yaml *node, void *out) {
  halotune_status status = HALOTUNE_OK;
  (void)out;
  if (node->kind != YAML_LIST || node->count == 0 || node->count > PLAN_FILE_MOST_GPUS)
    return plan_fail(plan, node->place,
                     "expected models of GPUs, such as [NVIDIA H200]; leave the line out for every GPU");
  for (const struct yaml *item = node->first; item && status == HALOTUNE_OK; item = item->next)
    status = text_read(plan, item, "the name of a model of GPUs", &plan->gpus[plan->gpu_count++]);
  return status;
}

static halotune_status check_twice(struct plan_file *plan, int number) {
  const struct site_task *task = &plan->tasks[number];
  for (int i = 0; i < number; i++) {
    const struct site_task *other = &plan->tasks[i];
    if (other->dtype == task->dtype && other->steps == task->steps && strcmp(other->stencil, task->stencil) == 0 &&
        memcmp(&other->grid, &task->grid, sizeof task->grid) == 0)
      return plan_fail(plan, task->place, "line %d has this task already; remove one of them", other->place.line);
  }
  return HALOTUNE_OK;
}

static halotune_status plan_tasks(struct plan_file *plan, const struct yaml *node, void *out) {
  halotune_status status = HALOTUNE_OK;
  (void)out;
  if (node->kind != YAML_LIST || node->count == 0)
    return plan_fail(plan, node->place,
                     "expected a list of tasks, such as '- {stencil: star7, dtype: f32, grid: [512, 512, 512]}'");
  if (node->count > PLAN_FILE_MOST_TASKS)
    return plan_fail(plan, node->place, "at most %d tasks are allowed; write several plans", PLAN_FILE_MOST_TASKS);
  plan->tasks = arena_alloc(&plan->arena, (size_t)node->count * sizeof *plan->tasks);
  if (!plan->tasks) return fail_memory();
  for (const struct yaml *item = node->first; item && status == HALOTUNE_OK; item = item->next) {
    status = task_read(plan, item, &plan->tasks[plan->task_count]);
    if (status == HALOTUNE_OK) status = check_twice(plan, plan->task_count++);
  }
  return status;
}

static halotune_status plan_parse(struct plan_file *plan) {
  static const struct member members[] = {
      {"plan", plan_version}, {"budget", plan_budget}, {"gpus", plan_gpus}, {"tasks", plan_tasks}};
  static const char *const needed[] = {"plan", "tasks"};
  struct yaml *root;
  halotune_status status = yaml_parse(&plan->source, &plan->arena, &root);
  if (status != HALOTUNE_OK) return status;
  if (root->kind != YAML_MAP)
    return plan_fail(plan, root->place, "this is not a plan; 'halotune tune STENCIL... --plan FILE' writes one");
  for (size_t i = 0; i < COUNT(needed); i++) {
    if (!yaml_find(root, needed[i]))
      return plan_fail(plan, root->place,
                       "the plan has no '%s'; 'halotune tune STENCIL... --plan FILE' writes a whole one", needed[i]);
  }
  return members_read(plan, root, members, COUNT(members), NULL);
}

halotune_status plan_file_read(const char *path, struct plan_file *out) {
  size_t length = 0;
  *out = (struct plan_file){.text = NULL};
  halotune_status status = file_read(path, PLAN_FILE_MOST_BYTES, &out->text, &length);
  if (status == HALOTUNE_OK) {
    out->source = source_of(path, out->text, length);
    status = plan_parse(out);
  }
  return status;
}

void plan_file_free(struct plan_file *plan) {
  arena_free(&plan->arena);
  free(plan->text);
  *plan = (struct plan_file){.text = NULL};
}

bool plan_file_is_gpu(const char *name, const char *model) { return gpu_misfit(name, model, NULL) == 0; }

bool plan_file_has_gpu(const struct plan_file *plan, const char *model) {
  for (int i = 0; i < plan->gpu_count; i++) {
    if (plan_file_is_gpu(plan->gpus[i], model)) return true;
  }
  return plan->gpu_count == 0;
}

/* Append a text, with quotes where YAML needs them. */
static void add_word(const char *word, size_t length, struct text *out) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./";
  size_t fine = 0;
  while (fine < length && strchr(plain, word[fine])) fine++;
  const bool is_plain = fine == length && length > 0 && (word[0] < '0' || word[0] > '9');
  if (!is_plain) text_add(out, "\"", 1);
  for (size_t i = 0; i < length; i++) {
    if (!is_plain && (word[i] == '"' || word[i] == '\\')) text_add(out, "\\", 1);
    text_add(out, word + i, 1);
  }
  if (!is_plain) text_add(out, "\"", 1);
}

void plan_file_write_head(const char *gpus, const char *budget, struct text *out) {
  const char *separator = "gpus: [", *item;
  size_t length;
  text_printf(
      out,
      "# Tasks of a site. 'halotune tune --plan FILE --resume' runs the tasks that are missing in the database;\n"
      "# 'halotune fleet status --plan FILE' shows it. Boundaries are those of the stencils' files.\n"
      "plan: %d\n",
      VERSION);
  if (budget) text_printf(out, "budget: %s # of each task, unless its line has another\n", budget);
  while ((item = list_next(&gpus, &length))) {
    text_printf(out, "%s", separator);
    add_word(item, length, out);
    separator = ", ";
  }
  if (*separator == ',') text_printf(out, "] # models; without this line every GPU that runs the plan\n");
  text_printf(out, "tasks:\n");
}

void plan_file_write_task(const struct site_task *task, struct text *out) {
  text_printf(out, "  - {stencil: ");
  add_word(task->stencil, strlen(task->stencil), out);
  text_printf(out, ", dtype: %s, grid: [", dtype_names[task->dtype]);
  for (int axis = 0; axis < task->dims; axis++) text_printf(out, "%s%ld", axis ? ", " : "", task->grid.n[axis]);
  text_printf(out, "]");
  if (task->steps > 0) text_printf(out, ", steps: %d", task->steps);
  text_printf(out, "}\n");
}
