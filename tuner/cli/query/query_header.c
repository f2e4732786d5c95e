/* query_header.c: writes the comment, the machine code, and the functions that load and launch it. */
#include "tuner/cli/query/query_header.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tuner/cli/query/query_header_launch.h"

/* Make a prefix such as star7_f32_512x512x512. The name is that of the stencil's text, which is an identifier. That of
 * a database's row may be any text, and would be code of the program that includes the header. */
static void make_prefix(const struct query *query, char *out, size_t bytes) {
  const halotune_config *c = &query->config;
  const struct stencil *stencil = query->question.parsed->stencil;
  int length = snprintf(out, bytes, "%s_%s", stencil->name, dtype_names[c->dtype]);
  for (int axis = 0; axis < stencil->dims && length < (int)bytes; axis++) {
    length += snprintf(out + length, bytes - (size_t)length, "%c%lld", axis ? 'x' : '_', c->grid[axis]);
  }
}

/* Append words to a comment. Words from a database must not end it, so a blank is put between `*` and `/`, and before
 * a `/` that begins a line, because lines may be joined. */
static void add_words(const struct text *words, struct text *text) {
  for (size_t i = 0; i < words->length; i++) {
    const char *at = words->bytes + i;
    text_add(text, at, 1);
    if (i + 1 == words->length) break;
    if ((at[1] == '/' && strchr("*\n\r", at[0])) || (at[1] == '*' && at[0] == '/')) text_add(text, " ", 1);
  }
}

static void add_comment(const struct query *query, const struct built *built, const char *prefix,
                        const struct query_choice *chosen, struct text *header) {
  const halotune_config *c = &query->config;
  bool maps = header_has_maps(&built->launch);
  struct text bind = {0}, words = {0}, *text = &words;
  if (maps) {
    text_printf(&bind,
                " *   struct %s_fields fields;\n"
                " *   if (result == CUDA_SUCCESS) result = %s_bind(&fields, ...pointers...);\n",
                prefix, prefix);
  }
  text_printf(text, " %s.h: a compiled stencil kernel, written by Halotune %s; do not edit.\n *\n", prefix,
              HALOTUNE_VERSION);
  text_printf(text, " *   stencil     %s %s\n *   device      %s (sm_%d)\n *   match       %s\n", c->stencil,
              c->stencil_hash, query->device->name, query->device->capability, halotune_match_name(c->match));
  if (chosen) {
    text_printf(
        text,
        " *   winner      %s %s\n *               reads through texture objects; this is the best variant that needs none:\n",
        c->template_name, c->parameters);
  }
  text_printf(text, " *   template    %s\n *   parameters  %s\n", chosen ? chosen->template_name : c->template_name,
              chosen ? chosen->parameters : c->parameters);
  if (query->device->is_emulation) {
    text_printf(text, " *   measured    never: the device is emulated on the CPU\n");
  } else if (!chosen && c->match != HALOTUNE_MATCH_DEFAULT) {
    text_printf(text, " *   measured    %.6g ms, ", c->time_ms);
    if (isfinite(c->bandwidth_gbs)) text_printf(text, "%.0f GB/s, ", c->bandwidth_gbs);
    query_add_origin(query, text);
    text_printf(text, "on %s, ", c->measured_on);
    for (int axis = 0; axis < query->question.parsed->stencil->dims; axis++)
      text_printf(text, "%s%lld", axis > 0 ? "x" : "", c->measured_grid[axis]);
    text_printf(text, ", %s\n", c->date);
    if (c->match > HALOTUNE_MATCH_STALE && isfinite(c->expected_ms))
      text_printf(text, " *   expected    %.4g ms\n", c->expected_ms);
  }
  text_printf(
      text,
      " *\n * It needs cuda.h and libcuda alone. In a thread with a current context:\n *\n"
      " *   struct %s kernel;\n *   CUresult result = %s_load(&kernel);\n"
      "%s *   if (result == CUDA_SUCCESS) result = %s_launch(&kernel, stream, %s);\n *   %s_unload(&kernel);\n *\n",
      prefix, prefix, text_string(&bind), prefix, maps ? "&fields" : "...pointers...", prefix);
  header_add_notes(&built->launch, text);
  text_printf(
      text,
      " * Fields are dense, x fastest: %s_ELEMENTS elements each, at multiples of %s_ALIGNMENT bytes. An output is no\n"
      " * input",
      prefix, prefix);
  if (built->steps == 1) header_add_in_place(query->question.parsed->stencil, text);
  text_printf(text, ". A launch advances %d step%s.", built->steps, PLURAL(built->steps));
  text_add(header, "/*", 2);
  if (text_ok(&bind) && text_ok(&words)) add_words(&words, header);
  else header->out_of_memory = true;
  text_printf(header, " */\n");
  text_free(&words);
  text_free(&bind);
}

