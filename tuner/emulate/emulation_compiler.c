/* emulation_compiler.c: finds g++ or clang++, and writes their command lines. */
#include "tuner/emulate/emulation_compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/path.h"
#include "base/memory/array.h"
#include "tuner/emulate/emulation_files.h"

/* The arithmetic is that of the source: no contraction, no errno. -nodefaultlibs: the runner provides what a variant
 * needs. -Werror=undef: an unknown name after #if counts as 0, so that a misspelt word of a parameter would take a
 * branch silently. (-w would switch this error off.) */
static const char *const variant_flags[] = {"-x",
                                            "c++",
                                            "-std=c++17",
                                            "-O1",
                                            "-Werror=undef",
                                            "-pipe",
                                            "-fPIC",
                                            "-shared",
                                            "-fno-exceptions",
                                            "-fno-rtti",
                                            "-fno-math-errno",
                                            "-fno-strict-aliasing",
                                            "-ffp-contract=off",
                                            "-fvisibility=hidden",
                                            "-fno-asynchronous-unwind-tables",
                                            "-fno-stack-protector",
                                            "-nostartfiles",
                                            "-nodefaultlibs"};
/* Like nvcc, -O2 unrolls loops and merges equal loads. Passes that duplicate code or add loads are off: they would
 * spread the lanes of a warp over several instructions. */
static const char *const counting_flags[] = {"-O2",
                                             "-fsanitize=thread",
                                             "-DEMULATION_COUNTS",
                                             "-fno-thread-jumps",
                                             "-fno-tree-pre",
                                             "-fno-code-hoisting",
                                             "-fno-tree-loop-vectorize",
                                             "-fno-tree-slp-vectorize",
                                             "-fno-store-merging",
                                             "-fno-tree-tail-merge",
                                             "-fno-split-paths",
                                             "-fno-ipa-cp",
                                             "-fno-partial-inlining",
                                             "-fno-crossjumping",
                                             "-fno-reorder-blocks-and-partition"};
static const char *const runner_flags[] = {"-std=gnu11", "-D_GNU_SOURCE", "-O2", "-w", "-pipe", "-rdynamic"};
static const char *const runner_libraries[] = {
    "-Wl,--no-as-needed,-lm,-ldl,--as-needed"}; /* g++ would move a plain -lm */
static const char *const sanitizer_flags[] = {"-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                                              "-fno-omit-frame-pointer", "-g1", "-DEMULATION_ASAN"};

/* Whether the program at a path is g++, by its name. */
static bool is_named_gcc(const char *path) {
  const char *name = path_name(path);
  return strstr(name, "g++") && !strstr(name, "clang");
}

/* Hash path, size and modification time, which an update of the compiler changes. Find out which compiler it is. */
static halotune_status hash_identity(struct emulation_compiler *compiler) {
  struct text text = {0};
  struct stat facts;
  char *real = realpath(compiler->path, NULL);
  if (!real || stat(real, &facts) != 0) {
    free(real);
    return fail(HALOTUNE_NOT_FOUND, "the C++ compiler %s cannot be read", compiler->path);
  }
  compiler->is_gcc = is_named_gcc(real) || (is_named_gcc(compiler->path) && !strstr(real, "clang"));
  text_printf(&text, "%s %lld %lld.%09ld", real, (long long)facts.st_size, (long long)facts.st_mtim.tv_sec,
              facts.st_mtim.tv_nsec);
  free(real);
  halotune_status status = text_ok(&text) ? HALOTUNE_OK : fail_memory();
  compiler->identity = hash_bytes(text_string(&text), text.length);
  text_free(&text);
  return status;
}

halotune_status emulation_compiler_open(const char *name, bool sanitize, bool counts, struct emulation_compiler *out) {
  static const char *const usual[] = {"g++", "clang++", "c++"};
  *out = (struct emulation_compiler){.sanitize = sanitize, .counts = counts};
  if (!name) name = getenv("HALOTUNE_CXX");
  if (name && *name) {
    out->path = path_of_program(name);
    if (!out->path) return fail(HALOTUNE_NOT_FOUND, "%s: there is no such C++ compiler", name);
  }
  for (size_t i = 0; i < COUNT(usual) && !out->path; i++) out->path = path_of_program(usual[i]);
  if (!out->path) {
    return fail(HALOTUNE_NOT_FOUND, "the host backend needs a C++ compiler: install g++ or clang, or set HALOTUNE_CXX");
  }
  return hash_identity(out);
}

void emulation_compiler_close(struct emulation_compiler *compiler) {
  free(compiler->path);
  *compiler = (struct emulation_compiler){0};
}

struct command {
  const char *words[64 + 3 * EMULATION_FILES_MOST_SOURCES]; /* NULL at the end: all words are zero before use */
  int count;
};

static void add_word(struct command *command, const char *word) { command->words[command->count++] = word; }

static void add_all(struct command *command, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++) add_word(command, words[i]);
}

