/* shipped_test.c FOLDER: docs/cookbook.md opens a database that is shipped in a folder, and the user's own in front. */
#include "tests/cookbook/field.h"

halotune_status open_shipped(const char *folder, halotune_ctx **ctx);

int main(int argc, char **argv) {
  static const long long grid[3] = {16, 16, 16};
  halotune_ctx *ctx;
  make_context_current();
  halotune(open_shipped(argc > 1 ? argv[1] : ".", &ctx));
  printf("%s\n", halotune_match_name(look_up(ctx, grid).match));
  halotune_close(ctx);
  return 0;
}
