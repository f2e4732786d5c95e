/* template.h: a kernel template: CUDA source, and the YAML file that declares its parameters, rules and launch
 * geometry. docs/templates.md describes both for users; template_read.h reads them. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_H
#define STENCIL_TEMPLATE_TEMPLATE_H

#include "base/text/nearest.h"
#include "stencil/expression/source.h"
#include "stencil/template/facts.h"

enum {
  MAX_PARAMETERS = 32,
  MAX_VALUES = 256,
  MAX_RULES = 97,
  MAX_STARTS = 8,
  MAX_SHARED_ACCESSES = 4,
  LAUNCH_MOST_STEPS = 4096
};

/* A parameter has a list of values. Values are numbers or words; a word counts as 0, 1, 2 ... in rules. */
struct parameter {
  const char *name, *about;
  const char *words[MAX_VALUES]; /* the values as the file spells them, numbers too */
  double values[MAX_VALUES];
  int value_count, default_value; /* default_value: position in `values` */
  bool is_word, is_common;        /* is_common: common.yml declares it */
  int needs;                      /* a fact; where it is 0, all values mean the same as the default. -1: none */
};

_Static_assert(MAX_VALUES <= 256, "a choice is a byte");

/* One value for each parameter, as its position in the parameter's list. */
struct configuration {
  unsigned char choice[MAX_PARAMETERS];
};

/* Where a rule comes from: the template's file; common.yml, because the file names it; or common.yml, for every
 * template. */
enum rule_origin { RULE_OWN, RULE_COMMON, RULE_ALWAYS };

/* A condition on stencil, device and parameters. A configuration is left out if its value is 0 or not a finite
 * number. */
struct rule {
  struct formula keep;
  const char *text, *otherwise; /* the condition as written; the reason why a configuration is left out */
  int last_parameter;           /* the last parameter that it names; -1 if it names only facts */
  enum rule_origin origin;
};

/* One kind of access to shared memory that all threads of a block do at once. */
struct shared_access {
  struct formula stride[MAX_DIMS]; /* elements between the addresses of threads that are neighbours in x, y and z */
  /* neighbouring elements that a thread touches at once; 0 means that there is no such access */
  struct formula elements;
};

/* A formula that the file may omit. */
struct optional_formula {
  bool is_given;
  struct formula formula;
  double otherwise; /* its value where it is omitted */
};

/* A template's formulas about its accesses. access.h computes figures from it. */
struct access_formulas {
  struct formula loads_per_point, over_read;
  struct optional_formula computing_share, work;
  struct shared_access shared[MAX_SHARED_ACCESSES];
  int shared_count;
};

/* A template's formulas about its kernel's tensor maps of inputs or of outputs; see launch.h. */
struct map_formulas {
  bool is_given;
  struct optional_formula when; /* 0 for configurations whose kernel takes no maps */
  struct formula box[MAX_DIMS];
  struct optional_formula promotion_bytes;
};

/* Owns all that it points to; end with template_free. */
struct template {
  const char *name, *about;
  char *yaml, *cuda;    /* the texts of both files, NUL-terminated */
  struct identity hash; /* identity of the meaning of both files, without comments and layout; see template_hash.h */
  /* the parts of `hash`: that of the two files, and that of the parts of common.yml and common.cuh that they use */
  struct identity own_hash, common_hash;
  struct identity old_own_hash; /* own_hash as databases up to version 9 have it: without taken_hash */
  struct identity taken_hash;   /* what the file takes from common.yml, as it is written there */
  bool takes_any;               /* false: it takes nothing, and taken_hash has no value */
  struct parameter parameters[MAX_PARAMETERS];
  int parameter_count;
  struct configuration starts[MAX_STARTS]; /* its author expects them to be fast; a search tries them first */
  int start_count;
  /* the file's rules, then common ones, and possibly the one of template_sums_read */
  struct rule rules[MAX_RULES];
  int rule_count;
  struct formula block[MAX_DIMS], grid[MAX_DIMS]; /* launch geometry in x, y, z */
  struct formula shared_bytes;                    /* dynamic shared memory of a block */
  struct map_formulas input_maps, output_maps;
  struct optional_formula cluster[MAX_DIMS]; /* blocks of a cluster in x, y, z */
  struct optional_formula overlap;           /* not 0: programmatic dependent launch */
  struct optional_formula unsteady;          /* not 0: times of small launches jump from grid to grid */
  struct optional_formula cooperative;       /* not 0: all blocks run at the same time */
  struct optional_formula workspace_bytes;   /* global memory that keeps its contents between launches */
  /* addresses of fields must be multiples of it; common.yml gives it where the file omits it */
  struct optional_formula alignment_bytes;
  struct optional_formula steps;    /* time steps of a launch; it names no fact */
  struct formula pointer_alignment; /* the alignment for textures and tensor maps */
  bool has_access;
  struct access_formulas access;
  struct exprs exprs;
  int variable_count; /* facts, then parameters, then words */
  double *word_values;
  int word_count;
  struct arena arena;
};

/* The device code that a template's CUDA text shares with other templates: templates/common.cuh, which is built in,
 * where it includes that file; else an empty text. */