static void add_flags(struct command *command, const struct emulation_compiler *compiler,
                      enum emulation_product product) {
  if (product == EMULATION_RUNNER) add_all(command, runner_flags, COUNT(runner_flags));
  else add_all(command, variant_flags, COUNT(variant_flags));
  if (product == EMULATION_VARIANT && compiler->counts) add_all(command, counting_flags, COUNT(counting_flags));
  if (compiler->sanitize) add_all(command, sanitizer_flags, COUNT(sanitizer_flags));
}

struct hash emulation_compiler_hash(const struct emulation_compiler *compiler, enum emulation_product product) {
  struct text text = {0};
  struct command command = {0};
  text_add(&text, (const char *)&compiler->identity, sizeof compiler->identity);
  add_flags(&command, compiler, product);
  if (product == EMULATION_RUNNER) add_all(&command, runner_libraries, COUNT(runner_libraries));
  for (int i = 0; i < command.count; i++) text_printf(&text, " %s", command.words[i]);
  struct hash hash = hash_bytes(text_string(&text), text.length);
  text_free(&text);
  return hash;
}

/* Append "FOLDER/NAME"; `paths` owns the text. */
static bool add_path(struct command *command, char **paths, int *path_count, const char *folder, const char *name) {
  if (asprintf(&paths[*path_count], "%s/%s", folder, name) < 0) return false;
  add_word(command, paths[(*path_count)++]);
  return true;
}

/* Runs the command that follows the name of a folder there, with messages in English. */
static const char *const in_folder[] = {"/bin/sh", "-c", "cd \"$0\" && export LC_ALL=C && exec \"$@\""};

bool emulation_compiler_blames_source(const char *log) {
  static const char word[] = ": error: ";
  for (const char *at = log; (at = strstr(at, word)); at++) {
    const char *line = at; /* the digits of "FILE:LINE: error: ", unlike those of "clang-14: error: " */
    while (line > log && line[-1] >= '0' && line[-1] <= '9') line--;
    if (line < at && line > log && line[-1] == ':') return true;
  }
  return false;
}

halotune_status emulation_compiler_run(const struct emulation_compiler *compiler, enum emulation_product product,
                                       const char *files, const struct text *source, const char *output,
                                       const char *temporary, int folder, int timeout_ms, const struct ending *ending,
                                       struct text *log, struct process_result *out) {
  static const struct text nothing = {0};
  struct command command = {0};
  char *paths[EMULATION_FILES_MOST_SOURCES] = {0}, *variable;
  int path_count = 0;
  bool ok = true;
  /* Empty parts of CPATH, COMPILER_PATH and the like mean the working directory, which may hold files of others. */
  add_all(&command, in_folder, COUNT(in_folder));
  add_word(&command, temporary);
  add_word(&command, compiler->path);
  add_flags(&command, compiler, product);
  add_word(&command, "-I");
  add_word(&command, files);
  add_word(&command, "-o");
  add_word(&command, output);
  if (product == EMULATION_VARIANT) {
    add_word(&command, "-include");
    ok = add_path(&command, paths, &path_count, files, EMULATION_FILES_HEADER);
    /* g++ would look for the line in a file of the source's name, which can be any file of the working directory */
    if (compiler->is_gcc) add_word(&command, "-fno-diagnostics-show-caret");
    add_word(&command, "-");
  }
  for (int i = 0; product == EMULATION_RUNNER && emulation_files_runner[i] && ok; i++) {
    add_word(&command, "-x"); /* before each file, because g++ takes every other file for C++ */
    add_word(&command, "c");
    ok = add_path(&command, paths, &path_count, files, emulation_files_runner[i]);
  }
  if (product == EMULATION_RUNNER) add_all(&command, runner_libraries, COUNT(runner_libraries));
  if (asprintf(&variable, "TMPDIR=%s", temporary) < 0) variable = NULL;
  halotune_status status = fail_memory();
  const struct text *input = product == EMULATION_VARIANT ? source : &nothing;
  if (ok && variable) status = process_run(command.words, variable, input, folder, timeout_ms, ending, log, out);
  while (path_count > 0) free(paths[--path_count]);
  free(variable);
  return status;
}
