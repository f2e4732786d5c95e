/* life.c: who leads a team, what it said last, and when. */
#include "tuner/fleet/mpi/life.h"

#include <math.h>
#include <stdlib.h>

enum { BEAT_MS = 5000, BEATS_IN_LIMIT = 10 };

halotune_status life_open(const struct fleet_mpi_plugin *plugin, const struct fleet_mpi_world *world,
                          const int *colours, double limit_ms, double now_ms, struct life *out) {
  *out = (struct life){.plugin = plugin, .world = *world, .limit_ms = limit_ms, .now_ms = now_ms};
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

void life_free(struct life *life) {
  free(life->ranks); /* a request that has not ended stays with MPI until the process ends */
  *life = (struct life){0};
}

static halotune_status hear_all(struct life *life) {
  for (;;) {
    struct fleet_mpi_sign sign = {0};
    int from = -1;
    const int error = life->plugin->hear(&from, &sign);
    if (error) {
      char text[FLEET_MPI_TEXT_BYTES] = "";
      life->plugin->error_text(error, text);
      return fail(HALOTUNE_IO, "MPI cannot look for signs of life: %s", text);
    }
    if (from < 0) return HALOTUNE_OK;
    life->ranks[from].heard_ms = life->time_ms;
    life->ranks[from].is = sign;
  }
}

/* Send a sign to each rank that has taken the one before. After an error, the rank hears nothing, and ends. */
static void send_due(struct life *life, bool sends) {
  const struct life_rank *own = &life->ranks[life->world.rank];
  for (int i = 0; i < life->world.size; i++) {
    struct life_rank *rank = &life->ranks[i];
    bool has_ended = false;
    if (rank->request && (life->plugin->has_ended(rank->request, &has_ended) != 0 || has_ended)) rank->request = NULL;
    if (!sends || !rank->is_due || rank->request) continue;
    rank->is_due = false;
    rank->to = own->is;
    if (life->plugin->sign(i, &rank->to, &rank->request) != 0) rank->request = NULL;
  }
}

/* A job of one team needs no signs: its ranks hear of each other by the team's own. */
static void make_due(struct life *life) {
  if (life->leader_count < 2) return;
  for (int i = 0; i < life->world.size; i++) life->ranks[i].is_due = i != life->world.rank;
  life->due_ms = life->time_ms + fmin(BEAT_MS, life->limit_ms / BEATS_IN_LIMIT);
}

halotune_status life_step(struct life *life, double now_ms, bool sends) {
  life->time_ms += fmin(now_ms - life->now_ms, LIFE_STEP_MS);
  life->now_ms = now_ms;
  if (life->ranks[life->world.rank].leads && life->time_ms >= life->due_ms) make_due(life);
  send_due(life, sends);
  return hear_all(life);
}

void life_set_done(struct life *life, bool has_loss, int exit_code) {
  life->ranks[life->world.rank].is =
      (struct fleet_mpi_sign){.is_done = true, .has_loss = has_loss, .exit_code = exit_code};
  make_due(life);
}

void life_await(struct life *life) {
  for (int i = 0; i < life->world.size; i++) life->ranks[i].heard_ms = life->time_ms;
}

static bool is_silent(const struct life *life, int rank) {
  return life->time_ms - life->ranks[rank].heard_ms >= life->limit_ms;
}

bool life_are_done(const struct life *life, struct fleet_mpi_sign *sign, int *silent) {
  bool are_done = true;
  *silent = -1;
  *sign = life->ranks[life->world.rank].is;
  for (int i = life->world.size - 1; i >= 0; i--) {
    const struct life_rank *rank = &life->ranks[i];
    if (!rank->leads || i == life->world.rank) continue;
    if (rank->is.is_done) {
      sign->has_loss |= rank->is.has_loss;
      if (rank->is.exit_code > sign->exit_code) sign->exit_code = rank->is.exit_code;
    } else if (is_silent(life, i)) {
      *silent = i;
    } else {
      are_done = false;
    }
  }
  return are_done;
}

bool life_is_silent(const struct life *life) {
  for (int i = 0; i < life->world.size; i++) {
    if (life->ranks[i].leads && i != life->world.rank && !is_silent(life, i)) return false;
  }
  return true;
}

bool life_is_sent(const struct life *life) {
  for (int i = 0; i < life->world.size; i++) {
    if (life->ranks[i].request || life->ranks[i].is_due) return false;
  }
  return true;
}
