/* compile.c: compiles one source with NVRTC, and finds the error in its log. */
#include "gpu/compile/compile.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/system/clock.h"
#include "gpu/architecture/arch.h"
#include "stencil/cuda/cuda_tokens.h"
#include "stencil/cuda/includes.h"

const char *const compile_standard_options[COMPILE_STANDARD_OPTIONS] = {
    "--std=c++17", "--ptxas-options=-v", /* -v: for the resource report */
};

/* Whether NVRTC has a cache of its own, as it does from 12.9 on. A result from that cache has no resource report, so
 * compile_source switches it off. */
static bool has_own_cache(const struct nvrtc_facts *facts) {
  return facts->major > 12 || (facts->major == 12 && facts->minor >= 9);
}

/* Whether NVRTC may leave out its own declarations of textures and of CUDA's runtime, which take it several
 * milliseconds for each source. Version 12.4 and later can. The names of most of them begin with "cuda". Comments do
 * not decide: no identity covers them. */
static bool may_be_minimal(const struct nvrtc_facts *facts, const char *source) {
  const bool has_option = facts->major > 12 || (facts->major == 12 && facts->minor >= 4);
  return has_option && !source_mentions(source, "cuda");
}

/* the limit on every architecture; a kernel that needs more must use dynamic shared memory */
enum { MAX_STATIC_SHARED_BYTES = 49152 };

static nvrtcResult run_compiler(const struct nvrtc *nvrtc, nvrtcProgram program, const struct compile_request *request,
                                bool is_minimal) {
  int count = 0;
  char arch[32];
  const char **options = calloc((size_t)request->option_count + COMPILE_STANDARD_OPTIONS + 3, sizeof *options);
  if (!options) return NVRTC_ERROR_OUT_OF_MEMORY;
  snprintf(arch, sizeof arch, "--gpu-architecture=%s", request->arch);
  options[count++] = arch;
  for (int i = 0; i < COMPILE_STANDARD_OPTIONS; i++) options[count++] = compile_standard_options[i];
  if (has_own_cache(&nvrtc->facts)) options[count++] = "--no-cache";
  if (is_minimal) options[count++] = "--minimal";
  for (int i = 0; i < request->option_count; i++) options[count++] = request->options[i];
  nvrtcResult result = nvrtc->compile(program, count, options);
  free(options);
  return result;
}

static halotune_status take_log(const struct nvrtc *nvrtc, nvrtcProgram program, char **log) {
  size_t bytes = 0;
  if (nvrtc->log_size(program, &bytes) != NVRTC_SUCCESS) bytes = 0;
  char *text = calloc(1, bytes + 1);
  if (!text) return fail_memory();
  if (bytes > 0) nvrtc->log(program, text);
  free(*log);
  *log = text;
  return HALOTUNE_OK;
}

/* Fail because NVRTC did not finish its work. The source is not to blame. */
static halotune_status fail_unfinished(nvrtcResult result, int length, const char *why) {
  const bool is_short = result == NVRTC_ERROR_OUT_OF_MEMORY || result == NVRTC_ERROR_COMPILATION;
  return fail(is_short ? HALOTUNE_MEMORY : HALOTUNE_NO_NVRTC, "NVRTC did not finish%s: %.*s",
              is_short ? " for lack of memory" : "", length, why);
}

static halotune_status take_cubin(const struct nvrtc *nvrtc, nvrtcProgram program, struct compiled *out) {
  size_t bytes = 0;
  if (nvrtc->cubin_size(program, &bytes) != NVRTC_SUCCESS || bytes == 0) {
    return fail(HALOTUNE_COMPILE, "NVRTC made no cubin; is there an option that asks for another output?");
  }
  out->cubin = malloc(bytes);
  if (!out->cubin) return fail_memory();
  nvrtcResult result = nvrtc->cubin(program, out->cubin);
  if (result != NVRTC_SUCCESS) return fail_unfinished(result, INT_MAX, nvrtc->error_string(result));
  out->cubin_bytes = bytes;
  return HALOTUNE_OK;
}

/* Find the first line of the log that reports an error. Returns NULL if there is none. */
static const char *find_error(const char *log, int *length) {
  static const char *const words[] = {"error", "fatal", "Error:"}; /* "Error:" for too many bytes of arguments */
  for (const char *line = log, *end; *line; line = *end ? end + 1 : end) {
    end = strchrnul(line, '\n');
    *length = (int)(end - line);
    if (*line == ' ') continue; /* a line of the source */
    for (size_t i = 0; i < COUNT(words); i++) {
      if (memmem(line, (size_t)*length, words[i], strlen(words[i]))) return line;
    }
  }
  return NULL;
}

const char *compile_log_error(const char *log, int *length) {
  const char *line = find_error(log, length);
  if (line) return line;
  line = log + strspn(log, "\r\n ");
  *length = (int)strcspn(line, "\r\n");
  return line;
}

/* Whether NVRTC rejected the source or an option. It also reports NVRTC_ERROR_COMPILATION when memory runs out. Its
 * front end then says so, and ptxas writes nothing to the log. When ptxas rejects a kernel without an error, as for too
 * much shared or constant memory, its report has that kernel.
 *   line  the first error of the log; NULL if there is none */
