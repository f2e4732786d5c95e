/* tune_json.c: writes the results of a run, member by member. */
#include "tuner/cli/tune/tune_json.h"

#include "db/store/store.h"
#include "stencil/file/grid_text.h"
#include "tuner/cli/tune/tune_text.h"

static json_t *outcomes_json(const struct tune_result *result) {
  json_t *json = json_object();
  for (int i = 0; i < OUTCOME_COUNT; i++)
    json_put(&json, outcome_name((enum outcome)i), json_integer(result->tally.outcomes[i]));
  return json;
}

/* Put the bytes of unknown and of known fields, from which the effective bandwidth of an iterated stencil is
 * computed. */
static void put_field_bytes(json_t **json, const struct planned_task *task) {
  const struct analysis *analysis = task->stencil->loaded.analysis;
  const long long points = (long long)task->grid.n[0] * task->grid.n[1] * task->grid.n[2];
  const int unknown = analysis->unknown_bytes_per_point[task->dtype],
            known = analysis->known_bytes_per_point[task->dtype];
  json_put(json, "unknown_bytes", unknown > 0 ? json_integer(unknown * points) : json_null());
  json_put(json, "known_bytes", unknown > 0 ? json_integer(known * points) : json_null());
}

static void put_winner(json_t **json, const struct tuned *row) {
  const struct tune_result *result = &row->result;
  json_put(json, "template", text_json(result->winner.template_name));
  json_put(json, "parameters", text_json(result->winner.parameters));
  json_put(json, "second_grid", result->winner.second_grid[0] ? text_json(result->winner.second_grid) : json_null());
  json_put(json, "drawn_points",
           result->winner.drawn_points > 0 ? json_integer(result->winner.drawn_points) : json_null());
  json_put(json, "time_ms", number_json(result->winner.timing.median_ms));
  json_put(json, "time_low_ms", number_json(result->winner.timing.low_ms));
  json_put(json, "time_high_ms", number_json(result->winner.timing.high_ms));
  json_put(json, "samples", json_integer(result->winner.timing.sample_count));
  json_put(json, "bandwidth_gbs", number_json(tuned_bandwidth_gbs(row)));
  put_field_bytes(json, &row->task);
  json_put(json, "roof_ms", number_json(tuned_of_memory(row, result->winner.roof_ms)));
  json_put(json, "share_of_roof", number_json(tuned_of_memory(row, result->winner.roof_ratio)));
  json_put(json, "share_of_roof_low", number_json(tuned_of_memory(row, result->winner.roof_ratio_low)));
  json_put(json, "share_of_roof_high", number_json(tuned_of_memory(row, result->winner.roof_ratio_high)));
  json_put(json, "default_ms", number_json(result->winner.default_ms));
  json_put(json, "speed_up", number_json(tuned_speed_up(row)));
  json_put(json, "empty_ms", number_json(result->winner.empty_ms));
  json_put(json, "energy_mj", number_json(result->winner.energy_mj));
  json_put(json, "energy_low_mj", number_json(result->winner.energy_low_mj));
  json_put(json, "energy_high_mj", number_json(result->winner.energy_high_mj));
  json_put(json, "idle_w", number_json(result->winner.idle_w));
  json_put(json, "finalists", json_integer(result->winner.finalists));
  json_put(json, "ties", json_integer(result->winner.ties));
  json_put(json, "is_hinted", json_boolean(result->winner.is_hinted));
  json_put(json, "is_current", json_boolean(result->winner.is_current));
}

/* Put the results of each GPU of a team. */
static void put_crew(json_t **json, const struct crew_report *crew) {
  json_t *list = json_array();
  for (int i = 0; i < crew->shown; i++) {
    const struct crew_gpu *gpu = &crew->gpus[i];
    json_t *one = json_object();
    json_put(&one, "device", text_json(gpu->name));
    json_put(&one, "uuid", text_json(gpu->uuid));
    json_put(&one, "host", text_json(gpu->host));
    json_put(&one, "results", json_integer(gpu->results));
    json_put(&one, "factor", number_json(gpu->factor));
    json_put(&one, "winner_ms", number_json(gpu->winner_ms));
    json_put(&one, "left_out", gpu->left_out[0] ? text_json(gpu->left_out) : json_null());
    json_add(&list, one);
  }
  json_put(json, "gpus", list);
  json_put(json, "spread", number_json(crew->spread));
  json_put(json, "lost", json_integer(crew->lost));
}

static json_t *tuned_json(const struct tuned *row) {
  const struct tune_result *result = &row->result;
  json_t *json = json_object();
  json_put(&json, "stencil", text_json(row->task.stencil->loaded.stencil->name));
  json_put(&json, "dtype", text_json(dtype_names[row->task.dtype]));
  json_put(&json, "grid", grid_json(&row->task.grid, MAX_DIMS));
  json_put(&json, "launch", text_json(launch_mode_names[result->launch]));
  json_put(&json, "reproducible", json_boolean(row->reproducible));
  json_put(&json, "steps", json_integer(row->task.launch_steps));
  json_put(&json, "complete", json_boolean(result->is_complete));
  json_put(&json, "reason", text_json(result->reason));
  json_put(&json, "remark", text_json(result->remark));
  json_put(&json, "tried", json_integer(result->tally.tried));
  json_put(&json, "recalled", json_integer(result->tally.recalled));
  json_put(&json, "twins", json_integer(result->tally.twins));
  json_put(&json, "hinted", json_integer(result->tally.hinted));
  json_put(&json, "outcomes", outcomes_json(result));
  json_put(&json, "setup_s", number_json(result->setup_s));
  json_put(&json, "search_s", number_json(result->search_s));
  json_put(&json, "final_s", number_json(result->final_s));
  json_put(&json, "other_processes", json_integer(result->winner.other_processes));
  if (result->crew.count > 0) put_crew(&json, &result->crew);
  json_put(&json, "winner", json_null());
  if (!result->winner.exists) return json;
  json_t *winner = json_object();
  put_winner(&winner, row);
  json_put(&json, "winner", winner);
  return json;
}

json_t *tune_json(const struct tune_setup *setup, const struct tuned *rows, int count) {
  const struct backend_facts *facts = &setup->backend.facts;
  json_t *list = json_array(), *document = json_object();
  for (int i = 0; i < count; i++) {
    if (rows[i].is_done) json_add(&list, tuned_json(&rows[i]));
  }
  json_put(&document, "device", text_json(facts->device.name));
  json_put(&document, "uuid", text_json(facts->device.uuid));
  json_put(&document, "emulated", json_boolean(facts->is_emulation));
  json_put(&document, "recorded", json_boolean(facts->is_recording));
  json_put(&document, "database", text_json(store_path(setup->tools.store)));
  json_put(&document, "tasks", list);
  return document;
}

json_t *tune_json_devices(json_t *document) {
  json_t *list = json_array(), *devices = json_object();
  json_add(&list, document);
  json_put(&devices, "devices", list);
  return devices;
}
