/* tune_test.c: halotune_tune, with a shell script in place of the program. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/file.h"
#include "library/lookup/context.h"
#include "library/tune/tune_lock.h"
#include "library/tune/tune_program.h"
#include "tests/unit/library/tuned.h"

static const struct tuned before_rows[] = {
    {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false, 0.27},
};
static const struct tuned after_rows[] = {
    {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false, 0.27},
    {GPU_H200, "star7", "direct", "vector=1", DTYPE_F32, {100, 96, 96}, LAUNCH_STREAM, CACHE_STEADY, false, 0.004},
};
static const halotune_problem problem = {"star7", "NVIDIA H200", {100, 96, 96}, HALOTUNE_F32, 0, 0, 0, 0};

/* A folder with a database, the database after a tune, and a script that replaces the one by the other. */
struct scene {
  struct work before, after;
  char script[256], folder[128];
  halotune_ctx *ctx;
  halotune_tune_options options;
};

/* `first` is what the script does before. */
static void scene_begin(struct scene *p, const char *first) {
  *p = (struct scene){.before = work_begin(), .after = work_begin()};
  tuned_make(p->before.path, before_rows, COUNT(before_rows));
  tuned_make(p->after.path, after_rows, COUNT(after_rows));
  snprintf(p->folder, sizeof p->folder, "%s", p->after.folder);
  snprintf(p->script, sizeof p->script, "%s/program", p->folder);
  FILE *file = fopen(p->script, "w");
  CHECK(file, "%s", p->script);
  fprintf(file,
          "#!/bin/sh\ncd %s\necho \"$@\" >>calls\n%s\necho searching\nwhile [ $# -gt 0 ]; do [ \"$1\" = --db ] && "
          "cp -f %s \"$2\"; shift; done\n",
          p->folder, first, p->after.path);
  CHECK(fclose(file) == 0 && chmod(p->script, 0700) == 0, "%s", p->script);
  setenv("XDG_CACHE_HOME", p->folder, 1);
  const char *paths[] = {p->before.path};
  CHECK_OK(halotune_open(paths, 1, &p->ctx));
  p->options = (halotune_tune_options){.program = p->script, .backend = "host", .budget_s = 5};
}

static void scene_end(struct scene *p) {
  halotune_close(p->ctx);
  unsetenv("XDG_CACHE_HOME");
  work_end(&p->before);
  work_end(&p->after);
}

/* Whether a command line of the script has this part. */
static bool was_called_with(const struct scene *p, const char *part) {
  char path[256], *text;
  size_t bytes;
  snprintf(path, sizeof path, "%s/calls", p->folder);
  if (file_read(path, 1 << 20, &text, &bytes) != HALOTUNE_OK) return false;
  const bool has = strstr(text, part) != NULL;
  free(text);
  return has;
}

/* How often the script ran. */
static int calls_of(const struct scene *p) {
  char path[256], *text;
  size_t bytes;
  int count = 0;
  snprintf(path, sizeof path, "%s/calls", p->folder);
  if (file_read(path, 1 << 20, &text, &bytes) != HALOTUNE_OK) return 0;
  for (size_t i = 0; i < bytes; i++) count += text[i] == '\n';
  free(text);
  return count;
}

static halotune_status renew(halotune_ctx *ctx, const char *path) {
  char copy[PATH_MAX];
  struct known_database tuned;
  snprintf(copy, sizeof copy, "%s", path);
  context_note_database(copy, &tuned);
  return context_renew(ctx, &tuned);
}

TEST(the_ctx_answers_with_the_new_row) {
  struct scene p;
  halotune_config config, old;
  scene_begin(&p, ":");
  CHECK_OK(halotune_lookup(p.ctx, &problem, &old));
  CHECK_EQ(HALOTUNE_MATCH_NEAR_GRID, old.match, "before");
  CHECK_OK(halotune_tune(p.ctx, &problem, &p.options, NULL, NULL));
  CHECK_OK(halotune_lookup(p.ctx, &problem, &config));
  CHECK_EQ(HALOTUNE_MATCH_EXACT, config.match, "after");
  CHECK_NEAR(0.004, config.time_ms, 1e-12, "its time");
  CHECK(context_of_config(p.ctx, &old) == p.ctx, "the old configuration stays valid");
  CHECK(context_of_config(p.ctx, &config) != p.ctx, "the new one has contents of its own");
  CHECK_TEXT("star7", old.stencil, "its texts as well");
  char command[512];
  snprintf(command, sizeof command,
           "tune /dev/stdin --dtype f32 --grid 100,96,96 --db %s --budget 5.000s --backend host --steps 1\n",
           p.before.path);
  CHECK(was_called_with(&p, command), "%s", command);
  CHECK_OK(halotune_tune(p.ctx, &problem, &p.options, NULL, NULL));
  CHECK_EQ(2, calls_of(&p), "a caller may tune again");
  scene_end(&p);
}

