/* emulated_verify.c: verifies variants in groups. A group is generated for each domain, compiled together, and run by
 * all threads. */
#include "tuner/verify/emulated_verify.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/system/clock.h"
#include "base/system/parallel.h"

enum { GROUP = EMULATED_VERIFY_GROUP };

/* One variant of a group. */
struct member {
  struct generated generated[MAX_SCENES]; /* for each domain; no source where a rule excludes it */
  int source[MAX_SCENES];                 /* for each domain: the number of its source in the batch; -1 for none */
  struct scene_set *set;                  /* NULL: there are no scenes for the steps of its launches */
  bool is_done;                           /* the row has its result: it was not stopped */
  struct verify_row row;
};

struct group {
  const struct verify_request *request;
  struct verify_progress progress; /* protected by `lock` while threads run */
  void *context;                   /* context of the caller's functions */
  struct member members[GROUP];
  int count;
  struct emulation_source sources[GROUP * MAX_SCENES];
  const char *kernels[GROUP * MAX_SCENES];
  int source_count;
  struct emulation_batch *batch;
  pthread_mutex_t lock;
  halotune_status status; /* the first failure of a thread that no variant caused; protected by `lock` */
  char detail[FAIL_TEXT_BYTES];
};

/* The first scene with a domain. */
static const struct scene *scene_of(const struct scenes *scenes, int domain) {
  int i = 0;
  while (i < scenes->count - 1 && scenes->list[i].domain != domain) i++;
  return &scenes->list[i].scene;
}

static int add_source(struct group *group, const struct generated *generated) {
  int number = group->source_count++;
  group->kernels[number] = generated->launch.kernel;
  group->sources[number] =
      (struct emulation_source){generated->launch.kernel, generated->source, &group->kernels[number], 1};
  return number;
}

/* Whether the kernels of two domains take the same arguments, by type and number. */
static bool have_same_parameters(const struct launch *a, const struct launch *b) {
  return a->index_bytes == b->index_bytes && a->input_maps.count == b->input_maps.count &&
         a->output_maps.count == b->output_maps.count;
}

/* Find an earlier domain whose source serves this domain, too. A source without literal extents serves all domains with
 * the same width of indices. */
static int find_source(struct group *group, const struct member *member, int domain) {
  const struct generated *own = &member->generated[domain];
  for (int other = 0; other < domain && !own->launch.literal_extents; other++) {
    if (member->source[other] < 0) continue;
    if (have_same_parameters(&member->generated[other].launch, &own->launch)) return member->source[other];
  }
  return add_source(group, own);
}

static halotune_status generate_member(struct group *group, struct member *member) {
  const struct verify_request *r = group->request;
  char reason[CHECK_TEXT_BYTES] = ""; /* why the variant does not run */
  int steps;
  halotune_status found = configuration_steps(member->row.template, &member->row.configuration, &steps);
  /* A stencil without time steps has no scenes of several steps. A rule then says why. */
  if (found == HALOTUNE_OK) found = scene_sets_find(r->scenes, r->analysis->can_iterate ? steps : 1, &member->set);
  if (found != HALOTUNE_OK && found != HALOTUNE_ARGUMENT) return found;
  if (found != HALOTUNE_OK) snprintf(reason, sizeof reason, "%s", fail_text());
  for (int d = 0; found == HALOTUNE_OK && d < member->set->scenes.domain_count; d++) {
    struct variant_spec spec = {.stencil = r->stencil,
                                .analysis = r->analysis,
                                .template = member->row.template,
                                .configuration = member->row.configuration,
                                .dtype = r->dtype,
                                .domain = scene_of(&member->set->scenes, d)->request.domain,
                                .coefficients = member->set->scenes.coefficients,
                                .limits = r->limits,
                                .reproducible = r->reproducible,
                                .most_steps = steps};
    member->source[d] = -1;
    halotune_status status = generate(&spec, &member->generated[d]);
    if (status == HALOTUNE_ARGUMENT) { /* a rule excludes it on this domain */
      snprintf(reason, sizeof reason, "%s", fail_text());
      continue;
    }
    if (status != HALOTUNE_OK) return status;
    if (box_points(&scene_of(&member->set->scenes, d)->box) == 0) continue; /* the box is empty */
    member->source[d] = find_source(group, member, d);
    member->row.scene_count++;
  }
  member->row.scenes = member->set;
  if (member->row.scene_count == 0) {
    member->row.result = (struct check_result){.outcome = CHECK_NOT_RUN, .name = "not_run"};
    member->row.is_not_comparable = found != HALOTUNE_OK;
    member->row.is_left_out = found == HALOTUNE_OK && *reason != '\0';
    snprintf(member->row.result.text, sizeof member->row.result.text, "%s",
             *reason ? reason : "no grid has a point that is to be computed");
  }
  return HALOTUNE_OK;
}

