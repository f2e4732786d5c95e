/* found_files_test.c: a file that was found by its name is checked again when it is read. */
#include "tuner/cli/options/found_files.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stencil/template/template_read.h"
#include "tests/unit/unit.h"
#include "tuner/cli/options/loaded_stencil.h"
#include "tuner/cli/options/search_path.h"
#include "tuner/cli/options/templates.h"

static void run_command(const char *command) {
  CHECK_EQ(0, system(command), "%s", command); // NOLINT: texts of this file
}

/* Between the search and the read all users get the right to write, as if another file had taken the place. */
TEST(a_found_file_that_changes_before_it_is_read_is_refused) {
  char folder[] = "/tmp/halotune-found-XXXXXX", command[256], *stencil, *template_path;
  struct loaded loaded;
  struct template *template;
  CHECK(mkdtemp(folder) != NULL, "a folder");
  snprintf(command, sizeof command,
           "mkdir %s/kernels %s/templates && cp kernels/star7.yaml %s/kernels && cp templates/direct.* %s/templates && "
           "chmod -R go-w %s",
           folder, folder, folder, folder, folder);
  run_command(command);
  CHECK_EQ(0, chdir(folder), "%s", folder);
  CHECK_OK(search_find(&search_stencils, NULL, "star7", &stencil));
  CHECK_OK(search_find(&search_templates, NULL, "direct", &template_path));
  CHECK_TEXT("kernels/star7.yaml", stencil, "found");
  CHECK_TEXT("templates/direct.yaml", template_path, "found");
  for (int is_changed = 0; is_changed < 2; is_changed++) {
    const halotune_status want = is_changed ? HALOTUNE_IO : HALOTUNE_OK;
    if (is_changed) run_command("chmod o+w kernels/star7.yaml templates/direct.cu");
    CHECK_EQ(want, loaded_open(stencil, &loaded), "%s", fail_text());
    loaded_free(&loaded);
    if (is_changed)
      CHECK(strstr(fail_text(), "star7.yaml is not used, because all users can write"), "%s", fail_text());
    CHECK_EQ(want, template_open(template_path, true, &template), "%s", fail_text());
    template_free(template);
    if (is_changed) CHECK(strstr(fail_text(), "direct.cu is not used, because all users can write"), "%s", fail_text());
  }
  CHECK_OK(loaded_open("./kernels/star7.yaml", &loaded)); /* the user has named this path */
  loaded_free(&loaded);
  free(template_path);
  free(stencil);
  CHECK_EQ(0, chdir("/"), "/");
  snprintf(command, sizeof command, "rm -rf %s", folder);
  run_command(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_found_file_that_changes_before_it_is_read_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
