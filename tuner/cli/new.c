/* new.c: `halotune new template NAME`: writes the two files of a small template that works as it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/make.h"
#include "base/memory/array.h"
#include "base/text/text.h"
#include "stencil/expression/parse.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/options/search_path.h"
#include "tuner/cli/output/output.h"

__asm__(".pushsection .rodata\n"
        "new_skeleton_cuda: .incbin \"templates/new/template.cu\"\n"
        ".byte 0\n"
        "new_skeleton_yaml: .incbin \"templates/new/template.yaml\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char new_skeleton_cuda[] __attribute__((visibility("hidden")));
extern const char new_skeleton_yaml[] __attribute__((visibility("hidden")));

static const char placeholder[] = "TEMPLATE_NAME"; /* the placeholder in the skeletons */

/* Append a skeleton with the template's name in place of the placeholder. */
static void skeleton_fill(const char *skeleton, const char *name, struct text *text) {
  for (const char *at; (at = strstr(skeleton, placeholder)); skeleton = at + strlen(placeholder)) {
    text_add(text, skeleton, (size_t)(at - skeleton));
    text_printf(text, "%s", name);
  }
  text_printf(text, "%s", skeleton);
}

/* Refuse a name that exists already in a searched folder, because one of the two templates would hide the other. */
static halotune_status name_check(const char *name, const char *folder) {
  char *path = NULL;
  halotune_status status = search_find(&search_templates, folder, name, &path);
  if (status == HALOTUNE_NOT_FOUND) return HALOTUNE_OK;
  if (status == HALOTUNE_OK) status = fail(HALOTUNE_ARGUMENT, "there is a template '%s' already: %s", name, path);
  free(path);
  return status;
}

/* Write one of the two files; `path` receives its path. */
static halotune_status file_put(const char *folder, const char *name, const char *suffix, const char *skeleton,
                                struct text *path) {
  struct text text = {0};
  text_printf(path, "%s/%s%s", folder, name, suffix);
  skeleton_fill(skeleton, name, &text);
  halotune_status status = text_ok(path) && text_ok(&text) ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK && access(text_string(path), F_OK) == 0)
    status = fail(HALOTUNE_ARGUMENT, "%s exists already and was not changed", text_string(path));
  if (status == HALOTUNE_OK) status = output_file(text_string(path), OUTPUT_FOR_ALL, text.bytes, text.length);
  text_free(&text);
  return status;
}

/* Print the next commands that the user may run. */
static void next_print(const char *name, const char *given, const char *yaml, const char *cuda) {
  struct text option = {0};
  if (given) {
    text_printf(&option, " --template-dir ");
    text_shell_word(&option, given);
  }
  const char *where = text_string(&option);
  printf("wrote %s and %s; to go on:\n", yaml, cuda);
  printf("  halotune space star7 --template %s%s\n", name, where);
  printf("  halotune generate star7 --template %s%s\n", name, where);
  printf("  halotune verify --all --template %s%s\n", name, where);
  text_free(&option);
}

static halotune_status template_new(const char *name, const char *given) {
  const char *folder = given ? given : search_templates.folder, *error = name_error(name, strlen(name));
  struct text yaml = {0}, cuda = {0};
  if (error) return fail(HALOTUNE_ARGUMENT, "'%s' cannot be a template's name: %s", name, error);
  halotune_status status = folder_make_for_all(folder);
  if (status == HALOTUNE_OK) status = name_check(name, given);
  if (status == HALOTUNE_OK) status = file_put(folder, name, ".cu", new_skeleton_cuda, &cuda);
  if (status == HALOTUNE_OK) status = file_put(folder, name, ".yaml", new_skeleton_yaml, &yaml);
  if (status == HALOTUNE_OK) next_print(name, given, text_string(&yaml), text_string(&cuda));
  text_free(&yaml);
  text_free(&cuda);
  return status;
}

static enum exit_code new_run(const struct invocation *invocation) {
  static const char *const kinds[] = {"template"};
  int kind;
  halotune_status status = word_find("new", invocation->arguments[0], kinds, COUNT(kinds), &kind);
  if (status == HALOTUNE_OK) status = template_new(invocation->arguments[1], option_value(invocation, "template-dir"));
  return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(status);
}

static const struct option_row options[] = {
    {"template-dir", "FOLDER", "output folder; ./templates by default"},
    {0},
};

const struct command command_new = {
    "new", "template NAME", 2, 2, "write the two files of a small template that works, as a start", options, new_run,
};
