/* kernel_launch.c: halotune_kernel_launch. With known pointers, a launch compares them and calls the driver. All
 * other work happens once for each set of pointers, under the kernel's lock. */
#include <stdlib.h>
#include <string.h>

#include "library/kernel/kernel_set.h"

const char *kernel_field_name(const halotune_kernel *kernel, int field) {
  const struct stencil *stencil = kernel->question.parsed->stencil;
  if (field < stencil->input_count) return stencil->inputs[field];
  const int output = field - stencil->input_count;
  return output < stencil->output_count ? stencil->outputs[output] : "carried array";
}

static struct input_layout layout_of(const halotune_kernel *kernel, int field) {
  const struct question *question = &kernel->question;
  const enum dtype dtype = (enum dtype)question->key.dtype;
  if (field >= kernel->input_count) return domain_layout(&question->domain, dtype);
  return input_layout_of(question->parsed->stencil, field, dtype, &question->domain);
}

halotune_status halotune_kernel_field(const halotune_kernel *kernel, int field, halotune_field *out) {
  if (!kernel || !out) return fail(HALOTUNE_ARGUMENT, "halotune_kernel_field: an argument is NULL");
  const halotune_status status = forked_check(kernel->ctx->generation);
  if (status != HALOTUNE_OK) return status;
  if (field < 0 || field >= kernel->pointer_count) {
    return fail(HALOTUNE_ARGUMENT, "halotune_kernel_field: there is no field %d; a launch has %d", field,
                kernel->pointer_count);
  }
  const struct input_layout layout = layout_of(kernel, field);
  *out = (halotune_field){.elements = layout.elements, .element_bytes = (int)layout.element_bytes};
  for (int axis = 0; axis < MAX_DIMS; axis++) out->strides[axis] = layout.strides[axis];
  return HALOTUNE_OK;
}

size_t kernel_element_bytes(const halotune_kernel *kernel, int field) { return layout_of(kernel, field).element_bytes; }

size_t kernel_field_bytes(const halotune_kernel *kernel, int field) {
  const struct input_layout layout = layout_of(kernel, field);
  return (size_t)layout.elements * layout.element_bytes;
}

/* Whether an output may be the same array as an input. The input must be read at the computed point only: either the
 * stencil reads nothing else, or its file allows these two. No other output may keep values of the input. */
static bool may_be_same(const halotune_kernel *kernel, int output, int input) {
  const struct parsed_stencil *parsed = kernel->question.parsed;
  int by;
  if (input >= kernel->input_count || !input_is_whole(parsed->stencil, input)) return false;
  if (stencil_is_kept_by_another(parsed->stencil, input, output, &by)) return false;
  if (parsed->analysis->shape == SHAPE_POINTWISE && parsed->stencil->kind != STENCIL_SCAN) return true;
  return stencil_in_place(parsed->stencil, output) == input;
}

static halotune_status check_pointers(const halotune_kernel *kernel, const void *const pointers[],
                                      struct demands *out) {
  uintptr_t bits = 0;
  *out = (struct demands){.alignment_bytes = 512};
  for (int i = 0; i < kernel->pointer_count; i++) {
    bool is_input = i < kernel->input_count;
    const char *name = kernel_field_name(kernel, i);
    uintptr_t at = (uintptr_t)pointers[i];
    const size_t bytes = kernel_field_bytes(kernel, i), element = kernel_element_bytes(kernel, i);
    if (!at) return fail(HALOTUNE_ARGUMENT, "the pointer of %s is NULL", name);
    if (at % element)
      return fail(HALOTUNE_ARGUMENT, "the pointer of %s is not a multiple of %zu bytes, the size of an element", name,
                  element);
    bits |= at * (kernel_element_bytes(kernel, kernel->input_count) / element); /* a mask has as many, in fewer bytes */
    for (int k = 0; k < i && !is_input; k++) {
      uintptr_t other = (uintptr_t)pointers[k];
      if (at >= other + kernel_field_bytes(kernel, k) || other >= at + bytes) continue;
      if (at != other || !may_be_same(kernel, i - kernel->input_count, k)) {
        return fail(HALOTUNE_ARGUMENT, "the output %s overlaps with %s", name, kernel_field_name(kernel, k));
      }
      out->in_place = true;
    }
  }
  while (bits % (uintptr_t)out->alignment_bytes) out->alignment_bytes /= 2;
  return HALOTUNE_OK;
}

static bool variant_takes(const struct loaded_variant *variant, const struct demands *demands) {
  return demands->alignment_bytes % variant->alignment_bytes == 0 && (!demands->in_place || variant->runs_in_place) &&
         !(demands->no_textures && variant->kernel.plan.passes_textures);
}

/* Find a variant for the demands: the main variant, one that was loaded for other pointers, or a new one. */
static halotune_status find_variant(halotune_kernel *kernel, const struct demands *demands,
                                    struct loaded_variant **out) {
  *out = NULL;
  if (variant_takes(kernel->main, demands)) *out = kernel->main;
  for (struct loaded_variant *variant = kernel->variants; variant && !*out; variant = variant->next) {
    if (variant_takes(variant, demands)) *out = variant;
  }
  if (*out) return HALOTUNE_OK;
  struct question question = kernel->question;
  struct answer answer;
  question_demand(&question, *demands);
  halotune_status status = choose(&question, &answer);
  return status == HALOTUNE_OK ? kernel_add_variant(kernel, &answer, out) : status;
}

