/* 00_query.c: looks up the best known configuration of a stencil. It needs no GPU if you name the device.
 *
 *   cc 00_query.c $(pkg-config --cflags --libs halotune) -o query
 *   ./query star7 512 512 512                       on the GPU of this machine
 *   ./query star7 512 512 512 "NVIDIA H200"         on another one
 *   HALOTUNE_DB=other.db ./query ...                from another database */
#include <halotune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s STENCIL NX [NY [NZ [DEVICE]]]\n", argv[0]);
    return 2;
  }
  halotune_problem problem;
  memset(&problem, 0, sizeof problem);
  problem.stencil = argv[1];
  problem.device = argc > 5 ? argv[5] : "0";
  problem.dtype = HALOTUNE_F32;
  for (int axis = 0; axis < 3 && 2 + axis < argc; axis++) problem.grid[axis] = atoll(argv[2 + axis]);

  halotune_ctx *ctx;
  halotune_config config;
  halotune_status status = halotune_open(NULL, 0, &ctx); /* your database, then the installed one */
  if (status == HALOTUNE_OK) status = halotune_lookup(ctx, &problem, &config);
  if (status != HALOTUNE_OK) {
    fprintf(stderr, "%s: %s\n", halotune_strstatus(status), halotune_error(ctx));
    halotune_close(ctx);
    return 1;
  }

  printf("%s: template %s\n", halotune_match_name(config.match), config.template_name);
  if (config.match != HALOTUNE_MATCH_DEFAULT) {
    printf("%.4f ms", config.time_ms);
    /* NaN for a problem that nobody measured, and for an emulated device, whose times rank nothing */
    if (!isnan(config.bandwidth_gbs)) printf(", %.0f GB/s", config.bandwidth_gbs);
    printf(", measured on %s on %s\n", config.measured_on, config.date);
  }
  for (int i = 0; i < config.parameter_count; i++) {
    halotune_parameter parameter;
    if (halotune_config_parameter_at(&config, i, &parameter) == HALOTUNE_OK)
      printf("  %s = %s\n", parameter.name, parameter.value);
  }
  halotune_close(ctx);
  return 0;
}
