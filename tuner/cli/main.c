/* main.c: parses the command line, prints help, and runs a command. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory/array.h"
#include "base/system/limit.h"
#include "base/system/limited_call.h"
#include "base/text/nearest.h"
#include "db/store/journal_vfs.h"
#include "tuner/cli/help/command_table.h"
#include "tuner/cli/help/examples.h"
#include "tuner/cli/help/option_groups.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/options/output_apart.h"
#include "tuner/cli/output/terminal.h"

static void print_commands(void) {
  for (const struct command *const *command = command_table; *command; command++) {
    const char *group = command_group(*command);
    char left[40];
    if (group) printf("\n%s:\n", group);
    snprintf(left, sizeof left, "%s%s%s", (*command)->name, *(*command)->arguments ? " " : "", (*command)->arguments);
    printf("  %-21s  %s\n", left, (*command)->what);
  }
}

static void print_help(void) {
  printf("halotune %s: find the fastest stencil kernels for an NVIDIA GPU\n\nusage: halotune COMMAND ...\n\n",
         HALOTUNE_VERSION);
  for (const struct example *example = examples_of(""); example->line; example++)
    printf("  %-31s  %s\n", example->line, example->what);
  print_commands();
  printf(
      "\nhalotune COMMAND --help, or halotune help COMMAND, shows the options of a command. halotune --version shows the"
      " version.\n\n"
      "A STENCIL is the path of a file, or a name that is looked for in ./kernels, in the folders of $HALOTUNE_PATH"
      " (separated by colons), and in the installed data folder. Templates are looked for likewise, in ./templates, in"
      " the folders of $HALOTUNE_TEMPLATE_PATH, and among the installed ones.\n\nExit codes:\n");
#define AS_LINE(name, number, text) printf("  %d  %s\n", number, text);
  EXIT_LIST(AS_LINE)
#undef AS_LINE
}

static void print_option(const struct option_group *group, const struct option_row *option) {
  char left[40];
  const char *letter = strcmp(option->name, "output") == 0 ? "-o, " : "";
  snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
           option->argument ? option->argument : "");
  printf("  %-22s  %s\n", left, option_what(group, option));
}

static void print_command_help(const struct command *command) {
  struct option_group groups[MOST_OPTION_GROUPS];
  const int count = option_groups(command, groups);
  printf("usage: halotune %s%s%s%s\n\n%s\n\n", command->name, *command->arguments ? " " : "", command->arguments,
         command->options[0].name ? " [OPTION ...]" : "", command->what);
  for (const struct example *example = examples_of(command->name); example->line; example++)
    printf("  %s\n      %s\n", example->line, example->what);
  for (int i = 0; i < count; i++) {
    printf("\n%s:\n", groups[i].heading);
    for (int j = 0; j < groups[i].count; j++) print_option(&groups[i], groups[i].rows[j]);
  }
}

static enum exit_code usage_error(const struct command *command) {
  fprintf(stderr, "halotune: see 'halotune %s%s--help'\n", command ? command->name : "", command ? " " : "");
  return HALOTUNE_EXIT_USAGE;
}

/* Add to getopt's message about an unknown option: ask whether the nearest one was meant. */
static enum exit_code option_error(const struct command *command, const char *typed) {
  struct nearest nearest = nearest_to(typed, strcspn(typed, "="));
  char known[NEAREST_NAME_BYTES];
  for (const struct option_row *option = command->options; option->name; option++) {
    snprintf(known, sizeof known, "--%s", option->name);
    if (strncmp(known, typed, nearest.length) == 0)
      return usage_error(command); /* getopt has printed that several options begin like this */
    nearest_try(&nearest, known);
  }
  fprintf(stderr, "halotune: see 'halotune %s --help'%s\n", command->name, nearest.question);
  return HALOTUNE_EXIT_USAGE;
}

/* The position of an option in the command's table, from 1; 0 for an unknown option. */
static int find_option(const struct command *command, const char *name) {
  for (int i = 0; command->options[i].name; i++) {
    if (strcmp(command->options[i].name, name) == 0) return i + 1;
  }
  return 0;
}