/* Whether no earlier domain has the source of this domain. */
static bool is_first_with_source(const struct member *member, int domain) {
  int first = 0;
  while (member->source[first] != member->source[domain]) first++;
  return first == domain;
}

/* Whether all sources compiled. If not, the row says why. */
static bool check_compiles(const struct group *group, struct member *member) {
  for (int d = 0; d < member->set->scenes.domain_count; d++) {
    if (member->source[d] < 0) continue;
    const struct emulation_compile *compile = emulation_batch_compile(group->batch, member->source[d]);
    if (is_first_with_source(member, d)) member->row.compile_time_ms += compile->time_ms;
    if (compile->outcome == COMPILE_OK) continue;
    member->row.result =
        (struct check_result){.outcome = CHECK_NOT_RUN, .name = compile_outcome_name(compile->outcome)};
    snprintf(member->row.result.text, sizeof member->row.result.text, "%.1000s", compile->log);
    return false;
  }
  return true;
}

/* Run a variant in one scene, in all orders. Returns whether to continue with the next scene. */
static bool run_scene(struct group *group, struct member *member, const struct staged_scene *staged,
                      halotune_status *status) {
  struct verify_row *row = &member->row;
  const int launches = staged->scene.launches;
  for (int i = 0; i < staged->order_count; i++) {
    struct check_result result;
    *status = emulated_check(group->batch, member->source[staged->domain], &member->generated[staged->domain],
                             &staged->scene, staged->orders[i], &result);
    if (*status != HALOTUNE_OK) return false;
    row->run_count += launches;
    row->outputs[staged - member->set->scenes.list] = result.outputs;
    bool first = row->run_count == launches;
    if (first || result.outcome != CHECK_PASSED || result.worst.max_error_units > row->result.worst.max_error_units) {
      row->result = result;
      row->scene = staged->name;
    }
    if (result.outcome != CHECK_PASSED) return false;
  }
  return true;
}

static bool is_stopped(const struct group *group) { return ending_has_come(&group->request->scenes->request.ending); }

/* Run a variant in all scenes, unless it is stopped between two of them. */
static halotune_status run_scenes(struct group *group, struct member *member) {
  const struct scenes *scenes = &member->set->scenes;
  const double start_ms = clock_ms();
  halotune_status status = HALOTUNE_OK;
  bool goes_on = true;
  for (int i = 0; i < scenes->count && goes_on && !is_stopped(group); i++) {
    const struct staged_scene *staged = &scenes->list[i];
    if (member->source[staged->domain] >= 0) goes_on = run_scene(group, member, staged, &status);
    member->is_done = !goes_on || i == scenes->count - 1;
  }
  for (int d = 0; d < scenes->domain_count; d++) {
    if (member->source[d] >= 0) emulation_rest(group->batch, member->source[d]);
  }
  member->row.run_time_ms = clock_ms() - start_ms;
  return status;
}

static void tell_progress(const struct group *group) {
  if (group->request->progress) group->request->progress(group->context, &group->progress);
}

static void run_member(void *context, int thread, long first, long end) {
  struct group *group = context;
  (void)thread;
  for (long m = first; m < end; m++) {
    struct member *member = &group->members[m];
    halotune_status status = HALOTUNE_OK;
    if (member->row.scene_count == 0 || !check_compiles(group, member)) member->is_done = true;
    else status = run_scenes(group, member);
    pthread_mutex_lock(&group->lock);
    if (status != HALOTUNE_OK && group->status == HALOTUNE_OK) {
      group->status = status;
      snprintf(group->detail, sizeof group->detail, "%s", fail_text());
    }
    group->progress.done += member->is_done;
    tell_progress(group);
    pthread_mutex_unlock(&group->lock);
  }
}

