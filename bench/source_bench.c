/* source_bench.c: the time that NVRTC takes for each of some sources. Usage: source_bench ROUNDS FILE.cu ...
 *
 * This process compiles the sources in turn. The processor time of the fastest round counts, because other load can
 * only make a round slower. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/files/file.h"
#include "gpu/compile/compile.h"

enum { MAX_FILES = 64, MAX_SOURCE_BYTES = 1 << 20 };

struct sample {
  const char *file;
  char *source;
  size_t bytes;
  double best_ms;
  int registers;
};

static double cpu_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static halotune_status compile_once(const struct nvrtc *nvrtc, struct sample *sample) {
  const struct compile_request request = {.source = sample->source, .name = sample->file, .arch = "sm_90"};
  struct compiled compiled;
  double start_ms = cpu_ms();
  halotune_status status = compile_source(nvrtc, &request, &compiled);
  double time_ms = cpu_ms() - start_ms;
  if (sample->best_ms <= 0 || time_ms < sample->best_ms) sample->best_ms = time_ms;
  if (status == HALOTUNE_OK && compiled.report.count > 0) sample->registers = compiled.report.kernels[0].registers;
  compiled_free(&compiled);
  return status;
}

static int count_lines(const char *text) {
  int lines = 0;
  for (; *text; text++) lines += *text == '\n';
  return lines;
}

int main(int argc, char **argv) {
  struct sample samples[MAX_FILES] = {0};
  struct nvrtc nvrtc;
  int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0, count = argc - 2;
  if (rounds < 1 || count < 1 || count > MAX_FILES) {
    fprintf(stderr, "usage: source_bench ROUNDS FILE.cu ...\n");
    return 2;
  }
  halotune_status status = nvrtc_open(&nvrtc);
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    samples[i].file = argv[i + 2];
    status = file_read(samples[i].file, MAX_SOURCE_BYTES, &samples[i].source, &samples[i].bytes);
  }
  for (int round = 0; round < rounds && status == HALOTUNE_OK; round++) {
    for (int i = 0; i < count && status == HALOTUNE_OK; i++) status = compile_once(&nvrtc, &samples[i]);
  }
  if (status != HALOTUNE_OK) fprintf(stderr, "source_bench: %s\n", fail_text());
  else printf("compile ms  lines  registers  source\n");
  for (int i = 0; i < count; i++) {
    const struct sample *s = &samples[i];
    if (status == HALOTUNE_OK) {
      printf("%10.1f  %5d  %9d  %s\n", s->best_ms, count_lines(s->source), s->registers, s->file);
    }
    free(s->source);
  }
  nvrtc_close(&nvrtc);
  return status == HALOTUNE_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
