/* emulation_build.c: compiles variants to shared objects. They are kept on disk under the hash of source, compiler,
 * flags and our own files. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/own.h"
#include "base/files/path.h"
#include "base/files/replace.h"
#include "base/identity/identity.h"
#include "base/system/clock.h"
#include "base/system/parallel.h"
#include "gpu/compile/cache_folder.h"
#include "stencil/cuda/includes.h"
#include "tuner/emulate/emulation_batch.h"
#include "tuner/emulate/emulation_cache.h"
#include "tuner/emulate/emulation_compiler.h"
#include "tuner/emulate/emulation_files.h"
#include "tuner/emulate/emulation_scratch.h"
#include "tuner/emulate/emulation_unroll.h"

struct build {
  const struct emulation_source *sources;
  const struct emulation_options *options;
  struct emulation_batch *batch;
  struct emulation_compiler compiler;
  struct hash files_hash;
  char *files; /* the folder into which emulation_files_write wrote our files */
  struct emulation_scratch scratch;
  halotune_status status; /* the first failure of any thread that no variant caused; protected by `lock` */
  char detail[FAIL_TEXT_BYTES];
  int done; /* variants that are compiled; protected by `lock` */
  pthread_mutex_t lock;
};

/* The path in the cache for the product that a compiler makes from `input`. Returns NULL when memory is out. */
static char *product_path(const struct build *build, enum emulation_product product, const struct text *input) {
  const struct hash parts[] = {emulation_compiler_hash(&build->compiler, product), build->files_hash,
                               emulation_cache_format()};
  struct identity_maker maker; /* the name alone tells to which source the file belongs */
  char hex[IDENTITY_HEX_BYTES], *path;
  identity_begin(&maker, "host runner");
  identity_add(&maker, text_string(input), input->length);
  identity_add(&maker, parts, sizeof parts);
  identity_hex(identity_end(&maker), hex);
  const char *suffix = product == EMULATION_RUNNER ? CACHE_RUNNER_SUFFIX : CACHE_OBJECT_SUFFIX;
  return asprintf(&path, "%s/%s%s", build->batch->folder, hex, suffix) < 0 ? NULL : path;
}

void emulation_batch_show_folder(const struct emulation_batch *batch, const char *text, struct text *out) {
  const char *found;
  const size_t length = batch->folder ? strlen(batch->folder) : 0;
  while (length > 0 && batch->shown && (found = strstr(text, batch->folder))) {
    text_printf(out, "%.*s%s", (int)(found - text), text, batch->shown);
    text = found + length;
  }
  text_printf(out, "%s", text);
}

halotune_status emulation_batch_fail(const struct emulation_batch *batch, halotune_status status) {
  struct text text = {0};
  emulation_batch_show_folder(batch, fail_text(), &text);
  status = fail(status, "%s", text_string(&text));
  text_free(&text);
  return status;
}

/* Whether the product is in the cache. A damaged one counts as missing, and is replaced. */
static bool is_cached(const struct build *build, const char *path) {
  enum emulation_cache_answer answer = emulation_cache_find(path);
  if (answer == EMULATION_CACHE_DAMAGED) {
    struct text warning = {0};
    emulation_batch_show_folder(build->batch, fail_text(), &warning);
    text_printf(&warning, "; compiled again");
    emulation_cache_warn(build->options, text_string(&warning));
    text_free(&warning);
  }
  return answer == EMULATION_CACHE_HIT;
}

static halotune_status fail_ended(void) { return fail(HALOTUNE_CANCELLED, "stopped while variants were compiled"); }