/* The row of the tuned problem is stored, but a lookup answers with another row or calls this one stale. */
TEST(a_tune_whose_row_does_not_answer_is_a_success) {
  static const struct {
    const char *what, *change;
    halotune_match match;
  } rows[] = {
      {"the row of a run that was cut short is slower than one expects of another row",
       "update run set state = 'partial', reason = '' where id = 2;"
       " update best set time_ms = 9, low_ms = 8.9, high_ms = 9.1 where id = 2",
       HALOTUNE_MATCH_NEAR_GRID},
      {"a later template of the same name has won",
       "insert into template (hash, common_hash, name, yaml, cuda, origin_id) select 'later', common_hash, 'direct',"
       " yaml, cuda, origin_id from template where name = 'zmarch';"
       " update variant set template_id = (select id from template where hash = 'later') where id in"
       " (select variant_id from best where id = 1); update best set date = '2001-01-01T00:00:00.000Z' where id = 2",
       HALOTUNE_MATCH_STALE},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct scene p;
    halotune_config config;
    scene_begin(&p, ":");
    tuned_change(p.after.path, rows[i].change);
    CHECK_OK(halotune_tune(p.ctx, &problem, &p.options, NULL, NULL));
    CHECK_OK(halotune_lookup(p.ctx, &problem, &config));
    CHECK_EQ(rows[i].match, config.match, "%s", rows[i].what);
    scene_end(&p);
  }
}

/* With backend "host", `device` says what the lookups are for. */
TEST(a_device_that_lookups_do_not_know_is_told) {
  struct scene p;
  halotune_problem elsewhere = problem;
  elsewhere.device = "host";
  scene_begin(&p, ":");
  CHECK_EQ(HALOTUNE_NOT_FOUND, halotune_tune(p.ctx, &elsewhere, &p.options, NULL, NULL), "host");
  CHECK(strstr(halotune_error(p.ctx), "'host'"), "%s", halotune_error(p.ctx));
  scene_end(&p);
}

TEST(the_program_gets_a_budget_and_steps_that_it_takes) {
  static const struct {
    double budget_s;
    int steps;
    const char *part;
  } rows[] = {
      {0.0004, 0, " --budget 0.001s "}, {1e-9, 0, " --budget 0.001s "},     {0.25, 0, " --budget 0.250s "},
      {5, 5000, " --steps 1..4096\n"},  {5, INT_MAX, " --steps 1..4096\n"}, {5, 8, " --steps 1..8\n"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct scene p;
    halotune_problem asked = problem;
    asked.steps = rows[i].steps;
    scene_begin(&p, ":");
    p.options.budget_s = rows[i].budget_s;
    CHECK_OK(halotune_tune(p.ctx, &asked, &p.options, NULL, NULL));
    CHECK(was_called_with(&p, rows[i].part), "row %zu: %s", i, rows[i].part);
    scene_end(&p);
  }
}

/* In a folder of all users without the sticky bit, another user could exchange a file with the text. */
TEST(the_text_of_a_stencil_comes_into_no_file_of_others) {
  static const char text[] = "name: mine\nabout: a\ndims: 3\ninputs: [u]\noutputs: [v]\nupdate: |\n  v = "
                             "u[0,0,0] + u[1,0,0]\nboundary: skip\ndtypes: [f32]\ngrids: [[64, 64, 64]]\n";
  struct scene p;
  struct stat facts;
  halotune_problem mine = problem;
  char folder[160], path[192], *got;
  size_t bytes;
  mine.stencil = "mine";
  scene_begin(&p, "ls shared >>listed; cat \"$2\" >text; cat \"$2\" >again");
  snprintf(folder, sizeof folder, "%s/shared", p.folder);
  CHECK(mkdir(folder, 0700) == 0 && chmod(folder, 0777) == 0 && setenv("TMPDIR", folder, 1) == 0, "%s", folder);
  CHECK_OK(halotune_stencil_add(p.ctx, text));
  CHECK_EQ(HALOTUNE_NOT_FOUND, halotune_tune(p.ctx, &mine, &p.options, NULL, NULL), "the script tunes star7 alone");
  unsetenv("TMPDIR");
  snprintf(path, sizeof path, "%s/listed", p.folder);
  CHECK(stat(path, &facts) == 0 && facts.st_size == 0, "a file lies in %s", folder);
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", p.folder, i ? "again" : "text");
    CHECK_OK(file_read(path, 1 << 20, &got, &bytes));
    CHECK(strstr(got, "u[0,0,0] + u[1,0,0]"), "%s: %s", path, got);
    free(got);
  }
  scene_end(&p);
}

