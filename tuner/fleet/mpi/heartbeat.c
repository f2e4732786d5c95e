/* heartbeat.c: keeps the leader of each team, its last sign, and the time of that sign. */
#include "tuner/fleet/mpi/heartbeat.h"

#include <math.h>
#include <stdlib.h>

enum { BEAT_MS = 5000, BEATS_IN_LIMIT = 10 };

halotune_status heartbeat_open(const struct fleet_mpi_plugin *plugin, const struct fleet_mpi_world *world,
                               const int *colours, double limit_ms, double now_ms, struct heartbeat *out) {
  *out = (struct heartbeat){.plugin = plugin, .world = *world, .limit_ms = limit_ms, .now_ms = now_ms};
  out->ranks = calloc((size_t)world->size, sizeof *out->ranks);
  if (!out->ranks) return fail_memory();
  for (int i = 0; i < world->size; i++) {
    int lowest = 0;
    while (colours[lowest] != colours[i]) lowest++;
    out->ranks[i].leads = lowest == i;
    out->leader_count += lowest == i;
  }
  return HALOTUNE_OK;
}

void heartbeat_free(struct heartbeat *heartbeat) {
  free(heartbeat->ranks); /* a request that has not ended stays with MPI until the process ends */
  *heartbeat = (struct heartbeat){0};
}

static halotune_status hear_all(struct heartbeat *heartbeat) {
  for (;;) {
    struct fleet_mpi_sign sign = {0};
    int from = -1;
    const int error = heartbeat->plugin->hear(&from, &sign);
    if (error) {
      char text[FLEET_MPI_TEXT_BYTES] = "";
      heartbeat->plugin->error_text(error, text);
      return fail(HALOTUNE_IO, "MPI cannot look for signs of life: %s", text);
    }
    if (from < 0) return HALOTUNE_OK;
    heartbeat->ranks[from].heard_ms = heartbeat->time_ms;
    heartbeat->ranks[from].is = sign;
  }
}

/* Send a sign to each rank that has taken the one before. After an error, the rank hears nothing, and ends. */
static void send_due(struct heartbeat *heartbeat, bool sends) {
  const struct heartbeat_rank *own = &heartbeat->ranks[heartbeat->world.rank];
  for (int i = 0; i < heartbeat->world.size; i++) {
    struct heartbeat_rank *rank = &heartbeat->ranks[i];
    bool has_ended = false;
    if (rank->request && (heartbeat->plugin->has_ended(rank->request, &has_ended) != 0 || has_ended))
      rank->request = NULL;
    if (!sends || !rank->is_due || rank->request) continue;
    rank->is_due = false;
    rank->to = own->is;
    if (heartbeat->plugin->sign(i, &rank->to, &rank->request) != 0) rank->request = NULL;
  }
}

/* A job of one team needs no signs, because the team has its own signs of life. */
static void make_due(struct heartbeat *heartbeat) {
  if (heartbeat->leader_count < 2) return;
  for (int i = 0; i < heartbeat->world.size; i++) heartbeat->ranks[i].is_due = i != heartbeat->world.rank;
  heartbeat->due_ms = heartbeat->time_ms + fmin(BEAT_MS, heartbeat->limit_ms / BEATS_IN_LIMIT);
}

halotune_status heartbeat_step(struct heartbeat *heartbeat, double now_ms, bool sends) {
  heartbeat->time_ms += fmin(now_ms - heartbeat->now_ms, HEARTBEAT_STEP_MS);
  heartbeat->now_ms = now_ms;
  if (heartbeat->ranks[heartbeat->world.rank].leads && heartbeat->time_ms >= heartbeat->due_ms) make_due(heartbeat);
  send_due(heartbeat, sends);
  return hear_all(heartbeat);
}

void heartbeat_set_done(struct heartbeat *heartbeat, bool has_loss, int exit_code) {
  heartbeat->ranks[heartbeat->world.rank].is =
      (struct fleet_mpi_sign){.is_done = true, .has_loss = has_loss, .exit_code = exit_code};
  make_due(heartbeat);
}

void heartbeat_await(struct heartbeat *heartbeat) {
  for (int i = 0; i < heartbeat->world.size; i++) heartbeat->ranks[i].heard_ms = heartbeat->time_ms;
}

static bool is_silent(const struct heartbeat *heartbeat, int rank) {
  return heartbeat->time_ms - heartbeat->ranks[rank].heard_ms >= heartbeat->limit_ms;
}

bool heartbeat_are_done(const struct heartbeat *heartbeat, struct fleet_mpi_sign *sign, int *silent) {
  bool are_done = true;
  *silent = -1;
  *sign = heartbeat->ranks[heartbeat->world.rank].is;
  for (int i = heartbeat->world.size - 1; i >= 0; i--) {
    const struct heartbeat_rank *rank = &heartbeat->ranks[i];
    if (!rank->leads || i == heartbeat->world.rank) continue;
    if (rank->is.is_done) {
      sign->has_loss |= rank->is.has_loss;
      if (rank->is.exit_code > sign->exit_code) sign->exit_code = rank->is.exit_code;
    } else if (is_silent(heartbeat, i)) {
      *silent = i;
    } else {
      are_done = false;
    }
  }
  return are_done;
}

bool heartbeat_is_silent(const struct heartbeat *heartbeat) {
  for (int i = 0; i < heartbeat->world.size; i++) {
    if (heartbeat->ranks[i].leads && i != heartbeat->world.rank && !is_silent(heartbeat, i)) return false;
  }
  return true;
}

bool heartbeat_is_sent(const struct heartbeat *heartbeat) {
  for (int i = 0; i < heartbeat->world.size; i++) {
    if (heartbeat->ranks[i].request || heartbeat->ranks[i].is_due) return false;
  }
  return true;
}