const char *template_common_cuda(const char *cuda);

/* The identity of a template, made of its parts: own_hash and common_hash. A database keeps common_hash, so that the
 * name of a template can be checked by a program with another common.yml. */
struct identity template_identity(struct identity own, struct identity common);

/* The configuration of the default values. */
struct configuration configuration_default(const struct template *template);

/* Give the default to each parameter whose values all mean the same for these facts: a configuration that was measured
 * with another stencil may have another value, which the rules keep out. */
void configuration_settle(const struct template *template, const double facts[FACT_COUNT],
                          struct configuration *configuration);

/* Find a parameter, given by the first `length` bytes of its name. Returns its position, or -1 for an unknown name. */
int template_parameter(const struct template *template, const char *name, size_t length);

/* Find a value by its spelling in the file. Returns its position in `values`, or -1. */
int parameter_value_at(const struct parameter *parameter, const char *spelled);

/* Compare an unknown name with the names of all parameters, to suggest the nearest one. */
void template_try_parameters(const struct template *template, struct nearest *nearest);

/* The time steps that a launch of this configuration makes, at least 1.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT if the formula gives no whole number from 1 to LAUNCH_MOST_STEPS;
 * HALOTUNE_MEMORY. */
halotune_status configuration_steps(const struct template *template, const struct configuration *configuration,
                                    int *steps);

/* Read "name=value" into a configuration. Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT for an unknown name and for a value
 * that is not in the list. */
halotune_status configuration_set(const struct template *template, const char *assignment,
                                  struct configuration *configuration);

/* Counts of configurations are capped here. Doubles are exact up to this number, and sums over many templates do not
 * overflow. */
#define SPACE_MOST (1L << 53)

/* Rules can leave so few of so many combinations that a walk practically never finds them. Each walk, count, sample
 * and search of space.h ends after this many values without a configuration (counts: in all), or when the limit of the
 * bindings says so. So many values take seconds. */
#define SPACE_MOST_STEPS (1L << 24)

/* Called for each kept configuration, in order: the last parameter changes fastest. Return false to end the walk. */
typedef bool space_visit(void *context, const struct configuration *configuration);

/* How a walk through the space ended; see stencil/template/space.h. */
enum walk_end { WALK_WHOLE, WALK_ENDLESS, WALK_STOPPED };
struct walk_limit {
  bool (*is_over)(const void *context); /* asked from time to time, by any thread; NULL: nobody ends walks */
  const void *context;
  long most_steps; /* 0: SPACE_MOST_STEPS */
  long steps_left; /* steps left in the current walk until it finds a configuration */
  enum walk_end end;
};

/* How many configurations each part of the space has (stencil/template/walk.h), where values are in these ranges. */
struct part_sizes {
  bool is_known;
  int first[MAX_PARAMETERS], end[MAX_PARAMETERS];
  long sizes[MAX_PARAMETERS];
};

/* The verdicts of a rule for each choice of the parameters that it names. */
struct rule_memory {
  int count; /* of these parameters */
  unsigned char parameters[MAX_PARAMETERS];
  uint32_t strides[MAX_PARAMETERS];
  unsigned char *verdicts; /* 0: not yet known; 1: it removes; 2: it keeps. NULL: there are too many choices */
};

/* The values of all variables in a template's formulas. Start with bindings_make, end with bindings_free. Each thread
 * needs its own. */
struct bindings {
  const struct template *template;
  double *variables; /* facts, parameters, words */
  double *scratch;   /* holds the values of nodes during an evaluation */
  unsigned char choice[MAX_PARAMETERS];
  struct rule_memory *memory; /* one for each rule; NULL: rules are evaluated each time */
  struct walk_limit limit;
  struct part_sizes counted; /* sizes from the last count, so a sample need not count again */
};

halotune_status bindings_make(const struct template *template, const double facts[FACT_COUNT], struct bindings *out);
void bindings_free(struct bindings *bindings);

/* From now on, evaluate each rule at most once for each choice of the parameters that it names. A walk through a large
 * space then takes a fraction of the time. The facts must not change afterwards. If memory is out, rules are evaluated
 * each time. A second call does nothing. */
void bindings_remember(struct bindings *bindings);

/* Set one parameter, or all parameters, to their chosen values. */
void bindings_choose(struct bindings *bindings, int parameter, int choice);
void bindings_configure(struct bindings *bindings, const struct configuration *configuration);

/* Evaluate a formula of the template. */
double bindings_value(const struct bindings *bindings, struct formula formula);

double bindings_optional(const struct bindings *bindings, const struct optional_formula *formula);

/* Whether the kernel of the bound configuration takes tensor maps of this kind. */
bool bindings_take_maps(const struct bindings *bindings, const struct map_formulas *maps);

/* Whether a rule keeps the bound configuration. */
bool bindings_keep(const struct bindings *bindings, const struct rule *rule);

/* Find the first rule that the bound configuration breaks. Returns NULL if it breaks none. */
const struct rule *bindings_failed_rule(const struct bindings *bindings);

#endif