TEST(added_stencils_stay) {
  struct scene p;
  halotune_config config;
  halotune_problem mine = problem;
  scene_begin(&p, ":");
  CHECK_OK(halotune_stencil_add(p.ctx, "name: mine\nabout: a\ndims: 3\ninputs: [u]\noutputs: [v]\nupdate: |\n  v = "
                                       "u[0,0,0] + u[1,0,0]\nboundary: skip\ndtypes: [f32]\ngrids: [[64, 64, 64]]\n"));
  CHECK_OK(halotune_tune(p.ctx, &problem, &p.options, NULL, NULL));
  mine.stencil = "mine";
  CHECK_OK(halotune_lookup(p.ctx, &mine, &config));
  CHECK_EQ(HALOTUNE_NOT_FOUND, halotune_tune(p.ctx, &mine, &p.options, NULL, NULL), "the script tunes star7 alone");
  CHECK(strstr(halotune_error(p.ctx), "no variant of mine"), "%s", halotune_error(p.ctx));
  scene_end(&p);
}

/* Of two texts with one name, the one that was added last counts, even if it was also added before the other one. */
TEST(the_order_of_added_stencils_stays) {
  static const char *const texts[] = {
      "name: mine\ndims: 1\ninputs: [u]\noutputs: [v]\nupdate: v = u[0] + u[1]\nboundary: skip\ndtypes: [f32]\n"
      "grids: [[64]]\n",
      "name: mine\ndims: 1\ninputs: [u]\noutputs: [v]\nupdate: v = u[0] - u[1]\nboundary: skip\ndtypes: [f32]\n"
      "grids: [[64]]\n",
  };
  struct scene p;
  halotune_stencil_facts facts;
  char hash[80];
  scene_begin(&p, ":");
  for (int i = 0; i < 2; i++) CHECK_OK(halotune_stencil_add(p.ctx, texts[i]));
  CHECK_OK(halotune_stencil_info(p.ctx, "mine", &facts));
  snprintf(hash, sizeof hash, "%s", facts.hash);
  CHECK_OK(halotune_stencil_add(p.ctx, texts[0]));
  for (int round = 0; round < 2; round++) {
    CHECK_OK(renew(p.ctx, p.before.path));
    CHECK_OK(halotune_stencil_info(p.ctx, "mine", &facts));
    CHECK_TEXT(texts[0], facts.text, "round %d", round);
    CHECK_OK(halotune_stencil_info(p.ctx, hash, &facts));
    CHECK_TEXT(texts[1], facts.text, "round %d: the other one, by its hash", round);
  }
  scene_end(&p);
}

TEST(the_program_knows_stencils_too) {
  struct scene p;
  halotune_problem other = problem;
  scene_begin(&p, "echo no such stencil; exit 4");
  other.stencil = "heat2d";
  other.grid[2] = 0;
  CHECK_EQ(HALOTUNE_NOT_FOUND, halotune_tune(p.ctx, &other, &p.options, NULL, NULL), "%s", halotune_error(p.ctx));
  CHECK(was_called_with(&p, "tune heat2d --dtype f32 --grid 100,96 "), "the stencil's name");
  scene_end(&p);
}

TEST(folders_of_the_working_directory_are_left_out) {
  struct scene p;
  scene_begin(&p, "echo \"search $HALOTUNE_SEARCH\" >>calls");
  CHECK_OK(halotune_tune(p.ctx, &problem, &p.options, NULL, NULL));
  CHECK(was_called_with(&p, "\nsearch installed\n"), "whoever made such a folder decided what was executed");
  scene_end(&p);
}

