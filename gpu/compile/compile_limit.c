/* compile_limit.c: copies the input of a compile, because the compile may outlive its caller. */
#include "gpu/compile/compile_limit.h"

#include <stdlib.h>
#include <string.h>

#include "base/system/limited_call.h"

struct job {
  struct nvrtc nvrtc;
  struct compile_request request;
  char *source, *name, *arch, **options;
  struct compiled compiled;
};

static void job_free(void *argument) {
  struct job *job = argument;
  if (!job) return;
  for (int i = 0; job->options && i < job->request.option_count; i++) free(job->options[i]);
  free(job->options);
  free(job->arch);
  free(job->name);
  free(job->source);
  compiled_free(&job->compiled);
  free(job);
}

static struct job *job_make(const struct nvrtc *nvrtc, const struct compile_request *request) {
  struct job *job = calloc(1, sizeof *job);
  if (!job) return NULL;
  job->nvrtc = *nvrtc;
  job->request.option_count = request->option_count;
  job->options = calloc((size_t)request->option_count + 1, sizeof *job->options);
  job->source = strdup(request->source);
  job->name = strdup(request->name);
  job->arch = strdup(request->arch);
  bool is_whole = job->options && job->source && job->name && job->arch;
  for (int i = 0; i < request->option_count && is_whole; i++)
    is_whole = (job->options[i] = strdup(request->options[i])) != NULL;
  job->request.source = job->source;
  job->request.name = job->name;
  job->request.arch = job->arch;
  job->request.options = (const char *const *)job->options;
  if (is_whole) return job;
  job_free(job);
  return NULL;
}

static halotune_status job_work(void *argument) {
  struct job *job = argument;
  return compile_source(&job->nvrtc, &job->request, &job->compiled);
}

static halotune_status late_fail(const struct nvrtc *nvrtc, const char *name, int limit_ms, struct compiled *out) {
  const double ms_per_s = 1e3;
  const void *function;
  memcpy(&function, &nvrtc->compile, sizeof function);
  limited_call_keep(function);
  if (!(out->log = calloc(1, 1))) return fail_memory();
  return fail(HALOTUNE_COMPILE, "%s: NVRTC did not compile it within %g s; its result is not waited for any longer",
              name, limit_ms / ms_per_s);
}

halotune_status compile_within(const struct nvrtc *nvrtc, const struct compile_request *request, int limit_ms,
                               struct compiled *out) {
  const struct limited_call how = {.work = job_work, .drop = job_free, .limit_ms = limit_ms};
  struct job *job = job_make(nvrtc, request);
  bool is_late;
  *out = (struct compiled){.cubin = NULL};
  if (!job) return fail_memory();
  const halotune_status status = limited_call(&how, job, &is_late);
  if (is_late) return late_fail(nvrtc, request->name, limit_ms, out);
  *out = job->compiled;
  job->compiled = (struct compiled){.cubin = NULL};
  job_free(job);
  return status;
}
