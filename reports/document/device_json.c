/* device_json.c: writes a GPU of a database, and its two roofs. */
#include "reports/document/device_json.h"

#include <math.h>

#include "db/store/sql_parts.h"
#include "gpu/architecture/arch.h"
#include "reports/rows/report_scope.h"

enum { PEAK_DIGITS = 7 };

const char device_sql[] =
    "select d.id, d.uuid, d.name, d.capability, d.sm_count, d.clock_khz, d.memory_clock_khz, d.bus_bits, d.l2_bytes,"
    " d.memory_bytes, d.max_threads, d.max_threads_sm, d.max_registers, d.registers_sm, d.max_shared_bytes, d.warp_size, d.is_emulation, min(r.started) as first, max(r.started) as last, group_concat(distinct r.driver) as drivers,"
    " group_concat(distinct r.nvrtc) as nvrtcs, max(r.cuda) as cuda, count(r.id) as run_count from device d"
    " left join problem p on p.device_id = d.id and p.id in " CHOSEN_PROBLEMS " left join run r on r.problem_id = p.id"
    " group by d.id having ?1 or count(p.id) > 0 order by d.is_emulation, d.id";

/* The fastest copy of a device in any run of the database, also in runs that the report leaves out. Runs of others
 * count only where this user has measured no copy. */
static const char device_roof_sql[] =
    "select r.bytes / min(coalesce(r.copy_ms, r.memcpy_ms), coalesce(r.memcpy_ms, r.copy_ms)) * 1e-6 as gbps, r.bytes,"
    " r.id as run from run r join problem p on p.id = r.problem_id where p.device_id = ?1"
    " order by gbps is null, " SQL_IS_OWN("r") " desc, gbps desc limit 1";

/* The arithmetic roof of a device for each element type; null for an emulation. */
static json_t *peak_json(const json_t *device) {
  int capability = (int)json_integer_value(json_object_get(device, "capability"));
  int sm_count = (int)json_integer_value(json_object_get(device, "sm_count"));
  long clock_khz = (long)json_integer_value(json_object_get(device, "clock_khz"));
  bool is_emulation = json_is_true(json_object_get(device, "is_emulation"));
  json_t *json = json_object();
  for (int t = 0; t < DTYPE_COUNT; t++) {
    double gflops = peak_gflops(capability, sm_count, clock_khz, (enum dtype)t);
    json_put(&json, dtype_names[t], is_emulation ? json_null() : rounded_json(gflops, PEAK_DIGITS));
  }
  return json;
}

halotune_status device_complete(void *context, sqlite3_stmt *query, json_t **device) {
  json_t *roof;
  int64_t id = sqlite3_column_int64(query, 0);
  halotune_status status = row_json(context, device_roof_sql, &id, 1, &roof);
  json_t *peak = peak_json(*device);
  json_put(device, "roof", roof);
  json_put(device, "peak_gflops", peak);
  return status;
}

double peak_gflops(int capability, int sm_count, long clock_khz, enum dtype dtype) {
  const struct arch_facts *facts = arch_find(capability / 10, capability % 10);
  const double results = facts ? facts->results_per_clock[dtype] : 0;
  return results > 0 ? 2 * results * sm_count * (double)clock_khz * 1e-6 : NAN;
}