/* A solver's working folder may hold a file named like the program. */
TEST(a_program_of_the_working_folder_is_not_run) {
  static const char *const paths[] = {"", ":", ":/none", "/none:", ".", "./:/none", "bin"};
  struct scene p;
  char before[4096], path[256], *kept;
  const char *usual = getenv("PATH");
  kept = strdup(usual ? usual : "/usr/bin:/bin");
  scene_begin(&p, ":");
  snprintf(path, sizeof path, "%s/here", p.folder);
  CHECK(getcwd(before, sizeof before) && mkdir(path, 0700) == 0 && chdir(path) == 0, "%s", path);
  CHECK(mkdir("bin", 0700) == 0 && link(p.script, "halotune") == 0 && link(p.script, "bin/halotune") == 0, "%s", path);
  p.options.program = NULL;
  for (size_t i = 0; i < COUNT(paths); i++) {
    setenv("PATH", paths[i], 1);
    CHECK_EQ(HALOTUNE_NOT_FOUND, halotune_tune(p.ctx, &problem, &p.options, NULL, NULL), "'%s': %s", paths[i],
             halotune_error(p.ctx));
    CHECK(strstr(halotune_error(p.ctx), "so that it is on PATH"), "'%s': %s", paths[i], halotune_error(p.ctx));
  }
  CHECK_EQ(0, calls_of(&p), "nothing was run");
  snprintf(path, sizeof path, ":%s/here/bin", p.folder);
  setenv("PATH", path, 1);
  p.options.program = "./halotune";
  CHECK_EQ(HALOTUNE_NOT_FOUND, halotune_tune(p.ctx, &problem, &p.options, NULL, NULL), "the script needs cp");
  CHECK_EQ(1, calls_of(&p), "a path that the caller names");
  p.options.program = NULL;
  CHECK_EQ(HALOTUNE_NOT_FOUND, halotune_tune(p.ctx, &problem, &p.options, NULL, NULL), "likewise");
  CHECK_EQ(2, calls_of(&p), "the program of an absolute part");
  setenv("PATH", kept, 1);
  free(kept);
  CHECK_EQ(0, chdir(before), "%s", before);
  scene_end(&p);
}

TEST(each_failure_is_told) {
  static const struct {
    const char *first, *program, *part;
    halotune_status want;
  } rows[] = {
      {"echo no driver; exit 3", NULL, "ended with exit code 3: no driver", HALOTUNE_NO_GPU},
      {"echo; echo bad value >&2; exit 2", NULL, "bad value", HALOTUNE_ARGUMENT},
      {"exit 6", NULL, "exit code 6", HALOTUNE_DB},
      {"kill -9 $$", NULL, "killed by signal 9", HALOTUNE_IO},
      {":", "/no/such/program", "HALOTUNE_PROGRAM", HALOTUNE_NOT_FOUND},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct scene p;
    halotune_config config;
    scene_begin(&p, rows[i].first);
    if (rows[i].program) p.options.program = rows[i].program;
    CHECK_EQ(rows[i].want, halotune_tune(p.ctx, &problem, &p.options, NULL, NULL), "row %zu: %s", i,
             halotune_error(p.ctx));
    CHECK(strstr(halotune_error(p.ctx), rows[i].part), "row %zu: %s", i, halotune_error(p.ctx));
    CHECK_OK(halotune_lookup(p.ctx, &problem, &config));
    CHECK_EQ(HALOTUNE_MATCH_NEAR_GRID, config.match, "row %zu: the ctx answers as before", i);
    scene_end(&p);
  }
}

TEST(what_is_asked_for_is_checked) {
  struct scene p;
  halotune_problem other = problem;
  scene_begin(&p, ":");
  p.options.backend = NULL;
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_tune(p.ctx, &other, &p.options, NULL, NULL), "a GPU by its name");
  other.device = "1000";
  CHECK_EQ(HALOTUNE_NO_GPU, halotune_tune(p.ctx, &other, &p.options, NULL, NULL), "a number that no GPU has");
  p.options.backend = "host";
  other.stencil = "--db=x";
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_tune(p.ctx, &other, &p.options, NULL, NULL), "an option as a stencil");
  other.stencil = NULL;
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_tune(p.ctx, &other, &p.options, NULL, NULL), "no stencil");
  p.options.budget_s = NAN;
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_tune(p.ctx, &problem, &p.options, NULL, NULL), "a budget");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_tune(NULL, &problem, NULL, NULL, NULL), "no ctx");
  CHECK_EQ(0, calls_of(&p), "nothing was run");
  scene_end(&p);
}

static int cancel(void *user, double elapsed_s, const char *line) {
  (void)elapsed_s;
  return strcmp(line, user) == 0;
}

TEST(the_callback_cancels) {
  struct scene p;
  scene_begin(&p, "echo slow; sleep 600");
  CHECK_EQ(HALOTUNE_CANCELLED, halotune_tune(p.ctx, &problem, &p.options, cancel, "slow"), "cancelled");
  scene_end(&p);
}

/* The times of calls. */
struct called {
  int calls;
  double last_s, least_apart_s;
};