/* Compile to a file in the scratch folder, and rename it to `path` if the compiler succeeds. */
static halotune_status compile_to(const struct build *build, enum emulation_product product, const struct text *source,
                                  const char *path, struct text *log, enum compile_outcome *outcome) {
  struct process_result result = {0};
  char *temporary;
  int timeout_ms = build->options->timeout_ms > 0 ? build->options->timeout_ms : EMULATION_COMPILE_TIMEOUT_MS;
  if (asprintf(&temporary, "%s/%s" REPLACE_SUFFIX, build->scratch.folder, path_name(path)) < 0) return fail_memory();
  halotune_status status;
  int fd = mkostemp(temporary, O_CLOEXEC);
  if (fd < 0) {
    status = fail(HALOTUNE_IO, "%s: %s", temporary, strerror(errno));
    free(temporary);
    return status;
  }
  close(fd);
  status = emulation_compiler_run(&build->compiler, product, build->files, source, temporary, build->scratch.folder,
                                  build->batch->descriptor, timeout_ms, &build->options->ending, log, &result);
  *outcome = emulation_compiler_blames_source(text_string(log)) ? COMPILE_FAILED : COMPILE_CRASHED;
  if (status == HALOTUNE_OK && result.was_ended) {
    status = fail_ended();
  } else if (status == HALOTUNE_OK && result.timed_out) {
    *outcome = COMPILE_TIMEOUT;
    text_printf(log, "the compiler was ended after %d ms\n", timeout_ms);
  } else if (status == HALOTUNE_OK && WIFSIGNALED(result.wait_status)) {
    *outcome = COMPILE_CRASHED;
    text_printf(log, "the compiler died: %s\n", strsignal(WTERMSIG(result.wait_status)));
  } else if (status == HALOTUNE_OK && WEXITSTATUS(result.wait_status) == 0) {
    *outcome = COMPILE_OK;
    /* the linker makes a new file, which a generous umask would let others write */
    status = chmod(temporary, S_IRWXU) == 0 ? emulation_cache_seal(temporary)
                                            : fail(HALOTUNE_IO, "%s: %s", temporary, strerror(errno));
    if (status == HALOTUNE_OK && rename(temporary, path) != 0) status = replace_fail(path);
  }
  if (status != HALOTUNE_OK || *outcome != COMPILE_OK) unlink(temporary);
  free(temporary);
  return status == HALOTUNE_OK && !text_ok(log) ? fail_memory() : status;
}

/* Write the generated source with its own line numbers, followed by the table of its kernels. g++ gets the program that
 * NVRTC would get. */
static void write_source(const struct emulation_source *source, bool counts, struct text *out) {
  text_printf(out, "#line 1 \"%s\"\n", source->name);
  const size_t begin = out->length;
  if (counts) emulation_unroll(source->text, out);
  else text_printf(out, "%s", source->text);
  if (text_ok(out)) cuda_disarm_includes(out->bytes + begin);
  text_printf(out, "\nHALOTUNE_KERNELS ");
  for (int i = 0; i < source->kernel_count; i++) text_printf(out, "HALOTUNE_KERNEL(%s) ", source->kernels[i]);
  text_printf(out, "HALOTUNE_KERNELS_END\n");
}

static halotune_status build_variant(const struct build *build, int number) {
  struct emulation_variant *variant = &build->batch->variants[number];
  struct text source = {0}, log = {0}, shown = {0};
  double start_ms = clock_ms();
  char *path = NULL;
  halotune_status status = HALOTUNE_OK;
  write_source(&build->sources[number], build->options->counts, &source);
  if (!(variant->name = strdup(build->sources[number].name)) || !text_ok(&source) ||
      !(path = product_path(build, EMULATION_VARIANT, &source))) {
    status = fail_memory();
    goto done;
  }
  variant->compile.outcome = COMPILE_OK;
  variant->compile.cached = is_cached(build, path);
  if (!variant->compile.cached) {
    status = compile_to(build, EMULATION_VARIANT, &source, path, &log, &variant->compile.outcome);
    if (status != HALOTUNE_OK) goto done;
  }
  if (variant->compile.outcome == COMPILE_OK) {
    variant->object = path;
    path = NULL;
  }
  emulation_batch_show_folder(build->batch, text_string(&log), &shown);
  variant->log = shown.bytes;
  shown = (struct text){0};
  variant->compile.log = variant->log ? variant->log : "";
  variant->compile.time_ms = clock_ms() - start_ms;
done:
  free(path);
  text_free(&log);
  text_free(&source);
  return status;
}

static halotune_status build_runner(const struct build *build) {
  struct text nothing = {0}, log = {0}, lines = {0};
  enum compile_outcome outcome = COMPILE_OK;
  halotune_status status = HALOTUNE_OK;
  if (!(build->batch->runner = product_path(build, EMULATION_RUNNER, &nothing))) return fail_memory();
  if (!is_cached(build, build->batch->runner)) {
    status = compile_to(build, EMULATION_RUNNER, &nothing, build->batch->runner, &log, &outcome);
  }
  if (status == HALOTUNE_OK && outcome != COMPILE_OK) {
    for (const char *line = text_string(&log), *end; *line; line = *end ? end + 1 : end) {
      end = strchrnul(line, '\n');
      text_printf(&lines, "\n  %.*s", (int)(end - line), line);
    }
    status = fail(HALOTUNE_COMPILE, "%s does not compile the host backend's runner:%s", build->compiler.path,
                  text_string(&lines));
  }
  text_free(&lines);
  text_free(&log);
  return status;
}

static halotune_status build_item(const struct build *build, long item) {
  if (ending_has_come(&build->options->ending)) return fail_ended();
  return item == 0 ? build_runner(build) : build_variant(build, (int)item - 1);
}

