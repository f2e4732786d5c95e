/* lookup_apart_test.c: what others do to a ctx: configurations that are not its own, forks, writers, and databases that
 * are cut short or exchanged. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "db/store/query.h"
#include "library/kernel/kernel_build.h"
#include "library/lookup/context.h"
#include "library/lookup/installed.h"
#include "tests/unit/fake_cuda.h"
#include "tests/unit/library/tuned.h"

static const struct tuned rows[] = {
    {GPU_H200,
     "star7",
     "direct",
     "vector=4 block_x=32",
     DTYPE_F32,
     {64, 64, 64},
     LAUNCH_STREAM,
     CACHE_STEADY,
     false,
     1},
};
static const halotune_problem problem = {.stencil = "star7", .device = "NVIDIA H200", .grid = {64, 64, 64}};

static struct work work;

static int set_up(void **state) {
  (void)state;
  work = work_begin();
  tuned_make(work.path, rows, COUNT(rows));
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  work_end(&work);
  return 0;
}

static halotune_ctx *open_ctx(void) {
  const char *paths[] = {work.path};
  halotune_ctx *ctx;
  CHECK_OK(halotune_open(paths, 1, &ctx));
  return ctx;
}

TEST(a_configuration_that_is_not_ours_is_refused) {
  halotune_ctx *ctx = open_ctx();
  halotune_config config;
  halotune_parameter parameter;
  halotune_kernel *kernel;
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  CHECK_OK(halotune_config_parameter(&config, "vector", &parameter));
  for (int row = 0; row < 6; row++) {
    halotune_config bad = config;
    if (row == 0) memset(&bad, 0, sizeof bad);
    if (row == 1) memset(&bad, 0xA5, sizeof bad);
    if (row == 2) bad.parameters = "{\"vector\": 8";
    if (row == 3) bad.reserved[0] = NULL;
    if (row == 4) bad.reserved[1] = &bad;
    if (row == 5) bad.template_name = NULL;
    CHECK_EQ(HALOTUNE_ARGUMENT, halotune_config_parameter(&bad, "vector", &parameter), "row %d", row);
    CHECK_EQ(HALOTUNE_ARGUMENT, halotune_config_parameter_at(&bad, 0, &parameter), "row %d", row);
    CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_create(ctx, &bad, NULL, NULL, &kernel), "row %d", row);
    CHECK(strstr(halotune_error(ctx), "halotune_lookup") && !kernel, "row %d: %s", row, halotune_error(ctx));
  }
  halotune_config copy = config;
  CHECK_OK(halotune_config_parameter(&copy, "vector", &parameter)); /* a copy is as good */
  copy.dtype = (halotune_dtype)77;
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_kernel_create(ctx, &copy, NULL, NULL, &kernel), "an element type");
  halotune_close(ctx);
}

enum { MOST_S = 300 }; /* after which a child that hangs is killed */

/* In a child: the parent's ctx gives a status, also for the parent's configuration, and a new one answers. Returns the
 * number of the first failure. */
static int use_in_child(halotune_ctx *parents, const halotune_config *known) {
  const char *paths[] = {work.path};
  halotune_config config;
  halotune_kernel *kernel;
  halotune_ctx *ctx;
  if (halotune_lookup(parents, &problem, &config) != HALOTUNE_ARGUMENT) return 1;
  if (!strstr(halotune_error(parents), "before the fork")) return 2;
  if (halotune_kernel_create(parents, known, NULL, NULL, &kernel) != HALOTUNE_ARGUMENT) return 3;
  if (!strstr(halotune_error(parents), "before the fork")) return 6;
  halotune_close(parents);
  if (halotune_open(paths, 1, &ctx) != HALOTUNE_OK) return 4;
  if (halotune_lookup(ctx, &problem, &config) != HALOTUNE_OK) return 5;
  halotune_close(ctx);
  return 0;
}

/* The lock that another thread holds during a fork. */
struct holder {
  halotune_ctx *ctx;
  atomic_int stage; /* 1: it holds the lock; 2: it may let go */
};

static void *hold_lock(void *context) {
  struct holder *holder = context;
  pthread_mutex_lock(&holder->ctx->lock);
  atomic_store(&holder->stage, 1);
  while (atomic_load(&holder->stage) < 2) usleep(1000);
  pthread_mutex_unlock(&holder->ctx->lock);
  return NULL;
}