static int note_call(void *user, double elapsed_s, const char *line) {
  enum { ENOUGH_NOTED = 5 };
  struct called *called = user;
  (void)line;
  if (called->calls > 0) called->least_apart_s = fmin(called->least_apart_s, elapsed_s - called->last_s);
  called->last_s = elapsed_s;
  return ++called->calls == ENOUGH_NOTED;
}

TEST(the_callback_is_not_called_for_each_line) {
  const double least_apart_s = 0.0999;
  struct scene p;
  struct called called = {.least_apart_s = INFINITY};
  scene_begin(&p, "while :; do echo line; done");
  CHECK_EQ(HALOTUNE_CANCELLED, halotune_tune(p.ctx, &problem, &p.options, note_call, &called), "cancelled");
  CHECK(called.least_apart_s > least_apart_s, "two calls were %g s apart", called.least_apart_s);
  scene_end(&p);
}

static void *tune_in_thread(void *context) {
  struct scene *p = context;
  return (void *)(intptr_t)halotune_tune(p->ctx, &problem, &p->options, NULL, NULL);
}

/* Let the other process end when this one waits for it. */
static int let_go(void *user, double elapsed_s, const char *line) {
  char path[256];
  (void)elapsed_s;
  snprintf(path, sizeof path, "%s/go", ((const struct scene *)user)->folder);
  if (strstr(line, "another process")) fclose(fopen(path, "w"));
  return 0;
}

TEST(a_problem_is_tuned_once_at_a_time) {
  struct scene p;
  halotune_config config;
  halotune_ctx *second;
  pthread_t thread;
  void *result;
  scene_begin(&p, "while ! [ -e go ]; do sleep 0.02; done");
  const char *paths[] = {p.before.path};
  CHECK_OK(halotune_open(paths, 1, &second));
  CHECK_EQ(0, pthread_create(&thread, NULL, tune_in_thread, &p), "thread");
  while (calls_of(&p) == 0) usleep(10000);
  CHECK_OK(halotune_tune(second, &problem, &p.options, let_go, &p));
  pthread_join(thread, &result);
  CHECK_EQ(HALOTUNE_OK, (intptr_t)result, "the first");
  CHECK_EQ(1, calls_of(&p), "the second takes the result of the first");
  CHECK_OK(halotune_lookup(second, &problem, &config));
  CHECK_EQ(HALOTUNE_MATCH_EXACT, config.match, "and answers with it");
  halotune_close(second);
  scene_end(&p);
}

/* What a callback has seen. */
struct seen {
  const struct scene *scene;
  int calls;
  double last_s;
  bool went_back;
};

enum { ENOUGH_CALLS = 5 };

/* Let the other process end after some calls. */
static int let_go_later(void *user, double elapsed_s, const char *line) {
  struct seen *seen = user;
  char path[256];
  (void)line;
  snprintf(path, sizeof path, "%s/go", seen->scene->folder);
  seen->went_back = seen->went_back || elapsed_s < seen->last_s;
  seen->last_s = elapsed_s;
  if (++seen->calls == ENOUGH_CALLS) fclose(fopen(path, "w"));
  return 0;
}

/* The first of two fails without a database, and the second tunes. They name the database in two ways. */
TEST(a_failure_of_the_first_is_none_of_the_second) {
  struct scene p;
  halotune_config config;
  halotune_ctx *second;
  pthread_t thread;
  void *result;
  char path[256], before[4096];
  scene_begin(&p, "while ! [ -e go ]; do sleep 0.02; done; mkdir first 2>/dev/null && exit 1");
  snprintf(path, sizeof path, "%s/new.db", p.folder);
  CHECK(getcwd(before, sizeof before) && chdir(p.folder) == 0, "%s", p.folder);
  const char *paths[] = {p.before.path};
  CHECK_OK(halotune_open(paths, 1, &second));
  p.options.database = path;
  halotune_tune_options relative = p.options;
  relative.database = "new.db";
  CHECK_EQ(0, pthread_create(&thread, NULL, tune_in_thread, &p), "thread");
  while (calls_of(&p) == 0) usleep(10000);
  struct seen seen = {.scene = &p};
  CHECK_OK(halotune_tune(second, &problem, &relative, let_go_later, &seen));
  pthread_join(thread, &result);
  CHECK_EQ(HALOTUNE_IO, (intptr_t)result, "the first");
  CHECK_EQ(2, calls_of(&p), "both, one after the other");
  CHECK(was_called_with(&p, path), "the program gets the absolute path");
  CHECK(!seen.went_back, "the time is that since the call");
  CHECK_OK(halotune_lookup(second, &problem, &config));
  CHECK_EQ(HALOTUNE_MATCH_EXACT, config.match, "the second");
  CHECK_EQ(0, chdir(before), "%s", before);
  halotune_close(second);
  scene_end(&p);
}