static bool has_failed(struct build *build) {
  pthread_mutex_lock(&build->lock);
  const bool failed = build->status != HALOTUNE_OK;
  pthread_mutex_unlock(&build->lock);
  return failed;
}

/* Item 0 is the runner, which takes longest to compile; the other items are the variants. After a failure that no
 * variant caused, no further compile begins. */
static void build_items(void *context, int thread, long first, long end) {
  struct build *build = context;
  const struct emulation_options *options = build->options;
  (void)thread;
  for (long i = first; i < end && !has_failed(build); i++) {
    const halotune_status status = build_item(build, i);
    pthread_mutex_lock(&build->lock);
    build->done += status == HALOTUNE_OK && i > 0;
    if (status == HALOTUNE_OK && i > 0 && options->compiled) options->compiled(options->context, build->done);
    if (status != HALOTUNE_OK && build->status == HALOTUNE_OK) {
      build->status = status;
      snprintf(build->detail, sizeof build->detail, "%s", fail_text());
    }
    pthread_mutex_unlock(&build->lock);
  }
}

halotune_status emulation_build(const struct emulation_source *sources, int count,
                                const struct emulation_options *options, struct emulation_batch **out) {
  struct build build = {
      .sources = sources, .options = options, .scratch = {.lock = -1}, .lock = PTHREAD_MUTEX_INITIALIZER};
  char hex[HASH_HEX_BYTES];
  halotune_status status;
  *out = NULL;
  build.batch = calloc(1, sizeof *build.batch);
  if (build.batch) build.batch->hold = build.batch->descriptor = -1;
  if (!build.batch || !(build.batch->variants = calloc((size_t)count + 1, sizeof *build.batch->variants))) {
    status = fail_memory();
    goto done;
  }
  build.batch->count = count;
  build.batch->cache_bytes = options->cache_bytes > 0 ? options->cache_bytes : CACHE_FOLDER_MAX_BYTES;
  for (int i = 0; i < count; i++) build.batch->variants[i].runner = emulation_runner_none;
  if ((status = emulation_compiler_open(options->compiler, options->sanitize, options->counts, &build.compiler)) !=
      HALOTUNE_OK)
    goto done;
  if ((status = emulation_cache_open(options, &build.batch->shown)) != HALOTUNE_OK) goto done;
  status = own_folder_hold(build.batch->shown, &build.batch->descriptor, &build.batch->folder);
  if (status == HALOTUNE_NOT_FOUND) status = fail(HALOTUNE_IO, "%s: it was removed", build.batch->shown);
  if (status != HALOTUNE_OK) goto done;
  build.batch->hold = cache_folder_hold(build.batch->folder);
  build.files_hash = emulation_files_hash();
  hash_hex(build.files_hash, hex);
  if (asprintf(&build.files, "%s/%s", build.batch->folder, hex) < 0) {
    build.files = NULL;
    status = fail_memory();
    goto done;
  }
  if ((status = emulation_files_write(build.files)) != HALOTUNE_OK) goto done;
  if ((status = emulation_scratch_open(build.batch->folder, &build.scratch)) != HALOTUNE_OK) goto done;
  parallel_for(1L + count, 1, parallel_threads(options->workers), build_items, &build);
  if (build.status != HALOTUNE_OK) {
    status = fail(build.status, "%s", build.detail);
    goto done;
  }
  *out = build.batch;
  build.batch = NULL;
done:
  if (status != HALOTUNE_OK && build.batch) status = emulation_batch_fail(build.batch, status);
  emulation_scratch_close(&build.scratch);
  free(build.files);
  emulation_compiler_close(&build.compiler);
  emulation_batch_free(build.batch);
  return status;
}

const struct emulation_compile *emulation_batch_compile(const struct emulation_batch *batch, int variant) {
  return &batch->variants[variant].compile;
}

void emulation_batch_free(struct emulation_batch *batch) {
  bool adds = false;
  if (!batch) return;
  for (int i = 0; batch->variants && i < batch->count; i++) {
    struct emulation_variant *variant = &batch->variants[i];
    emulation_runner_stop(&variant->runner);
    adds = adds || (variant->object && !variant->compile.cached);
    free(variant->object);
    free(variant->log);
    free(variant->name);
  }
  if (adds) cache_folder_trim(batch->folder, batch->cache_bytes); /* nothing in the cache is in use now */
  if (batch->hold >= 0) close(batch->hold);
  if (batch->descriptor >= 0) close(batch->descriptor);
  free(batch->variants);
  free(batch->runner);
  free(batch->folder);
  free(batch->shown);
  free(batch);
}