/* Count the compiled sources. emulation_build calls this under its own lock, before any variant runs. */
static void take_compiled(void *context, int done) {
  struct group *group = context;
  group->progress.compiled = done;
  tell_progress(group);
}

static halotune_status verify_group(struct group *group) {
  halotune_status status = HALOTUNE_OK;
  for (int m = 0; m < group->count && status == HALOTUNE_OK; m++) status = generate_member(group, &group->members[m]);
  if (status == HALOTUNE_OK) {
    struct emulation_options options = group->request->options;
    options.ending = group->request->scenes->request.ending;
    options.compiled = take_compiled;
    options.context = group;
    group->progress.compiled = 0;
    group->progress.sources = group->source_count;
    tell_progress(group);
    status = emulation_build(group->sources, group->source_count, &options, &group->batch);
  }
  if (status == HALOTUNE_CANCELLED && is_stopped(group)) return HALOTUNE_OK;
  if (status != HALOTUNE_OK) return status;
  parallel_for(group->count, 1, parallel_threads(group->request->threads), run_member, group);
  return group->status == HALOTUNE_OK ? HALOTUNE_OK : fail(group->status, "%s", group->detail);
}

/* Compare the outputs of a variant with those of the first variant that passed in the scene. */
static void compare_bits(struct scene_set *set, struct verify_row *row) {
  static const struct hash none = {0};
  for (int i = 0; set && i < set->scenes.count && row->result.outcome == CHECK_PASSED; i++) {
    if (hash_compare(row->outputs[i], none) == 0) continue; /* a rule excludes it in this scene */
    if (hash_compare(set->bits[i], none) == 0) set->bits[i] = row->outputs[i];
    if (hash_compare(set->bits[i], row->outputs[i]) == 0) continue;
    row->scene = set->scenes.list[i].name;
    row->result.outcome = CHECK_OTHER_BITS;
    row->result.name = check_outcome_name(CHECK_OTHER_BITS);
    snprintf(row->result.text, sizeof row->result.text, "outputs differ in some bits from those of the first variant");
  }
}

/* Empty the group for the next variants. */
static void group_clear(struct group *group) {
  for (int m = 0; m < group->count; m++) {
    for (int d = 0; d < MAX_SCENES; d++) generated_free(&group->members[m].generated[d]);
  }
  emulation_batch_free(group->batch);
  group->batch = NULL;
  group->count = group->source_count = 0;
}

halotune_status emulated_verify(const struct verify_request *request, const struct verify_variant *variants, long count,
                                bool (*row)(void *context, const struct verify_row *row), void *context) {
  struct group *group = calloc(1, sizeof *group);
  halotune_status status = HALOTUNE_OK;
  const long most = request->group > 0 && request->group < GROUP ? request->group : GROUP;
  bool go_on = true;
  if (!group) return fail_memory();
  group->request = request;
  group->context = context;
  group->progress.count = count;
  pthread_mutex_init(&group->lock, NULL);
  for (long done = 0; done < count && status == HALOTUNE_OK && go_on && !is_stopped(group); done += most) {
    group->count = (int)(count - done < most ? count - done : most);
    for (int m = 0; m < group->count; m++) {
      const struct verify_variant *variant = &variants[done + m];
      group->members[m] =
          (struct member){.row = {.template = variant->template, .configuration = variant->configuration, .scene = ""}};
    }
    status = verify_group(group);
    for (int m = 0; m < group->count && status == HALOTUNE_OK && go_on; m++) {
      if (!group->members[m].is_done) continue;
      if (request->reproducible) compare_bits(group->members[m].set, &group->members[m].row);
      go_on = row(context, &group->members[m].row);
    }
    group_clear(group);
  }
  pthread_mutex_destroy(&group->lock);
  free(group);
  return status;
}