/* In a folder that others can write, another user could hold the lock. */
TEST(a_lock_that_others_could_hold_is_refused) {
  struct tune_lock held = {-1};
  struct scene p;
  char folders[2][256];
  scene_begin(&p, ":");
  snprintf(folders[0], sizeof folders[0], "%s/halotune", p.folder);
  snprintf(folders[1], sizeof folders[1], "%s/halotune/tune", p.folder);
  for (int i = 0; i < 2; i++) CHECK_EQ(0, mkdir(folders[i], 0700), "%s", folders[i]);
  CHECK(tune_lock_try("a problem", false, &held) && tune_lock_is_held("a problem"), "the folder is this user's");
  CHECK_EQ(0, chmod(folders[1], 0777), "%s", folders[1]);
  CHECK(!tune_lock_is_held("a problem"), "who holds a lock there says nothing");
  tune_lock_release(&held);
  CHECK_EQ(HALOTUNE_IO, halotune_tune(p.ctx, &problem, &p.options, NULL, NULL), "shared");
  CHECK(strstr(halotune_error(p.ctx), "chmod"), "%s", halotune_error(p.ctx));
  CHECK_EQ(0, chmod(folders[1], 0700), "%s", folders[1]);
  CHECK_OK(halotune_tune(p.ctx, &problem, &p.options, NULL, NULL));
  scene_end(&p);
}

/* The other process holds the lock and does nothing. */
TEST(another_process_that_does_not_end_is_not_waited_for) {
  const double wait_ms = 20;
  struct tune_lock held = {-1}, lock = {-1};
  struct scene p;
  bool waited;
  scene_begin(&p, ":");
  CHECK(!tune_lock_is_held("a problem"), "nobody had it");
  CHECK(tune_lock_try("a problem", false, &held), "lock");
  CHECK(tune_lock_is_held("a problem"), "held");
  CHECK_EQ(HALOTUNE_IO, tune_lock_take("a problem", wait_ms, NULL, &lock, &waited), "held");
  CHECK(waited && strstr(fail_text(), "has not ended in 0.02 s"), "%s", fail_text());
  tune_lock_release(&held);
  CHECK(!tune_lock_is_held("a problem"), "left");
  CHECK_OK(tune_lock_take("a problem", wait_ms, NULL, &lock, &waited));
  CHECK(!waited, "free");
  tune_lock_release(&lock);
  scene_end(&p);
}

static int cancel_after_some(void *user, double elapsed_s, const char *line) {
  (void)elapsed_s, (void)line;
  return ++*(int *)user > ENOUGH_CALLS;
}

TEST(a_program_without_output_is_waited_for) {
  static const struct {
    const char *first;
    halotune_status want;
  } rows[] = {
      {"exec >&- 2>&-; sleep 600", HALOTUNE_CANCELLED}, /* it stays */
      {"exec 2>&-; sleep 600 & exec 3>&1 >&- 3>&-", HALOTUNE_OK},
      {"sleep 600 &", HALOTUNE_OK}, /* it ends, and another one keeps the output open */
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct scene p;
    int calls = 0;
    scene_begin(&p, rows[i].first);
    const halotune_status status =
        halotune_tune(p.ctx, &problem, &p.options, rows[i].want == HALOTUNE_OK ? NULL : cancel_after_some, &calls);
    CHECK_EQ(rows[i].want, status, "row %zu: %s", i, halotune_error(p.ctx));
    scene_end(&p);
  }
}

/* The budget is chosen so that little is left of it and two minutes. */
TEST(a_program_that_does_not_end_is_killed) {
  static const char *const firsts[] = {"sleep 600", "exec >&- 2>&-; sleep 600",
                                       "while :; do echo line; sleep 0.01; done"};
  for (size_t i = 0; i < COUNT(firsts); i++) {
    struct scene p;
    const char *const none[] = {NULL};
    scene_begin(&p, firsts[i]);
    const struct tune_program program = {.program = p.script, .arguments = none, .budget_s = -119.9};
    CHECK_EQ(HALOTUNE_IO, tune_program_run(&program), "row %zu", i);
    CHECK(strstr(fail_text(), "did not end within two minutes after its budget"), "row %zu: %s", i, fail_text());
    scene_end(&p);
  }
}

