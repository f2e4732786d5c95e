/* launch.c: launches: they are checked as a driver does, executed by the emulation, and timed by the model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/fake_cuda/fake.h"

/* Read an argument. An eight-byte value that is an address in an allocation is a pointer, a texture's handle is a
 * texture, bytes that were encoded as a tensor map are a tensor map, and anything else is a value. */
static void read_argument(const unsigned char *value, unsigned bytes, struct emulation_argument *host,
                          struct fake_memory **memory) {
  uint64_t word = 0;
  CUdeviceptr array;
  *memory = NULL;
  *host = (struct emulation_argument){.kind = EMULATION_ARGUMENT_BYTES, .bytes = value, .byte_count = bytes};
  if (fake_tensor_find(value, bytes, &array, &host->tensor) && (*memory = fake_memory_find(array)) != NULL) {
    host->kind = EMULATION_ARGUMENT_TENSOR;
    host->buffer = (*memory)->buffer;
    host->offset_bytes = array - (*memory)->begin;
    return;
  }
  if (bytes != sizeof word) return;
  memcpy(&word, value, sizeof word);
  const struct fake_texture *texture = fake_texture_find(word);
  *memory = fake_memory_find(texture ? texture->begin : word);
  if (!*memory) return;
  host->kind = texture ? EMULATION_ARGUMENT_TEXTURE : EMULATION_ARGUMENT_BUFFER;
  host->buffer = (*memory)->buffer;
  host->offset_bytes = (texture ? texture->begin : word) - (*memory)->begin;
  if (texture) host->texture = texture->shape;
}

static void read_arguments(const struct fake_launch *launch, struct fake_arguments *out) {
  const struct fake_kernel *kernel = launch->function->kernel;
  size_t at = 0;
  out->count = kernel->parameter_count;
  for (int i = 0; i < out->count; i++) {
    read_argument(launch->arguments + at, kernel->parameter_bytes[i], &out->host[i], &out->memory[i]);
    at += ((size_t)kernel->parameter_bytes[i] + 7) / 8 * 8;
  }
}

static bool is_pointer(const struct fake_arguments *arguments, int i) {
  return arguments->memory[i] && arguments->host[i].kind == EMULATION_ARGUMENT_BUFFER;
}

/* Find a pointer by its number: 0 is the first one, -1 the last one. Returns -1 if there is none. */
static int find_pointer(const struct fake_arguments *arguments, int number) {
  int count = 0;
  for (int i = 0; i < arguments->count; i++) count += is_pointer(arguments, i);
  const int wanted = number < 0 ? number + count : number;
  for (int i = 0, before = 0; i < arguments->count; i++) {
    if (is_pointer(arguments, i) && before++ == wanted) return i;
  }
  return -1;
}

static bool has_name(const struct fake_launch *launch, const char *begin) {
  return strncmp(launch->function->kernel->name, begin, strlen(begin)) == 0;
}

/* Whether a kernel is one of the tuner's checks of memory, or its reference. Their last pointer gets what was found. */
static bool is_look(const struct fake_launch *launch) {
  return has_name(launch, "check") || has_name(launch, "reference");
}

/* Whether a kernel fills its first pointer, as a copy would. */
static bool is_fill(const struct fake_launch *launch) { return has_name(launch, "fill"); }

/* The error that a GPU would report for an outcome of the emulation. Poison in the outputs stays there, for the caller
 * to find. */