static void *open_often(void *context) {
  struct holder *holder = context;
  const char *paths[] = {work.path};
  halotune_ctx *ctx;
  atomic_store(&holder->stage, 1);
  while (atomic_load(&holder->stage) < 2) {
    if (halotune_open(paths, 1, &ctx) == HALOTUNE_OK) halotune_close(ctx);
  }
  return NULL;
}

TEST(a_child_gets_a_status_and_never_a_lock_that_stays) {
  static void *(*const others[])(void *context) = {hold_lock, open_often};
  enum { FORKS = 10 };
  for (size_t i = 0; i < COUNT(others); i++) {
    struct holder holder = {.ctx = open_ctx()};
    halotune_config config;
    pthread_t thread;
    CHECK_OK(halotune_lookup(holder.ctx, &problem, &config));
    CHECK_EQ(0, pthread_create(&thread, NULL, others[i], &holder), "thread");
    while (atomic_load(&holder.stage) < 1) usleep(1000);
    for (int n = 0; n < FORKS; n++) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(MOST_S); /* against hanging */
        _exit(use_in_child(holder.ctx, &config));
      }
      int how = -1;
      waitpid(child, &how, 0);
      CHECK_EQ(0, how, "other %zu, fork %d", i, n);
    }
    atomic_store(&holder.stage, 2);
    pthread_join(thread, NULL);
    CHECK_OK(halotune_lookup(holder.ctx, &problem, &config)); /* the parent goes on */
    halotune_close(holder.ctx);
  }
}

/* A ctx keeps what it has read. Only machine code is read later, and is generated where the file has changed. */
TEST(a_database_that_changes_under_a_ctx_changes_no_answer) {
  char other[128];
  snprintf(other, sizeof other, "%s/other.db", work.folder);
  for (int row = 0; row < 4; row++) {
    halotune_config before, after;
    struct store *store;
    int64_t number;
    tuned_make(row == 0 ? work.path : other, rows, COUNT(rows));
    halotune_ctx *ctx = open_ctx();
    CHECK_OK(halotune_lookup(ctx, &problem, &before));
    pthread_mutex_lock(&ctx->lock);
    CHECK_OK(context_store(ctx, 0, &store)); /* it stays open, as after halotune_kernel_create */
    pthread_mutex_unlock(&ctx->lock);
    if (row == 0) CHECK_EQ(0, truncate(work.path, 4096), "cut short");
    if (row == 1) CHECK_EQ(0, truncate(work.path, 0), "emptied");
    if (row == 2) CHECK_EQ(0, rename(other, work.path), "exchanged");
    if (row == 3) CHECK_EQ(0, unlink(work.path), "removed");
    CHECK_OK(halotune_lookup(ctx, &problem, &after));
    CHECK_TEXT(before.parameters, after.parameters, "row %d", row);
    pthread_mutex_lock(&ctx->lock);
    /* An error or an answer, and no crash. */
    (void)query_number(store_connection(store), "select count(1) from best where length(source) > 0", &number);
    pthread_mutex_unlock(&ctx->lock);
    halotune_close(ctx);
    unlink(work.path);
    tuned_make(work.path, rows, COUNT(rows));
  }
}

/* A pipe in a folder of templates, or in place of a database, has no writer. */
/* store_links_test.c has more kinds of folders and links. Links of others need root. */
TEST(a_link_of_another_user_leads_to_no_database) {
  enum { OTHER_USER = 4321 };
  if (geteuid() != 0) skip();
  for (int is_own = 0; is_own < 2; is_own++) {
    char shared[96], link[128];
    halotune_ctx *ctx;
    snprintf(shared, sizeof shared, "%s/shared%d", work.folder, is_own);
    snprintf(link, sizeof link, "%s/link", shared);
    CHECK_EQ(0, mkdir(shared, 0700) + chmod(shared, 01777) + symlink(work.path, link), "%s", shared);
    if (!is_own) CHECK_EQ(0, lchown(link, OTHER_USER, (gid_t)-1), "%s", link);
    const char *paths[] = {link};
    CHECK_EQ(is_own ? HALOTUNE_OK : HALOTUNE_DB, halotune_open(paths, 1, &ctx), "own %d: %s", is_own,
             halotune_error(NULL));
    if (!is_own) CHECK(strstr(halotune_error(NULL), "belongs to user 4321"), "%s", halotune_error(NULL));
    halotune_close(ctx);
  }
}