TEST(arguments_are_checked_before_the_search) {
  static const struct {
    halotune_problem problem;
    int max_variants;
    halotune_status want;
  } rows[] = {
      {{"star7", "NVIDIA H200", {100, 96, -1}, HALOTUNE_F32, 0, 0, 0, 0}, 0, HALOTUNE_ARGUMENT},
      {{"star7", "NVIDIA H200", {100, 96, 96}, HALOTUNE_F32, 0, 0, 0, -7}, 0, HALOTUNE_ARGUMENT},
      {{"star7", "NVIDIA H200", {100, 96, 96}, HALOTUNE_F32, 0, 0, 0, 0}, -1, HALOTUNE_ARGUMENT},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct scene p;
    scene_begin(&p, ":");
    p.options.max_variants = rows[i].max_variants;
    CHECK_EQ(rows[i].want, halotune_tune(p.ctx, &rows[i].problem, &p.options, NULL, NULL), "row %zu: %s", i,
             halotune_error(p.ctx));
    CHECK_EQ(0, calls_of(&p), "row %zu: nothing was run", i);
    scene_end(&p);
  }
}

/* A program whose host is killed ends too. It holds the writing end of a pipe until then. */
TEST(the_program_ends_with_its_host) {
  struct scene p;
  int ends[2];
  char byte;
  scene_begin(&p, "sleep 600");
  CHECK_EQ(0, pipe(ends), "pipe");
  const pid_t host = fork();
  if (host == 0) {
    halotune_ctx *ctx;
    const char *paths[] = {p.before.path};
    if (halotune_open(paths, 1, &ctx) == HALOTUNE_OK) halotune_tune(ctx, &problem, &p.options, NULL, NULL);
    _exit(0);
  }
  close(ends[1]);
  while (calls_of(&p) == 0) usleep(10000);
  kill(host, SIGKILL);
  CHECK_EQ(host, waitpid(host, NULL, 0), "host");
  struct pollfd ready = {.fd = ends[0], .events = POLLIN};
  const int minute_ms = 60000;
  CHECK_EQ(1, poll(&ready, 1, minute_ms), "the program still runs");
  CHECK_EQ(0, read(ends[0], &byte, 1), "the end of the pipe");
  close(ends[0]);
  scene_end(&p);
}

struct renewing {
  halotune_ctx *ctx;
  const char *database;
  pthread_barrier_t *start;
};

static void *renew_in_thread(void *context) {
  const struct renewing *r = context;
  pthread_barrier_wait(r->start);
  return (void *)(intptr_t)renew(r->ctx, r->database);
}

/* Two threads that finish a tune at the same time: the ctx answers with both results. */
TEST(no_result_of_two_is_lost) {
  static const struct tuned rows[2][1] = {
      {{GPU_H200, "star7", "direct", "vector=1", DTYPE_F32, {100, 96, 96}, LAUNCH_STREAM, CACHE_STEADY, false, 0.004}},
      {{GPU_H200, "star7", "direct", "vector=1", DTYPE_F32, {90, 96, 96}, LAUNCH_STREAM, CACHE_STEADY, false, 0.004}},
  };
  enum { ROUNDS = 5 };
  struct scene p;
  struct work works[2] = {work_begin(), work_begin()};
  scene_begin(&p, ":");
  for (int i = 0; i < 2; i++) tuned_make(works[i].path, rows[i], 1);
  for (int round = 0; round < ROUNDS; round++) {
    pthread_barrier_t start;
    pthread_t threads[2];
    struct renewing renewing[2];
    const char *paths[] = {p.before.path};
    halotune_ctx *ctx;
    CHECK_OK(halotune_open(paths, 1, &ctx));
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++) {
      renewing[i] = (struct renewing){ctx, works[i].path, &start};
      CHECK_EQ(0, pthread_create(&threads[i], NULL, renew_in_thread, &renewing[i]), "thread");
    }
    for (int i = 0; i < 2; i++) {
      void *result;
      pthread_join(threads[i], &result);
      CHECK_EQ(HALOTUNE_OK, (intptr_t)result, "thread %d", i);
    }
    for (int i = 0; i < 2; i++) {
      halotune_problem asked = problem;
      halotune_config config;
      asked.grid[0] = rows[i]->n[0];
      CHECK_OK(halotune_lookup(ctx, &asked, &config));
      CHECK_EQ(HALOTUNE_MATCH_EXACT, config.match, "round %d: database %d", round, i);
    }
    pthread_barrier_destroy(&start);
    halotune_close(ctx);
  }
  for (int i = 0; i < 2; i++) work_end(&works[i]);
  scene_end(&p);
}

