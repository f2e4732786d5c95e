/* report.c: `halotune report`: writes the database as one HTML page, or as the JSON document in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/date.h"
#include "db/store/launch_text.h"
#include "db/store/store.h"
#include "library/lookup/installed.h"
#include "reports/document/document.h"
#include "reports/page/page.h"
#include "stencil/template/access.h"
#include "stencil/template/template_read.h"
#include "tuner/cli/options/database.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/output.h"
#include "tuner/count/variant_count.h"

static const char default_output[] = "halotune-report.html";

/* Write the current time, or that of $SOURCE_DATE_EPOCH, so that the same database can give the same bytes. */
static halotune_status write_date(char out[DATE_TEXT_BYTES]) {
  const char *fixed = getenv("SOURCE_DATE_EPOCH");
  char *end = "";
  const bool is_fixed = fixed && *fixed;
  const long long seconds = is_fixed ? strtoll(fixed, &end, 10) : time(NULL);
  if (*end || !date_later("1970-01-01", (double)seconds, out))
    return fail(HALOTUNE_ARGUMENT,
                "$SOURCE_DATE_EPOCH is '%s'; it must be a whole number of seconds since 1970, before the year 10000",
                is_fixed ? fixed : "");
  memcpy(strchr(out, '.'), "Z", sizeof "Z"); /* whole seconds */
  return HALOTUNE_OK;
}

static halotune_status put_out(const struct invocation *invocation, const struct text *document) {
  const char *path = option_value(invocation, "output");
  struct text page = {0};
  halotune_status status = HALOTUNE_OK;
  bool as_json = option_given(invocation, "json");
  if (as_json && !path) return output_text(NULL, OUTPUT_FOR_ALL, document->bytes, document->length);
  if (!as_json) status = report_page(document, &page);
  if (!path) path = default_output;
  const struct text *text = as_json ? document : &page;
  if (status == HALOTUNE_OK) status = output_file(path, OUTPUT_FOR_ALL, text->bytes, text->length);
  if (status == HALOTUNE_OK) printf("wrote %s, %zu bytes\n", path, text->length);
  text_free(&page);
  return status;
}

/* Put the installed template in the place of the database's. The emulation executes a template with the rights of this
 * user, and the database may come from others.
 *   installed  receives the template, for the caller to end with template_free; NULL if there is none */
static bool take_installed(struct variant_spec *spec, struct template **installed) {
  struct text parameters = {0};
  halotune_status status = installed_template(spec->template->name, installed);
  configuration_write(spec->template, &spec->configuration, &parameters);
  const bool is_there = status == HALOTUNE_OK && *installed && text_ok(&parameters);
  if (is_there) status = configuration_read(*installed, text_string(&parameters), &spec->configuration);
  text_free(&parameters);
  spec->template = *installed;
  return is_there && status == HALOTUNE_OK;
}

/* Whether this version generates the source with this identity. Otherwise, the kernel that was measured is unknown. */
static bool is_generated(const struct variant_spec *spec, const char *source_hash) {
  struct generated generated;
  char hex[IDENTITY_HEX_BYTES];
  if (generate(spec, &generated) != HALOTUNE_OK) return false;
  identity_hex(generated.hash, hex);
  generated_free(&generated);
  return strcmp(hex, source_hash) == 0;
}

/* Count the accesses of one variant, if the installed template generates its source. */
static bool count_variant(void *context, const struct variant_spec *spec, const char *source_hash,
                          struct access *access) {
  struct count_job job = {.spec = *spec};
  struct template *installed;
  (void)context;
  const bool is_counted = take_installed(&job.spec, &installed) && is_generated(&job.spec, source_hash) &&
                          variants_count(&job, 1, &(struct emulation_options){0}) == HALOTUNE_OK && job.has_count;
  template_free(installed);
  if (!is_counted) return false;
  struct count_figures figures = count_figures_of(&job.count);
  access->loads_per_point = figures.loads;
  access->over_read = figures.over_read;
  access->bank_conflicts = figures.mean_conflicts;
  access->shared_wavefronts = figures.shared_wavefronts;
  return true;
}

static enum exit_code report_run(const struct invocation *invocation) {
  struct store *store = NULL;
  struct text document = {0};
  char date[DATE_TEXT_BYTES];
  static const struct report_counter counter = {.count = count_variant};
  struct report_request request = {.counter = option_given(invocation, "count") ? &counter : NULL,
                                   .stencil = option_value(invocation, "stencil"),
                                   .device = option_value(invocation, "device"),
                                   .generated = date};
  halotune_status status = write_date(date);
  if (status == HALOTUNE_OK) status = database_open(option_value(invocation, "db"), "the report shows", &store);
  if (status == HALOTUNE_OK) {
    request.database = store_path(store);
    status = report_document(store_connection(store), &request, &document);
  }
  if (status == HALOTUNE_OK) status = put_out(invocation, &document);
  text_free(&document);
  store_close(store);
  return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(status);
}

static const struct option_row options[] = {
    {"output", "FILE", "output file; halotune-report.html by default"},
    {"db", "FILE", "the database; by default yours, or the installed one while yours is empty"},
    {"stencil", "NAME", "only this stencil"},
    {"device", "GPU", "only GPUs with this UUID, or with this text in their name"},
    {"count", NULL, "count accesses of winners and finalists, as the command accesses does"},
    {"json", NULL, "print the JSON document behind the page instead, or write it to FILE"},
    {0},
};

const struct command command_report = {
    "report", "", 0, 0, "write one HTML page that shows what was measured", options, report_run,
};