static bool is_rejected(nvrtcResult result, const char *line, int length, const struct resource_report *report) {
  static const char shortage[] = "error: out of memory";
  if (result != NVRTC_ERROR_COMPILATION) return result == NVRTC_ERROR_INVALID_OPTION;
  return line ? !memmem(line, (size_t)length, shortage, strlen(shortage)) : report->count > 0;
}

/* Fail with the reason why there is no cubin. ptxas prints no error when static shared memory is too large, so that
 * case is found in its report. */
static halotune_status fail_without_cubin(nvrtcResult result, const char *log, const struct resource_report *report,
                                          const char *otherwise) {
  int length;
  const char *line = find_error(log, &length);
  if (!is_rejected(result, line, length, report))
    return fail_unfinished(result, line ? length : INT_MAX, line ? line : otherwise);
  if (line && strstr(log, CUDA_DISARMED))
    return fail(HALOTUNE_COMPILE,
                "%.*s (a source includes nothing: put the text of the file that #include names into the template)",
                length, line);
  if (line && (strstr(log, "#?") || strstr(log, "_?") || strstr(log, "a?sert")))
    return fail(HALOTUNE_COMPILE,
                "%.*s (a source asks for no file, no place and no time: write it without __has_include, __LINE__, "
                "__DATE__ and the like, without assert and without ##)",
                length, line);
  if (line) return fail(HALOTUNE_COMPILE, "%.*s", length, line);
  for (int i = 0; i < report->count; i++) {
    const struct kernel_resources *kernel = &report->kernels[i];
    if (kernel->shared_bytes <= MAX_STATIC_SHARED_BYTES) continue;
    return fail(HALOTUNE_COMPILE, "%s takes %d bytes of static shared memory, at most %d are possible", kernel->name,
                kernel->shared_bytes, MAX_STATIC_SHARED_BYTES);
  }
  return fail(HALOTUNE_COMPILE, "%s", otherwise);
}

/* Check that the architecture is a real one (sm_), and that no option names another architecture. */
static halotune_status check_request(const struct compile_request *request) {
  struct arch arch;
  for (int i = 0; i < request->option_count; i++) {
    const char *option = request->options[i];
    if (strncmp(option, "--gpu-architecture", 18) != 0 && strncmp(option, "-arch", 5) != 0) continue;
    return fail(HALOTUNE_ARGUMENT, "an option must not name the architecture: %s", option);
  }
  return arch_parse(request->arch, &arch);
}

/* Hand a source to NVRTC. NVRTC must read no other file. */
static halotune_status create_program(const struct nvrtc *nvrtc, const struct compile_request *request,
                                      nvrtcProgram *program, nvrtcResult *result) {
  char *disarmed = NULL;
  if (cuda_includes_file(request->source)) {
    if (!(disarmed = strdup(request->source))) return fail_memory();
    cuda_disarm_includes(disarmed);
  }
  *result = nvrtc->create(program, disarmed ? disarmed : request->source, request->name, 0, NULL, NULL);
  free(disarmed);
  return HALOTUNE_OK;
}

/* Compile a source with or without all that NVRTC declares by itself.
 *   result  receives what NVRTC said; out has the log, and the cubin if there is one */
static halotune_status compile_once(const struct nvrtc *nvrtc, const struct compile_request *request, bool is_minimal,
                                    nvrtcResult *result, struct compiled *out) {
  nvrtcProgram program = NULL;
  halotune_status status = create_program(nvrtc, request, &program, result);
  if (status != HALOTUNE_OK) return status;
  if (*result != NVRTC_SUCCESS) return fail_unfinished(*result, INT_MAX, nvrtc->error_string(*result));
  *result = run_compiler(nvrtc, program, request, is_minimal);
  status = take_log(nvrtc, program, &out->log);
  if (status == HALOTUNE_OK && *result == NVRTC_SUCCESS) status = take_cubin(nvrtc, program, out);
  nvrtc->destroy(&program);
  return status;
}

/* Whether a compile that fails may work if nothing is left out. The log does not decide, since it quotes comments. */
static bool may_lack_something(nvrtcResult result) {
  return result == NVRTC_ERROR_INVALID_OPTION || result == NVRTC_ERROR_COMPILATION;
}

halotune_status compile_source(const struct nvrtc *nvrtc, const struct compile_request *request, struct compiled *out) {
  nvrtcResult result = NVRTC_SUCCESS;
  *out = (struct compiled){.log = calloc(1, 1)};
  if (!out->log) return fail_memory();
  halotune_status status = check_request(request);
  if (status != HALOTUNE_OK) return status;
  const bool is_minimal = may_be_minimal(&nvrtc->facts, request->source);
  const double start_ms = clock_ms();
  status = compile_once(nvrtc, request, is_minimal, &result, out);
  if (status == HALOTUNE_OK && is_minimal && may_lack_something(result))
    status = compile_once(nvrtc, request, false, &result, out);
  out->compile_time_ms = clock_ms() - start_ms;
  if (status != HALOTUNE_OK) return status;
  if ((status = ptxas_report_read(out->log, &out->report)) != HALOTUNE_OK) return status;
  if (result == NVRTC_SUCCESS) return HALOTUNE_OK;
  return fail_without_cubin(result, out->log, &out->report, nvrtc->error_string(result));
}

void compiled_free(struct compiled *compiled) {
  free(compiled->cubin);
  free(compiled->log);
  resource_report_free(&compiled->report);
  *compiled = (struct compiled){0};
}
