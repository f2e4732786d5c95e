/* template.h: a kernel template: CUDA source, and the YAML file that declares its parameters, rules and launch geometry.
 * docs/templates.md is the users' view of the same. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_H
#define STENCIL_TEMPLATE_TEMPLATE_H

#include "base/nearest.h"
#include "stencil/expression/source.h"
#include "stencil/template/facts.h"

enum { MAX_PARAMETERS = 32, MAX_VALUES = 32, MAX_RULES = 97, MAX_SHARED_ACCESSES = 4 };

/* A parameter takes one of a list of values: numbers, or words, which count as 0, 1, 2 ... in rules. */
struct parameter {
  const char *name, *about;
  const char *words[MAX_VALUES]; /* as the file spells the values, numbers too */
  double values[MAX_VALUES];
  int value_count, default_value; /* a position in values */
  bool is_word, is_common;        /* is_common: what it is stands in common.yml */
};

/* Where a rule stands: in the template's file; in common.yml, where the file names it; or there, for every template. */
enum rule_origin { RULE_OWN, RULE_COMMON, RULE_ALWAYS };

/* A condition on stencil, device and parameters; a configuration for which it is 0 or not a finite number is left out. */
struct rule {
  struct formula keep;
  const char *text, *otherwise; /* the condition as written; why a configuration that fails it is left out */
  int last_parameter;           /* the last parameter that it names; -1 for a fact about the stencil alone */
  enum rule_origin origin;
};

/* One kind of access to shared memory, as all threads of a block do it at once. */
struct shared_access {
  struct formula stride[MAX_DIMS]; /* elements between what threads that are neighbours in x, y and z touch */
  struct formula elements;         /* neighbours that a thread touches at once; 0: there is no such access */
};

/* What a template says of its accesses, for access.h. */
struct access_formulas {
  struct formula loads_per_point, over_read, computing_share;
  struct shared_access shared[MAX_SHARED_ACCESSES];
  int shared_count;
};

/* A formula that a file may leave out. */
struct optional_formula {
  bool is_given;
  struct formula formula;
  double otherwise; /* its value where it is left out */
};

/* What a template says of the tensor maps that its kernel takes, of inputs or of outputs; see launch.h. */
struct map_formulas {
  bool is_given;
  struct optional_formula when; /* 0 for configurations that take none */
  struct formula box[MAX_DIMS];
  struct optional_formula promotion_bytes;
};

/* How a template forms the sums of an update: as `update` does, or in an order of its own. Files of versions before 0.2 do not
 * say; their CUDA text tells. */
enum template_sums { SUMS_NOT_SAID, SUMS_UPDATE, SUMS_OWN_ORDER };

/* Owns all that it points to; end with template_free. */
struct template {
  const char *name, *about;
  char *yaml, *cuda;     /* the texts of both files, NUL-terminated */
  struct hash hash;      /* of what both files mean: comments and layout do not count; see template_hash.h */
  struct hash text_hash; /* of both texts, by which versions before 0.2 named a template in databases */
  struct parameter parameters[MAX_PARAMETERS];
  int parameter_count;
  struct rule rules[MAX_RULES]; /* the file's, the common ones, and one where sums have an order of their own */
  int rule_count;
  struct formula block[MAX_DIMS], grid[MAX_DIMS]; /* launch geometry, in x, y, z */
  struct formula shared_bytes;                    /* dynamic shared memory of a block */
  struct map_formulas input_maps, output_maps;
  struct optional_formula cluster[MAX_DIMS]; /* blocks of a cluster, in x, y, z */
  struct optional_formula overlap;           /* not 0: programmatic dependent launch */
  struct optional_formula workspace_bytes;   /* global memory that lasts from one launch to the next */
  struct optional_formula alignment_bytes;   /* what addresses have to be multiples of; not given: as common.yml says */
  enum template_sums sums;
  bool has_access;
  struct access_formulas access;
  struct exprs exprs;
  int variable_count; /* facts, then parameters, then words */
  double *word_values;
  int word_count;
  struct arena arena;
};

/* Read NAME.yaml and NAME.cu.
 *   yaml_path  the path of the former; the latter stands beside it
 *   out        receives the template, the caller's to template_free; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with file, line, column and a caret; HALOTUNE_NOT_FOUND, HALOTUNE_IO or
 * HALOTUNE_MEMORY. */
halotune_status template_read(const char *yaml_path, struct template **out);

/* The same from texts in memory, such as those that a database keeps; they are copied.
 *   yaml  named in messages of errors by yaml->name
 *   cuda  NUL-terminated
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with name, line, column and a caret; or HALOTUNE_MEMORY. */
halotune_status template_parse(const struct source *yaml, const char *cuda, struct template **out);

void template_free(struct template *template);

/* Whether a template asks for anything that only launches on sm_90 and later have, in some configuration: tensor maps,
 * clusters, programmatic dependent launch. */
bool template_needs_sm_90(const struct template *template);

/* A choice of one value for each parameter, by position in its list. */
struct configuration {
  unsigned char choice[MAX_PARAMETERS];
};

/* The configuration that the template's file calls its default. */
struct configuration configuration_default(const struct template *template);

/* The position of a parameter, given by the first `length` bytes of its name; -1 for an unknown one. */
int template_parameter(const struct template *template, const char *name, size_t length);

/* Look for a name that is not known among those of the parameters. */
void template_try_parameters(const struct template *template, struct nearest *nearest);

/* Read "name=value" into a configuration. HALOTUNE_ARGUMENT for an unknown name, or a value that is not in the list. */
halotune_status configuration_set(const struct template *template, const char *assignment,
                                  struct configuration *configuration);

/* The numbers that formulas of a template see. Start with bindings_make, end with bindings_free. One per thread. */
struct bindings {
  const struct template *template;
  double *variables; /* facts, parameters, words */
  double *scratch;   /* for the values of nodes */
};

halotune_status bindings_make(const struct template *template, const double facts[FACT_COUNT], struct bindings *out);
void bindings_free(struct bindings *bindings);

/* Give one parameter, or all, their chosen values. */
void bindings_choose(struct bindings *bindings, int parameter, int choice);
void bindings_configure(struct bindings *bindings, const struct configuration *configuration);

/* The value of a formula of the template. */
double bindings_value(const struct bindings *bindings, struct formula formula);

double bindings_optional(const struct bindings *bindings, const struct optional_formula *formula);

/* Whether the kernel of the bound configuration takes tensor maps of this kind. */
bool bindings_take_maps(const struct bindings *bindings, const struct map_formulas *maps);

/* Whether a rule keeps the bound configuration. */
bool bindings_keep(const struct bindings *bindings, const struct rule *rule);

/* The first rule that the bound configuration fails; NULL where it keeps all. */
const struct rule *bindings_failed_rule(const struct bindings *bindings);

#endif