TEST(a_pipe_is_not_waited_for) {
  char pipe_path[128];
  snprintf(pipe_path, sizeof pipe_path, "%s/direct.yaml", work.folder);
  CHECK_EQ(0, mkfifo(pipe_path, 0600), "%s", pipe_path);
  setenv("HALOTUNE_TEMPLATE_PATH", work.folder, 1);
  alarm(MOST_S); /* against hanging */
  halotune_close(open_ctx());
  const char *paths[] = {pipe_path};
  halotune_ctx *none;
  CHECK_EQ(HALOTUNE_DB, halotune_open(paths, 1, &none), "a pipe in place of a database");
  alarm(0);
  unsetenv("HALOTUNE_TEMPLATE_PATH");
}

/* In an installation of this user, a file with such a mode is anybody's. */
TEST(an_installed_template_that_others_can_write_is_not_read) {
  static const struct {
    mode_t yaml, cuda;
    bool is_read;
  } modes[] = {
      {0644, 0644, true}, {0664, 0664, true}, {0646, 0644, false}, {0644, 0646, false}, {0644, 0644, true},
  };
  struct data_folders folders = {.count = 1};
  char paths[2][128];
  snprintf(folders.list[0], sizeof folders.list[0], "%s", work.folder);
  snprintf(paths[0], sizeof paths[0], "%s/templates", work.folder);
  CHECK_EQ(0, mkdir(paths[0], 0700), "%s", paths[0]);
  for (int i = 0; i < 2; i++) {
    snprintf(paths[i], sizeof paths[i], "%s/templates/%s", work.folder, i == 0 ? "mine.yaml" : "mine.cu");
    fclose(fopen(paths[i], "w"));
  }
  for (size_t i = 0; i < COUNT(modes); i++) {
    struct template_texts texts;
    CHECK(chmod(paths[0], modes[i].yaml) == 0 && chmod(paths[1], modes[i].cuda) == 0, "row %zu", i);
    CHECK_OK(installed_texts(&folders, "mine", &texts));
    CHECK_EQ(modes[i].is_read, texts.yaml && texts.cuda, "row %zu", i);
    template_texts_free(&texts);
  }
}

TEST(a_ctx_opens_while_another_process_writes) {
  enum { OPENS = 20 };
  const pid_t writer = fork();
  if (writer == 0) {
    alarm(MOST_S); /* if a check fails, nobody kills it */
    for (;;) {
      struct store *store;
      if (store_open(work.path, STORE_WRITE, &store) != HALOTUNE_OK) _exit(1);
      struct device_facts device = tuned_device(GPU_H100);
      for (int i = 0; i < 20; i++) {
        snprintf(device.uuid, sizeof device.uuid, "GPU-%d", i);
        if (store_device(store, &device, false) == 0) _exit(2);
      }
      store_close(store);
    }
  }
  for (int i = 0; i < OPENS; i++) {
    halotune_config config;
    halotune_ctx *ctx = open_ctx();
    CHECK_OK(halotune_lookup(ctx, &problem, &config));
    halotune_close(ctx);
  }
  int how = 0;
  CHECK_EQ(0, waitpid(writer, &how, WNOHANG), "the writer writes");
  kill(writer, SIGKILL);
  waitpid(writer, &how, 0);
}

/* NVRTC, whose compile never returns. */
static nvrtcResult create_nothing(nvrtcProgram *program, const char *source, const char *name, int header_count,
                                  const char *const *headers, const char *const *include_names) {
  (void)source, (void)name, (void)header_count, (void)headers, (void)include_names;
  *program = NULL;
  return NVRTC_SUCCESS;
}

static nvrtcResult compile_for_ever(nvrtcProgram program, int count, const char *const *options) {
  (void)program, (void)count, (void)options;
  while (pause() != 0) {}
  return NVRTC_SUCCESS;
}