static void add_cubin(const struct built *built, const char *prefix, struct text *text) {
  const unsigned char *bytes = built->cubin;
  text_printf(text, "\nstatic const unsigned char %s_cubin[%zu] = {", prefix, built->cubin_bytes);
  for (size_t i = 0; i < built->cubin_bytes; i++) text_printf(text, "%s%u,", i % 32 ? "" : "\n", bytes[i]);
  text_printf(text, "\n};\n");
}

/* The workspace must be zero before the first launch. The synchronisation covers launches on every stream. */
static void add_workspace(long words, struct text *text) {
  text_printf(text,
              "  kernel->workspace = 0;\n"
              "  if (result == CUDA_SUCCESS) result = cuMemAlloc(&kernel->workspace, %ldL * 4);\n"
              "  if (result == CUDA_SUCCESS) result = cuMemsetD32Async(kernel->workspace, 0, %ldL, NULL);\n"
              "  if (result == CUDA_SUCCESS) result = cuStreamSynchronize(NULL);\n"
              "  if (result != CUDA_SUCCESS && kernel->workspace) cuMemFree(kernel->workspace);\n",
              words, words);
}

static void add_load(const struct built *built, const char *prefix, struct text *text) {
  enum { UNASKED_SHARED_BYTES = 48 * 1024 };
  long words = (built->launch.workspace_bytes + 3) / 4;
  text_printf(text,
              "\nstruct %s {\n  CUmodule module;\n  CUfunction function;\n%s};\n\n"
              "/* Load it into the current context; after a failure there is nothing to unload. */\n"
              "static inline CUresult %s_load(struct %s *kernel) {\n"
              "  CUresult result = cuModuleLoadData(&kernel->module, %s_cubin);\n"
              "  if (result != CUDA_SUCCESS) return result;\n"
              "  result = cuModuleGetFunction(&kernel->function, kernel->module, \"%s\");\n",
              prefix, words > 0 ? "  CUdeviceptr workspace;\n" : "", prefix, prefix, prefix, built->launch.kernel);
  if (built->launch.shared_bytes > UNASKED_SHARED_BYTES) {
    text_printf(
        text,
        "  if (result == CUDA_SUCCESS) {\n"
        "    result = cuFuncSetAttribute(kernel->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, %ld);\n  }\n",
        built->launch.shared_bytes);
  }
  if (words > 0) add_workspace(words, text);
  text_printf(text,
              "  if (result != CUDA_SUCCESS) cuModuleUnload(kernel->module);\n  return result;\n}\n\n"
              "static inline CUresult %s_unload(struct %s *kernel) {\n%s  return cuModuleUnload(kernel->module);\n}\n",
              prefix, prefix, words > 0 ? "  cuMemFree(kernel->workspace);\n" : "");
}

/* Append the variables that the kernel takes by value. */
static void add_values(const struct query *query, const struct built *built, struct text *text) {
  const struct launch *launch = &built->launch;
  const struct stencil *stencil = query->question.parsed->stencil;
  long numbers[DOMAIN_NUMBERS];
  domain_numbers(&query->question.domain, numbers);
  if (launch->workspace_bytes > 0) text_printf(text, "  CUdeviceptr workspace = kernel->workspace;\n");
  if (launch->literal_extents) {
    text_printf(text, "  char geometry = 0; /* an empty struct: extents are built in */\n");
  } else {
    text_printf(text, "  %s geometry[%d] = {", launch->index_bytes == 4 ? "int" : "long long", DOMAIN_NUMBERS);
    for (int i = 0; i < DOMAIN_NUMBERS; i++) text_printf(text, "%s%ld", i ? ", " : "", numbers[i]);
    text_printf(text, "}; /*");
    for (int i = 0; i < DOMAIN_NUMBERS; i++) text_printf(text, " %s", domain_number_names[i]);
    text_printf(text, " */\n");
  }
  if (!launch->passes_coefficients) return;
  bool single = query->config.dtype == HALOTUNE_F32;
  text_printf(text, "  %s coefficients[%d] = {", single ? "float" : "double", stencil->coefficient_count);
  for (int i = 0; i < stencil->coefficient_count; i++) {
    text_printf(text, "%s%s", i ? ", " : "", single ? "(float)" : "");
    text_number(text, query->coefficients[i]);
  }
  text_printf(text, "}; /*");
  for (int i = 0; i < stencil->coefficient_count; i++) text_printf(text, " %s", stencil->coefficients[i].name);
  text_printf(text, " */\n");
}

