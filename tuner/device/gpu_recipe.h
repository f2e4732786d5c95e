/* gpu_recipe.h: what the GPU needs to make a problem's fields by itself: the rule of the inputs, and the update as
 * instructions. It contains only numbers, so it can be sent as bytes. The structs are those of fields.cu. */
#ifndef DEVICE_GPU_RECIPE_H
#define DEVICE_GPU_RECIPE_H

#include "tuner/verify/scene.h"

enum {
  GPU_RECIPE_INPUTS = 8,
  GPU_RECIPE_CONSTANTS = 1024,
  GPU_RECIPE_TAPS = 1024,
  GPU_RECIPE_INSTRUCTIONS = 2560,
  GPU_RECIPE_RESULTS = 32, /* outputs and values between two instructions */
};

struct gpu_recipe {
  long long n[MAX_DIMS], period[MAX_DIMS], low[MAX_DIMS], high[MAX_DIMS];
  long long boundary[MAX_DIMS]; /* enum boundary */
  double most;                  /* the largest number of the element type */
  struct gpu_filling {
    unsigned long long key;
    double low, high;         /* the range of values; both 0: from -1 to 1 */
    long long leader;         /* the buffer whose points outside of the box this one copies; its own number: none */
  } fillings[2 * MAX_FIELDS]; /* inputs, then outputs */
  long long input_count, output_count, constant_count, tap_count, instruction_count;
  struct gpu_constant {
    double value, magnitude;
  } constants[GPU_RECIPE_CONSTANTS];
  struct gpu_tap {
    int input, offset[MAX_DIMS];
  } taps[GPU_RECIPE_TAPS];
  struct gpu_instruction {
    int operation, result, args[MAX_EXPR_ARGS];
    int carried;  /* see row_magnitudes */
    double doubt; /* see row_magnitudes */
  } instructions[GPU_RECIPE_INSTRUCTIONS];
  long long steps;                      /* steps of the reference */
  long long sources[GPU_RECIPE_INPUTS]; /* the output that becomes each input in the next step; -1: the input stays */
};

/* Whether the GPU can make the fields of a scene: one launch of a stencil whose inputs only become outputs of the step
 * before, random inputs, and a simple boundary rule on each axis. gpu_recipe_make refuses updates that exceed the
 * numbers above or have rare operations. */
bool gpu_recipe_applies(const struct scene *scene);

/* Make the recipe of a scene.
 *   fits  receives whether the update fits; the recipe is incomplete otherwise
 * Returns HALOTUNE_OK, HALOTUNE_ARGUMENT for a grid that the stencil cannot have, or HALOTUNE_MEMORY. */
halotune_status gpu_recipe_make(const struct scene *scene, struct gpu_recipe *out, bool *fits);

#endif