static halotune_status settle_variant(halotune_kernel *kernel, const void *const pointers[], bool no_textures,
                                      struct loaded_variant **out) {
  struct demands demands;
  halotune_status status = check_pointers(kernel, pointers, &demands);
  demands.no_textures = no_textures;
  return status == HALOTUNE_OK ? find_variant(kernel, &demands, out) : status;
}

static void copy_pointers(const halotune_kernel *kernel, const void *const pointers[], CUdeviceptr inputs[],
                          CUdeviceptr outputs[]) {
  for (int i = 0; i < kernel->input_count; i++) inputs[i] = (CUdeviceptr)(uintptr_t)pointers[i];
  for (int i = 0; i < kernel->output_count; i++) outputs[i] = (CUdeviceptr)(uintptr_t)pointers[kernel->input_count + i];
}

static bool is_same(const halotune_kernel *kernel, const struct bound_set *set, const void *const inputs[],
                    void *const outputs[]) {
  for (int i = 0; i < kernel->input_count; i++) {
    if (set->pointers[i] != inputs[i]) return false;
  }
  for (int i = 0; i < kernel->output_count; i++) {
    if (set->pointers[kernel->input_count + i] != outputs[i]) return false;
  }
  return true;
}

static halotune_status make_set(halotune_kernel *kernel, const void *const pointers[], struct bound_set *set) {
  CUdeviceptr inputs[MAX_FIELDS], outputs[MAX_FIELDS];
  halotune_status status = settle_variant(kernel, pointers, false, &set->variant);
  if (status != HALOTUNE_OK) return status;
  copy_pointers(kernel, pointers, inputs, outputs);
  memcpy(set->pointers, pointers, (size_t)kernel->pointer_count * sizeof *pointers);
  return kernel_bind(&set->variant->kernel, inputs, outputs, &set->fields);
}

static halotune_status run_bound(struct bound_set *set, CUstream stream) {
  struct kernel *kernel = &set->variant->kernel;
  return kernel_launch_check(kernel, kernel_launch(kernel, &set->fields, stream));
}

static halotune_status run_once(const halotune_kernel *kernel, struct loaded_variant *variant,
                                const void *const pointers[], CUstream stream) {
  CUdeviceptr inputs[MAX_FIELDS], outputs[MAX_FIELDS];
  copy_pointers(kernel, pointers, inputs, outputs);
  return kernel_launch_once(&variant->kernel, inputs, outputs, stream);
}

/* Launch on new pointers. If there is room, the set of pointers is kept. Otherwise it is used once, by a variant
 * without textures, because nobody could free a texture object after the launch. */
static halotune_status launch_new(halotune_kernel *kernel, CUstream stream, const void *const inputs[],
                                  void *const outputs[]) {
  const void *pointers[2 * MAX_FIELDS];
  struct bound_set *set = NULL;
  struct loaded_variant *once = NULL;
  int at = 0;
  memcpy(pointers, inputs, (size_t)kernel->input_count * sizeof *inputs);
  for (int i = 0; i < kernel->output_count; i++) pointers[kernel->input_count + i] = outputs[i];
  pthread_mutex_lock(&kernel->lock);
  for (; at < MOST_BOUND_SETS && (set = atomic_load(&kernel->sets[at])); at++) {
    if (is_same(kernel, set, inputs, outputs)) break; /* another thread has added this set meanwhile */
  }
  halotune_status status = HALOTUNE_OK;
  if (at == MOST_BOUND_SETS) {
    status = settle_variant(kernel, pointers, true, &once);
  } else if (!set) {
    set = calloc(1, sizeof *set);
    status = set ? make_set(kernel, pointers, set) : fail_memory();
    if (status == HALOTUNE_OK) atomic_store_explicit(&kernel->sets[at], set, memory_order_release);
    else free(set);
  }
  pthread_mutex_unlock(&kernel->lock);
  if (status != HALOTUNE_OK) return status;
  return once ? run_once(kernel, once, pointers, stream) : run_bound(set, stream);
}

/* The set of these pointers; NULL if they are new. */
static struct bound_set *find_set(halotune_kernel *kernel, const void *const inputs[], void *const outputs[]) {
  for (int i = 0; i < MOST_BOUND_SETS; i++) {
    struct bound_set *set = atomic_load_explicit(&kernel->sets[i], memory_order_acquire);
    if (!set) break;
    if (is_same(kernel, set, inputs, outputs)) return set;
  }
  return NULL;
}

bool kernel_knows(halotune_kernel *kernel, const void *const inputs[], void *const outputs[]) {
  return find_set(kernel, inputs, outputs) != NULL;
}

halotune_status halotune_kernel_launch(halotune_kernel *kernel, struct CUstream_st *stream, const void *const *inputs,
                                       void *const *outputs) {
  if (!kernel || !inputs || !outputs) return fail(HALOTUNE_ARGUMENT, "halotune_kernel_launch: an argument is NULL");
  const halotune_status status = forked_check(kernel->ctx->generation);
  if (status != HALOTUNE_OK) return status;
  struct bound_set *set = find_set(kernel, inputs, outputs);
  return set ? run_bound(set, stream) : launch_new(kernel, stream, inputs, outputs);
}