TEST(nvrtc_that_never_answers_is_left_alone) {
  halotune_ctx *ctx = open_ctx();
  struct nvrtc *nvrtc = calloc(1, sizeof *nvrtc);
  struct compiled compiled;
  const char *origin;
  CHECK(nvrtc, "memory");
  nvrtc->create = create_nothing;
  nvrtc->compile = compile_for_ever;
  atomic_store(&ctx->nvrtc, nvrtc); /* the ctx frees it, while the thread is in the compile */
  kernel_compile_ms = 50;
  CHECK_EQ(HALOTUNE_COMPILE, kernel_compile(ctx, 90, "silent", "silent.cu", &compiled, &origin), "limit");
  CHECK(strstr(fail_text(), "silent.cu: NVRTC did not compile it within 0.05 s"), "%s", fail_text());
  CHECK_TEXT("", compiled.log, "log");
  compiled_free(&compiled);
  halotune_close(ctx);
}

static int thread_count(void) {
  DIR *folder = opendir("/proc/self/task");
  int count = 0;
  CHECK(folder, "threads");
  while (readdir(folder)) count++;
  closedir(folder);
  return count - 2; /* . and .. */
}

/* A thread that waits for the driver does not hold up threads that need no driver. */
TEST(a_gpu_that_is_named_needs_no_driver) {
  static const halotune_problem named = {.stencil = "star7", .device = "NVIDIA H200", .grid = {64, 64, 64}};
  halotune_ctx *ctx = open_ctx();
  halotune_config config;
  alarm(MOST_S);
  pthread_mutex_lock(&ctx->starting);
  CHECK_OK(halotune_lookup(ctx, &named, &config));
  pthread_mutex_unlock(&ctx->starting);
  alarm(0);
  halotune_close(ctx);
}

static void *ask_driver(void *ctx) {
  static const halotune_problem here = {.stencil = "star7", .device = "0", .grid = {64, 64, 64}};
  halotune_config config;
  return halotune_lookup(ctx, &here, &config) == HALOTUNE_NO_GPU ? ctx : NULL;
}

TEST(a_driver_that_never_answers_is_left_alone) {
  static const halotune_problem here = {.stencil = "star7", .device = "0", .grid = {64, 64, 64}};
  if (!find_fake_cuda()) skip();
  halotune_ctx *ctx = open_ctx();
  halotune_config config;
  setenv("HALOTUNE_FAKE_FAULT", "cuInit=hang", 1);
  context_driver_ms = 50;
  const int before = thread_count(); /* ThreadSanitizer has one of its own */
  pthread_t other;                   /* one of the two threads waits for the lock of the other */
  CHECK_EQ(0, pthread_create(&other, NULL, ask_driver, ctx), "thread");
  CHECK_EQ(HALOTUNE_NO_GPU, halotune_lookup(ctx, &here, &config), "limit");
  void *answer = NULL;
  CHECK(pthread_join(other, &answer) == 0 && answer == ctx, "a second thread");
  for (int again = 0; again <= 1; again++) {
    CHECK_EQ(HALOTUNE_NO_GPU, halotune_lookup(ctx, &here, &config), "time %d: limit", again);
    CHECK(strstr(fail_text(), "driver has not answered in 0.05 s"), "%s", fail_text());
    /* The kernel removes a joined thread from the list a moment later. */
    alarm(MOST_S);
    while (again == 0 && thread_count() > before + 1) usleep(1000);
    alarm(0);
    CHECK_EQ(before + 1, thread_count(), "time %d: one thread waits for the driver", again);
  }
  halotune_close(ctx);
}

#define WITH_WORK(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_WORK(a_configuration_that_is_not_ours_is_refused),
      WITH_WORK(a_child_gets_a_status_and_never_a_lock_that_stays),
      WITH_WORK(a_database_that_changes_under_a_ctx_changes_no_answer),
      WITH_WORK(a_link_of_another_user_leads_to_no_database),
      WITH_WORK(a_pipe_is_not_waited_for),
      WITH_WORK(an_installed_template_that_others_can_write_is_not_read),
      WITH_WORK(a_ctx_opens_while_another_process_writes),
      WITH_WORK(a_gpu_that_is_named_needs_no_driver),
      WITH_WORK(a_driver_that_never_answers_is_left_alone), /* these leave a thread each */
      WITH_WORK(nvrtc_that_never_answers_is_left_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