static CUresult result_of(const struct emulation_outcome *outcome) {
  switch (outcome->kind) {
  case EMULATION_OK:
  case EMULATION_UNWRITTEN_SHARED:
  case EMULATION_UNWAITED_COPY:
  case EMULATION_UNDEFINED: return CUDA_SUCCESS;
  case EMULATION_MISALIGNED: return CUDA_ERROR_MISALIGNED_ADDRESS;
  case EMULATION_DIVERGENT_BARRIER:
  case EMULATION_MISSED_BARRIER:
  case EMULATION_BAD_LAUNCH: return CUDA_ERROR_LAUNCH_FAILED;
  case EMULATION_HUNG:
    while (true) pause();
  default: return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
}

static CUresult emulate(const struct fake_launch *launch, const struct fake_arguments *arguments) {
  struct emulation_outcome outcome;
  struct emulation_batch *batch = fake_module_batch(launch->function->module);
  enum emulation_order order =
      fake_number("HALOTUNE_FAKE_BACKWARDS", 0) != 0 ? EMULATION_DESCENDING : EMULATION_ASCENDING;
  if (!batch) return CUDA_ERROR_LAUNCH_FAILED;
  struct emulation_launch how = {.kernel = launch->function->kernel->name,
                                 .shared_bytes = launch->shared_bytes,
                                 .arguments = arguments->host,
                                 .argument_count = arguments->count,
                                 .threads = order,
                                 .blocks = order,
                                 .overlaps = launch->overlaps,
                                 .cooperative = launch->cooperative};
  memcpy(how.grid, launch->grid, sizeof how.grid);
  memcpy(how.block, launch->block, sizeof how.block);
  memcpy(how.cluster, launch->cluster, sizeof how.cluster);
  for (int i = 0; i < arguments->count; i++) {
    if (arguments->memory[i]) content_change(arguments->memory[i], 0, arguments->memory[i]->bytes);
  }
  if (emulation_run(batch, 0, &how, &outcome) != HALOTUNE_OK) {
    fprintf(stderr, "fake driver: %s\n", fail_text());
    return CUDA_ERROR_LAUNCH_FAILED;
  }
  if (outcome.kind != EMULATION_OK) fake_log("kernel %s: %s", how.kernel, outcome.text);
  return result_of(&outcome);
}

static CUresult run_launch(const struct fake_launch *launch, const struct fake_arguments *arguments) {
  struct hash key;
  /* The result of a check must not depend on the one before it, which would also make it a different launch for the
   * memo. */
  int last = find_pointer(arguments, -1);
  if (is_look(launch) && last >= 0) {
    struct fake_memory *answer = arguments->memory[last];
    memset(content_change(answer, 0, answer->bytes), 0, answer->bytes);
    content_fill(answer, 0, answer->bytes, 0);
  }
  if (!memo_key(launch, arguments, &key)) return emulate(launch, arguments);
  if (memo_get(key, arguments)) return CUDA_SUCCESS;
  unsigned char *before = memo_before(arguments);
  CUresult result = emulate(launch, arguments);
  if (result == CUDA_SUCCESS) memo_put(key, arguments, before);
  free(before);
  return result;
}

/* Whether a kernel is the tuner's spin, which only takes time. On a CPU its rounds would take minutes. */
static bool is_spin(const struct fake_launch *launch) {
  const struct fake_kernel *kernel = launch->function->kernel;
  return strcmp(kernel->name, "spin") == 0 && kernel->parameter_count > 0 &&
         kernel->parameter_bytes[0] == sizeof(uint32_t);
}

static double spin_us(const struct fake_launch *launch) {
  static const double round_us = 0.0025; /* four or five clocks */
  uint32_t rounds;
  memcpy(&rounds, launch->arguments, sizeof rounds);
  return rounds * round_us;
}

/* The program keeps the GPU warm for some real time with spins of many blocks, one after the other. Here one of them
 * stands for many: the program sleeps meanwhile, and leaves its core to the compilers. */
static double keep_warm_us(const struct fake_launch *launch) {
  enum { SPINS = 40, SLEEP_NS = 1000000 };
  nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
  return SPINS * spin_us(launch);
}

/* Whether a launch must be executed; see HALOTUNE_FAKE_SKIP. The tuner's own kernels always must. */
static bool is_due(const struct fake_launch *launch, const struct fake_arguments *arguments) {
  static int skips = -1;
  if (skips < 0) skips = fake_number("HALOTUNE_FAKE_SKIP", 0) != 0;
  if (is_spin(launch)) return false;
  if (!skips || is_look(launch) || is_fill(launch)) return true;
  for (int i = 0; i < arguments->count; i++) {
    if (arguments->memory[i] && arguments->memory[i]->is_written) return true;
  }
  return false;
}

static void turn_bit(const struct fake_arguments *arguments, int i, long long offset_bytes, uint32_t bit) {
  if (i < 0) return;
  long long at = (long long)arguments->host[i].offset_bytes + offset_bytes;
  if (at < 0 || at + (long long)sizeof bit > (long long)arguments->memory[i]->bytes) return;
  unsigned char *word = content_change(arguments->memory[i], (size_t)at, sizeof bit);
  uint32_t value;
  memcpy(&value, word, sizeof value);
  value ^= bit;
  memcpy(word, &value, sizeof value);
}

static void damage_memory(const struct fake_launch *launch, const struct fake_arguments *arguments,
                          const struct fake_damage *damage) {
  enum {
    EXPONENT_BIT = 1u << 30,
    LOW_BITS = 0x5a5a
  }; /* EXPONENT_BIT changes a value by orders of magnitude, LOW_BITS makes a different word */
  if (!damage->corrupts && !damage->writes && !damage->writes_input) return;
  bool is_double = strstr(launch->function->module->source, "typedef double real") != NULL;
  if (damage->corrupts)
    turn_bit(arguments, find_pointer(arguments, -1), damage->element * (is_double ? 8 : 4) + (is_double ? 4 : 0),
             EXPONENT_BIT);
  if (damage->writes)
    turn_bit(arguments, find_pointer(arguments, -1 - damage->pointers_after), damage->offset_bytes, LOW_BITS);
  if (damage->writes_input) turn_bit(arguments, find_pointer(arguments, 0), damage->offset_bytes, LOW_BITS);
}

/* The bytes in all allocations to which the kernel has pointers, each counted once. */
static double reachable_bytes(const struct fake_arguments *arguments) {
  double bytes = 0;
  for (int i = 0; i < arguments->count; i++) {
    bool is_new = arguments->memory[i] != NULL;
    for (int k = 0; k < i && is_new; k++) is_new = arguments->memory[k] != arguments->memory[i];
    if (is_new) bytes += (double)arguments->memory[i]->bytes;
  }
  return bytes;
}

CUresult fake_launch_now(const struct fake_launch *launch, bool is_graph, const struct fake_damage *damage) {
  struct fake_arguments arguments;
  read_arguments(launch, &arguments);
  if (is_due(launch, &arguments)) {
    CUresult result = run_launch(launch, &arguments);
    for (int i = 0; i < arguments.count; i++) {
      if (arguments.memory[i]) arguments.memory[i]->is_written = i == 0 && is_fill(launch);
    }
    /* The launch itself has succeeded, but its kernel has not. */
    if (result != CUDA_SUCCESS) fake_sticky = result;
  }
  double time_us;
  if (!is_spin(launch)) time_us = model_time_us(launch->function->module->factor, reachable_bytes(&arguments));
  else time_us = launch->grid[0] > 1 ? keep_warm_us(launch) : spin_us(launch);
  if (damage) {
    damage_memory(launch, &arguments, damage);
    if (damage->stretch > 0) time_us *= damage->stretch;
  }
  model_pass(time_us + model_gap_us(is_graph));
  return CUDA_SUCCESS;
}