/* A text to which names of fields are appended, each after a fixed text. */
struct named_fields {
  struct text *text;
  const char *before;
};

static void add_argument(void *context, int number, const char *name) {
  const struct named_fields *to = context;
  (void)number;
  text_printf(to->text, "&%s%s, ", to->before, name);
}

/* Append the array of the arguments' addresses.
 *   fields  text before the fields' names: "" or "fields->" */
static void add_arguments(const struct stencil *stencil, const struct launch *launch, const char *fields,
                          struct text *text) {
  text_printf(text, "  void *arguments[] = {");
  struct named_fields to = {text, fields};
  header_fields(stencil, launch, add_argument, &to);
  for (int i = 0; i < launch->input_maps.count + launch->output_maps.count; i++)
    text_printf(text, "&%smaps[%d], ", fields, i);
  if (launch->workspace_bytes > 0) text_printf(text, "&workspace, ");
  text_printf(text, "%s%s};\n", launch->literal_extents ? "&geometry" : "geometry",
              launch->passes_coefficients ? ", coefficients" : "");
}

static void add_launch(const struct query *query, const struct built *built, const char *prefix, struct text *text) {
  const struct launch *launch = &built->launch;
  const struct stencil *stencil = query->question.parsed->stencil;
  bool maps = header_has_maps(launch);
  if (maps) {
    text_printf(
        text,
        "\n/* Launch once on a stream. */\n"
        "static inline CUresult %s_launch(const struct %s *kernel, CUstream stream, struct %s_fields *fields) {\n",
        prefix, prefix, prefix);
  } else {
    text_printf(
        text,
        "\n/* Launch once on a stream; CUDA_ERROR_MISALIGNED_ADDRESS for a pointer that the kernel cannot take. */\n"
        "static inline CUresult %s_launch(const struct %s *kernel, CUstream stream",
        prefix, prefix);
    header_add_pointers(stencil, launch, text);
    text_printf(text, ") {\n");
  }
  add_values(query, built, text);
  add_arguments(stencil, launch, maps ? "fields->" : "", text);
  if (!maps) header_add_check(stencil, launch, prefix, text);
  header_add_call(launch, text);
}

/* Append the layout of inputs whose arrays differ from those of the other fields. */
static void add_layouts(const struct query *query, const char *prefix, struct text *text) {
  const struct stencil *stencil = query->question.parsed->stencil;
  for (int i = 0; i < stencil->input_count; i++) {
    const struct input_layout it =
        input_layout_of(stencil, i, (enum dtype)query->config.dtype, &query->question.domain);
    if (input_is_whole(stencil, i)) continue;
    text_printf(text, "/* %s at (x, y, z) is element", stencil->inputs[i]);
    for (int axis = 0, count = 0; axis < MAX_DIMS; axis++) {
      if (it.strides[axis] == 0) continue;
      text_printf(text, "%s%ld*%c", count++ > 0 ? " + " : " ", it.strides[axis], axis_names[axis]);
    }
    text_printf(text, " of %zu byte%s. */\n#define %s_BYTES_%s %ldL\n", it.element_bytes, PLURAL(it.element_bytes),
                prefix, stencil->inputs[i], it.elements * (long)it.element_bytes);
  }
}

void query_header(const struct query *query, const struct built *built, const struct query_choice *chosen,
                  int alignment_bytes, struct text *text) {
  char prefix[256];
  make_prefix(query, prefix, sizeof prefix);
  add_comment(query, built, prefix, chosen, text);
  text_printf(text, "#ifndef HALOTUNE_%s_H\n#define HALOTUNE_%s_H\n\n#include <cuda.h>\n#include <stddef.h>\n%s\n",
              prefix, prefix, header_has_attributes(&built->launch) ? "#include <string.h>\n" : "");
  text_printf(text, "#define %s_ELEMENTS %ldL\n#define %s_ALIGNMENT %d\n", prefix,
              domain_elements(&query->question.domain), prefix, alignment_bytes);
  add_layouts(query, prefix, text);
  add_cubin(built, prefix, text);
  add_load(built, prefix, text);
  if (header_has_maps(&built->launch)) {
    header_add_fields(query, built, prefix, text);
  }
  add_launch(query, built, prefix, text);
  header_add_advance(query->question.parsed->stencil, &built->launch, prefix, text);
  text_printf(text, "\n#endif\n");
}
