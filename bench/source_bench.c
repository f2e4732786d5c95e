/* source_bench.c: the time that NVRTC takes for each of some sources. Usage: source_bench ROUNDS FILE.cu ...
 *
 * This process compiles the sources in turn. The processor time of the fastest round counts, because other load can
 * only make a round slower. Each source is also compiled with all that NVRTC declares by itself, as before version 0.2;
 * the two compiles stand side by side, so that other load slows both of them. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/files/file.h"
#include "base/memory/sorted.h"
#include "gpu/compile/compile.h"

enum { MAX_FILES = 64, MAX_ROUNDS = 1000, MAX_SOURCE_BYTES = 1 << 20 };

struct sample {
  const char *file;
  char *source;
  size_t bytes;
  double best_ms, best_full_ms;
  int registers;
};

static double cpu_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Compile a source, and measure the processor time. Without a result, `registers` stays. */
static halotune_status compile_once(const struct nvrtc *nvrtc, const struct compile_request *request, double *time_ms,
                                    int *registers) {
  struct compiled compiled;
  const double start_ms = cpu_ms();
  halotune_status status = compile_source(nvrtc, request, &compiled);
  *time_ms = cpu_ms() - start_ms;
  if (status == HALOTUNE_OK && compiled.report.count > 0) *registers = compiled.report.kernels[0].registers;
  compiled_free(&compiled);
  return status;
}

/* Compile a source as now and in full, in turns first and second.
 *   times  receives the processor times: now, in full */
static halotune_status compile_both(const struct nvrtc *nvrtc, struct sample *sample, bool full_first,
                                    double times[2]) {
  static const char *const no_cache[] = {"--no-cache"}; /* as compile_source does for this version */
  const bool has_own_cache = nvrtc->facts.major > 12 || nvrtc->facts.minor >= 9;
  struct nvrtc older = *nvrtc;
  struct compile_request request = {.source = sample->source, .name = sample->file, .arch = "sm_90"};
  halotune_status status = HALOTUNE_OK;
  older.facts.major = 12;
  older.facts.minor = 0;
  for (int turn = 0; turn < 2 && status == HALOTUNE_OK; turn++) {
    const bool is_full = (turn == 0) == full_first;
    request.options = is_full && has_own_cache ? no_cache : NULL;
    request.option_count = request.options ? 1 : 0;
    status = compile_once(is_full ? &older : nvrtc, &request, &times[is_full], &sample->registers);
  }
  if (sample->best_ms <= 0 || times[0] < sample->best_ms) sample->best_ms = times[0];
  if (sample->best_full_ms <= 0 || times[1] < sample->best_full_ms) sample->best_full_ms = times[1];
  return status;
}

static int count_lines(const char *text) {
  int lines = 0;
  for (; *text; text++) lines += *text == '\n';
  return lines;
}

int main(int argc, char **argv) {
  static double ratios[MAX_ROUNDS]; /* of all sources of a round: now to in full */
  struct sample samples[MAX_FILES] = {0};
  struct nvrtc nvrtc;
  int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0, count = argc - 2;
  if (rounds < 1 || rounds > MAX_ROUNDS || count < 1 || count > MAX_FILES) {
    fprintf(stderr, "usage: source_bench ROUNDS FILE.cu ...\n");
    return 2;
  }
  halotune_status status = nvrtc_open(&nvrtc);
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    samples[i].file = argv[i + 2];
    status = file_read(samples[i].file, MAX_SOURCE_BYTES, &samples[i].source, &samples[i].bytes);
  }
  for (int round = 0; round < rounds && status == HALOTUNE_OK; round++) {
    double sums[2] = {0};
    for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
      double times[2] = {0};
      status = compile_both(&nvrtc, &samples[i], (round + i) % 2, times);
      sums[0] += times[0];
      sums[1] += times[1];
    }
    ratios[round] = sums[0] / sums[1];
  }
  if (status != HALOTUNE_OK) fprintf(stderr, "source_bench: %s\n", fail_text());
  else printf("compile ms  in full ms  lines  registers  source\n");
  for (int i = 0; i < count; i++) {
    const struct sample *s = &samples[i];
    if (status == HALOTUNE_OK) {
      printf("%10.1f  %10.1f  %5d  %9d  %s\n", s->best_ms, s->best_full_ms, count_lines(s->source), s->registers,
             s->file);
    }
    free(s->source);
  }
  qsort(ratios, (size_t)rounds, sizeof *ratios, compare_doubles);
  if (status == HALOTUNE_OK)
    printf("all sources, now to in full: %.3f (median of %d rounds, %.3f to %.3f)\n", ratios[rounds / 2], rounds,
           ratios[0], ratios[rounds - 1]);
  nvrtc_close(&nvrtc);
  return status == HALOTUNE_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