/* The first database was moved away, and another user has put a file there. Other owners need root. */
TEST(a_file_of_another_user_is_not_read_again) {
  static const struct tuned row[] = {
      {GPU_H200, "star7", "zmarch", "vector=2", DTYPE_F32, {64, 64, 64}, LAUNCH_STREAM, CACHE_STEADY, false, 0.001}};
  static const struct tuned theirs[] = {
      {GPU_H200, "star7", "direct", "vector=1", DTYPE_F32, {64, 64, 64}, LAUNCH_STREAM, CACHE_STEADY, false, 0.0001}};
  enum { OTHER_USER = 12345 };
  const halotune_problem asked = {.stencil = "star7", .device = "NVIDIA H200", .grid = {64, 64, 64}};
  struct work works[3] = {work_begin(), work_begin(), work_begin()};
  const char *paths[] = {works[0].path};
  halotune_ctx *ctx;
  halotune_config config;
  if (geteuid() != 0) skip();
  tuned_make(works[0].path, row, 1);
  tuned_make(works[1].path, theirs, 1);
  tuned_make(works[2].path, row, 1);
  CHECK_OK(halotune_open(paths, 1, &ctx));
  CHECK_EQ(0, rename(works[1].path, works[0].path), "another file");
  for (int is_theirs = 1; is_theirs >= 0; is_theirs--) { /* one of this user's is read */
    CHECK_EQ(0, chown(works[0].path, is_theirs ? OTHER_USER : 0, 0), "owner");
    CHECK_EQ(is_theirs ? HALOTUNE_DB : HALOTUNE_OK, renew(ctx, works[2].path), "%s", fail_text());
    CHECK(!is_theirs || strstr(fail_text(), "of another user"), "%s", fail_text());
    CHECK_OK(halotune_lookup(ctx, &asked, &config));
    CHECK_TEXT("zmarch", config.template_name, "owner %d", is_theirs);
  }
  struct known_database tuned; /* of another user, as it was made during the tune */
  context_note_database(works[1].path, &tuned);
  tuned_make(works[1].path, theirs, 1);
  CHECK_EQ(0, chown(works[1].path, OTHER_USER, 0), "owner");
  CHECK_EQ(HALOTUNE_DB, context_renew(ctx, &tuned), "%s", fail_text());
  char moved[128];
  snprintf(moved, sizeof moved, "%.90s.moved", works[0].path);
  CHECK_EQ(0, rename(works[0].path, moved) + symlink(moved, works[0].path), "a link, which another user may have made");
  CHECK_EQ(HALOTUNE_DB, renew(ctx, works[2].path), "%s", fail_text());
  halotune_close(ctx);
  for (int i = 0; i < 3; i++) work_end(&works[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_ctx_answers_with_the_new_row),
      cmocka_unit_test(a_tune_whose_row_does_not_answer_is_a_success),
      cmocka_unit_test(a_device_that_lookups_do_not_know_is_told),
      cmocka_unit_test(the_program_gets_a_budget_and_steps_that_it_takes),
      cmocka_unit_test(the_text_of_a_stencil_comes_into_no_file_of_others),
      cmocka_unit_test(added_stencils_stay),
      cmocka_unit_test(the_order_of_added_stencils_stays),
      cmocka_unit_test(the_program_knows_stencils_too),
      cmocka_unit_test(folders_of_the_working_directory_are_left_out),
      cmocka_unit_test(a_program_of_the_working_folder_is_not_run),
      cmocka_unit_test(each_failure_is_told),
      cmocka_unit_test(what_is_asked_for_is_checked),
      cmocka_unit_test(the_callback_cancels),
      cmocka_unit_test(the_callback_is_not_called_for_each_line),
      cmocka_unit_test(a_problem_is_tuned_once_at_a_time),
      cmocka_unit_test(a_failure_of_the_first_is_none_of_the_second),
      cmocka_unit_test(a_lock_that_others_could_hold_is_refused),
      cmocka_unit_test(another_process_that_does_not_end_is_not_waited_for),
      cmocka_unit_test(a_program_without_output_is_waited_for),
      cmocka_unit_test(a_program_that_does_not_end_is_killed),
      cmocka_unit_test(arguments_are_checked_before_the_search),
      cmocka_unit_test(the_program_ends_with_its_host),
      cmocka_unit_test(no_result_of_two_is_lost),
      cmocka_unit_test(a_file_of_another_user_is_not_read_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
