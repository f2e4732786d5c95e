/* gpu_energy.c: keeps the queue of the GPU filled, and looks at the counter of energy in between. */
#include "tuner/device/gpu_energy.h"

#include <math.h>
#include <unistd.h>

#include "base/system/clock.h"

enum {
  BATCH_MOST = 128,   /* applications between two checks whether the fields have to be made fresh */
  BATCHES_MOST = 256, /* batches of a unit */
  IDLE_US = 1000
};

/* Length of one unit of work: long enough for an answer of NVML. */
static const double unit_ms = 4;

/* The work between two readings. */
struct unit {
  int batch, batches;
};

static struct unit unit_of(const struct gpu_session *s, const struct gpu_energy_plan *plan) {
  const int period = gpu_session_period(s, plan->slot) > 0 ? gpu_session_period(s, plan->slot) : 1;
  const double wanted = fmax(unit_ms / plan->time_ms, 1);
  const int periods = (int)ceil(fmin(wanted, BATCH_MOST) / period);
  const int batch = period * periods;
  return (struct unit){batch, (int)fmin(ceil(wanted / batch), BATCHES_MOST)};
}

/* The state of the loop: launched units, and values of the counter. */
struct loop {
  struct unit unit;
  long launched, done; /* units */
  double last_mj;      /* the newest value */
  bool has_begun;
  double begin_mj, begin_ms;
  long begin_done;
};

static halotune_status launch_unit(struct gpu_session *s, const struct gpu_energy_plan *plan, struct loop *loop) {
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < loop->unit.batches && status == HALOTUNE_OK; i++)
    status = gpu_session_apply(s, plan->slot, loop->unit.batch, loop->launched == 0 && i == 0);
  CUevent mark = loop->launched % 2 == 0 ? s->start : s->end;
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, s->cu.event_record(mark, s->stream), "cuEventRecord");
  loop->launched += status == HALOTUNE_OK;
  return status;
}

/* Launch until two units are in the queue, and wait for the older one. If nothing shall run, sleep a little. */
static halotune_status pass_unit(struct gpu_session *s, const struct gpu_energy_plan *plan, struct loop *loop) {
  halotune_status status = HALOTUNE_OK;
  if (plan->slot == GPU_ENERGY_IDLE) {
    usleep(IDLE_US);
    loop->done++;
    return HALOTUNE_OK;
  }
  while (status == HALOTUNE_OK && loop->launched < loop->done + 2) status = launch_unit(s, plan, loop);
  if (status != HALOTUNE_OK) return status;
  CUevent mark = loop->done % 2 == 0 ? s->start : s->end;
  status = gpu_did(&s->gpu, s->cu.event_synchronize(mark), "kernel");
  loop->done += status == HALOTUNE_OK;
  return status;
}

/* Take a new value of the counter into the result. */
static void take_value(const struct gpu_energy_plan *plan, struct loop *loop, double energy_mj,
                       struct gpu_energy *out) {
  const double now_ms = clock_ms();
  loop->last_mj = energy_mj;
  if (!loop->has_begun) {
    loop->has_begun = true;
    loop->begin_mj = energy_mj;
    loop->begin_ms = now_ms;
    loop->begin_done = loop->done;
    return;
  }
  const long units = loop->done - loop->begin_done;
  out->changes++;
  out->energy_mj = energy_mj - loop->begin_mj;
  out->span_ms = now_ms - loop->begin_ms;
  if (plan->slot != GPU_ENERGY_IDLE) out->applications = units * loop->unit.batch * loop->unit.batches;
}

static bool is_enough(const struct gpu_energy_plan *plan, const struct loop *loop, const struct gpu_energy *out) {
  const long units = loop->done - loop->begin_done;
  return out->changes >= plan->least_changes && out->span_ms >= plan->least_ms && units >= GPU_ENERGY_UNITS;
}

static halotune_status run_loop(struct gpu_session *s, const struct nvml *nvml, const struct gpu_energy_plan *plan,
                                struct loop *loop, struct gpu_energy *out) {
  static const double warm_part = 0.25;
  const double start_ms = clock_ms(), most_ms = fmax(GPU_ENERGY_MOST_MS, 3 * GPU_ENERGY_UNITS * plan->time_ms);
  while (!is_enough(plan, loop, out)) {
    double energy_mj;
    halotune_status status = pass_unit(s, plan, loop);
    if (status != HALOTUNE_OK) return status;
    if (!nvml_energy(nvml, &energy_mj)) return fail(HALOTUNE_NOT_FOUND, "the GPU has no counter of its energy");
    const double spent_ms = clock_ms() - start_ms;
    if (spent_ms < warm_part * plan->least_ms) loop->last_mj = energy_mj;
    else if (energy_mj != loop->last_mj) take_value(plan, loop, energy_mj, out);
    else if (spent_ms > most_ms)
      return fail(HALOTUNE_NOT_FOUND, "the GPU's counter of energy changed %ld times in %.1f s", out->changes,
                  spent_ms / 1000);
  }
  return HALOTUNE_OK;
}

halotune_status gpu_session_energy(struct gpu_session *s, const struct nvml *nvml, const struct gpu_energy_plan *plan,
                                   struct gpu_energy *out) {
  const bool is_idle = plan->slot == GPU_ENERGY_IDLE;
  struct loop loop = {.launched = 0};
  *out = (struct gpu_energy){0};
  gpu_clear(&s->gpu);
  if (!is_idle && (plan->slot < 0 || plan->slot >= GPU_SLOTS || !s->slots[plan->slot].is_loaded ||
                   s->slots[plan->slot].is_roof || !(plan->time_ms > 0)))
    return fail(HALOTUNE_ARGUMENT, "slot %d is empty", plan->slot);
  if (!nvml_energy(nvml, &loop.last_mj)) return fail(HALOTUNE_NOT_FOUND, "the GPU has no counter of its energy");
  if (!is_idle) loop.unit = unit_of(s, plan);
  halotune_status status = run_loop(s, nvml, plan, &loop, out);
  if (is_idle || (status != HALOTUNE_OK && status != HALOTUNE_NOT_FOUND)) return status;
  const halotune_status ended = gpu_did(&s->gpu, s->cu.stream_synchronize(s->stream), "kernel");
  gpu_session_refresh(s);
  return ended == HALOTUNE_OK ? status : ended;
}