/* Other spellings of options, which help does not show. */
static const struct { const char *name, *other; } spellings[] = {{"template", "templates"}, {"dtype", "type"}};

enum { OPTION_HELP = MAX_OPTIONS + 1, OPTION_COLOR }; /* after the numbers of the command's options */

/* Read --color. Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
static halotune_status read_color(const char *when) {
  int choice = COLOR_AUTO;
  halotune_status status = word_find("--color", when, terminal_color_names, TERMINAL_COLORS, &choice);
  if (status == HALOTUNE_OK) terminal_color((enum terminal_color)choice);
  return status;
}

enum { MOST_SPELLINGS = MAX_OPTIONS + COUNT(spellings) + 3 };

/* Fill getopt's table: the command's options, their other spellings, and the options of every command. */
static void options_fill(const struct command *command, struct option options[MOST_SPELLINGS]) {
  int count = 0;
  for (; count < MAX_OPTIONS && command->options[count].name; count++) {
    options[count].name = command->options[count].name;
    options[count].has_arg = command->options[count].argument ? required_argument : no_argument;
    options[count].val = count + 1;
  }
  for (size_t i = 0; i < COUNT(spellings); i++) {
    const int at = find_option(command, spellings[i].name);
    if (at == 0) continue;
    options[count] = options[at - 1];
    options[count++].name = spellings[i].other;
  }
  options[count++] = (struct option){"help", no_argument, NULL, OPTION_HELP};
  options[count] = (struct option){"color", required_argument, NULL, OPTION_COLOR};
}

/* Read a command's options and run it. argv[0] is the command's name. */
static enum exit_code run_command(const struct command *command, int argc, char **argv) {
  struct invocation invocation = {.command = command};
  struct option options[MOST_SPELLINGS] = {{0}};
  options_fill(command, options);
  opterr = 1;
  for (int value; (value = getopt_long(argc, argv, "ho:", options, NULL)) != -1;) {
    if (value == OPTION_HELP || value == 'h') {
      print_command_help(command);
      return HALOTUNE_EXIT_SUCCESS;
    }
    if (value == '?') /* optopt is 0 for an unknown option */
      return optopt ? usage_error(command) : option_error(command, argv[optind - 1]);
    if (value == 'o' && (value = find_option(command, "output")) == 0) {
      fprintf(stderr, "halotune %s: there is no option -o\n", command->name);
      return usage_error(command);
    }
    if (value == OPTION_COLOR) {
      if (read_color(optarg) != HALOTUNE_OK) return report_failure(HALOTUNE_ARGUMENT);
      continue;
    }
    const char **kept = &invocation.values[value - 1];
    if (*kept && optarg) { /* a switch may be given twice */
      const struct option_row *row = &command->options[value - 1];
      fprintf(stderr, "halotune %s: --%s is given twice, as '%s' and '%s'; give it once", command->name, row->name,
              *kept, optarg);
      if (row->argument && strstr(row->argument, ",...")) fprintf(stderr, ": --%s %s,%s", row->name, *kept, optarg);
      fputc('\n', stderr);
      return usage_error(command);
    }
    *kept = optarg ? optarg : "";
  }
  invocation.arguments = argv + optind;
  invocation.argument_count = argc - optind;
  if (invocation.argument_count < command->least_arguments || invocation.argument_count > command->most_arguments) {
    if (invocation.argument_count > command->most_arguments) {
      fprintf(stderr, "halotune %s: '%s' is one argument too many%s\n", command->name,
              invocation.arguments[command->most_arguments],
              command->most_arguments > 0 ? "; the parts of an option's value are joined with commas" : "");
    } else {
      fprintf(stderr, "halotune %s: expected %s%s: %s\n", command->name, command->most_arguments == 1 ? "one " : "",
              command->arguments, command->what);
    }
    return usage_error(command);
  }
  if (option_given(&invocation, "long")) terminal_show_all();
  if (limit_check_named("HALOTUNE_PIPE_TIMEOUT") != HALOTUNE_OK ||
      limit_check_named("HALOTUNE_MPI_TIMEOUT") != HALOTUNE_OK)
    return report_failure(HALOTUNE_ARGUMENT);
  const halotune_status status = output_check_apart(&invocation);
  return status == HALOTUNE_OK ? command->run(&invocation) : report_failure(status);
}

/* Find the command with this name. For an unknown name it prints a message and returns NULL. */
static const struct command *command_or_message(const char *name) {
  const struct command *found = command_find(name);
  if (found) return found;
  struct nearest nearest = nearest_to(name, strlen(name));
  for (const struct command *const *command = command_table; *command; command++) {
    nearest_try(&nearest, (*command)->name);
  }
  nearest_try(&nearest, "help");
  fprintf(stderr, "halotune: there is no command '%s'%s\n", name, nearest.question);
  return NULL;
}

/* The variables that hold paths, and those of which messages quote the value. */
static const char *const quoted_variables[] = {"CUDA_HOME",
                                               "CUDA_PATH",
                                               "HALOTUNE_CXX",
                                               "HALOTUNE_DB",
                                               "HALOTUNE_LIBCUDA",
                                               "HALOTUNE_LIBNVML",
                                               "HALOTUNE_MPI",
                                               "HALOTUNE_MPI_TIMEOUT",
                                               "HALOTUNE_NVRTC",
                                               "HALOTUNE_PATH",
                                               "HALOTUNE_PIPE_TIMEOUT",
                                               "HALOTUNE_PROGRAM",
                                               "HALOTUNE_SEARCH",
                                               "HALOTUNE_TEMPLATE_PATH",
                                               "HOME",
                                               "TMPDIR",
                                               "XDG_CACHE_HOME",
                                               "XDG_DATA_HOME"};

/* Refuse an argument or a path of several lines. The name of such a file could look like a message of its own. */
static bool are_lines_whole(int argc, char **argv) {
  for (size_t i = 0; i < COUNT(quoted_variables); i++) {
    const char *value = getenv(quoted_variables[i]);
    if (!value || !strpbrk(value, "\n\r")) continue;
    fprintf(stderr, "halotune: the variable %s holds the end of a line; write it on one line\n", quoted_variables[i]);
    return false;
  }
  for (int i = 1; i < argc; i++) {
    if (!strpbrk(argv[i], "\n\r")) continue;
    fprintf(stderr,
            "halotune: argument %d holds the end of a line; rename the file, or write the argument on one line\n", i);
    return false;
  }
  return true;
}

static enum exit_code run_arguments(int argc, char **argv) {
  static char program[] = "halotune";
  if (argc < 2) {
    print_help();
    return HALOTUNE_EXIT_SUCCESS;
  }
  if (!are_lines_whole(argc, argv)) return HALOTUNE_EXIT_USAGE;
  bool is_help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0;
  if (is_help && argc == 2) {
    print_help();
    return HALOTUNE_EXIT_SUCCESS;
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("halotune %s\n", HALOTUNE_VERSION);
    return HALOTUNE_EXIT_SUCCESS;
  }
  const struct command *command = command_or_message(argv[is_help ? 2 : 1]);
  if (!command) return usage_error(NULL);
  if (is_help) {
    print_command_help(command); /* 'help db merge' prints the help of all of `db` */
    return HALOTUNE_EXIT_SUCCESS;
  }
  argv[1] = program; /* getopt begins its messages with it */
  return run_command(command, argc - 1, argv + 1);
}

/* Commands print without checking whether stdout can be written. This is the only place that checks it. A thread that
 * was given up may still be inside NVRTC or the driver. exit() would unload them while it uses them. */
/* Let descriptors 0 to 2 be open, so that no socket and no file of the program gets one of these numbers. What is
 * written to a closed stdout or stderr still fails. */
static void open_standard_files(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)open("/dev/null", O_RDONLY);
  }
}

int main(int argc, char **argv) {
  open_standard_files();
  signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of file sizes (ulimit -f) fails, as on a full disk */
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* keeps lines whole if stdout and stderr go to one file */
  journal_vfs_open_soon();
  terminal_open();
  enum exit_code code = run_arguments(argc, argv);
  terminal_close();
  if (fflush(stdout) != 0 || ferror(stdout)) {
    perror("halotune: standard output");
    code = HALOTUNE_EXIT_FAILURE;
  }
  if (limited_call_is_left()) _exit(code);
  return code;
}
