/* backend_cuda_parts.h: the state of the cuda backend, which its files share. The program keeps all that a new worker
 * needs: the scene, and the candidates of live slots. */
#ifndef MEASURE_BACKENDS_BACKEND_CUDA_PARTS_H
#define MEASURE_BACKENDS_BACKEND_CUDA_PARTS_H

#include "gpu/driver/nvml.h"
#include "tuner/device/gpu_link.h"
#include "tuner/measure/backends/backend_cuda_judge.h"

/* A context takes a second, and more if many GPUs have to wake up. */
enum { CUDA_START_MS = 120000 };

/* The task ends when so many workers in a row are lost before they have all that the program knows. */
enum { CUDA_START_ATTEMPTS = 3 };

struct cuda_slot {
  bool is_live;
  struct candidate candidate;
  double time_ms;             /* time of one application; 0: not known yet */
  struct gpu_results results; /* what checks of its samples have found, which a new worker has to know */
};

struct cuda {
  struct gpu_link link;
  int ordinal;
  double hang_ms;
  struct compiled checks; /* the compiled gpu_check_source */
  struct nvml nvml;
  struct gpu_opened opened;
  bool has_problem;
  struct backend_problem problem;
  struct gpu_problem wire;
  long long drawn_points; /* see backend.h */
  struct cuda_slot slots[BACKEND_ALL_SLOTS];
  double best_ms; /* shortest time of an application of any variant of the problem; 0: none yet */
};

/* Send a request and wait for the reply. The request is freed. If the worker dies or hangs, that is an error. */
halotune_status cuda_ask(struct cuda *c, struct text *request, double deadline_ms, struct gpu_reply *reply);

/* The time that the reference of so many points may take on a slow GPU, some 1e10 taps a second. */
double cuda_reference_ms(const struct cuda *c, double points);

/* Have a new worker open its GPU, and load the kernels that check. */
halotune_status cuda_open_gpu(struct cuda *c);
halotune_status cuda_prepare(struct cuda *c);

/* Whether the worker may be able to make a scene's fields. */
bool cuda_makes_fields(const struct scene *scene);

/* Have the worker make the fields of a scene that has none, and check seeded parts of them on the CPU.
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if the program has to make them, and the worker has memory to receive them;
 * or what the worker returns. */
halotune_status cuda_make_fields(struct cuda *c);

/* Have the worker allocate the problem. */
halotune_status cuda_allocate_problem(struct cuda *c);

/* Give the worker the problem, with all fields. */
halotune_status cuda_send_problem(struct cuda *c);

/* Make sure that there is a worker with all that the program knows. If there is none, one is started. If it is lost on
 * the way, another one is started, at most CUDA_START_ATTEMPTS in all. */
halotune_status cuda_ensure_worker(struct cuda *c);

/* Put the next part of a cubin into the window, and fill the request for it. Returns the bytes of the part.
 *   done  how many of the cubin's bytes the worker has already */
size_t cuda_write_cubin(struct cuda *c, const struct compiled *compiled, size_t done, struct text *request);

/* Fill a request to load a candidate whose cubin the worker has. gpu_message_end completes it.
 *   results  of the candidate's samples so far */
void cuda_write_load(int slot, const struct candidate *candidate, bool verifies, const struct gpu_results *results,
                     struct text *request);

halotune_status cuda_load(void *state, int slot, const struct candidate *candidate, struct verdict *verdict);
halotune_status cuda_unload(void *state, int slot);
halotune_status cuda_sample(void *state, const struct sample_plan *plan, double *times_ms, int *failed,
                            struct verdict *verdict);
halotune_status cuda_recheck(void *state, int slot, struct verdict *verdict);
halotune_status cuda_verify_all(void *state, int slot, struct verdict *verdict);
halotune_status cuda_energy(void *state, const struct energy_plan *plan, struct energy_sample *out,
                            struct verdict *verdict);

/* Write a span of the trace about what the worker did: from one mark of its reply to another. */
void cuda_trace(const char *name, const struct candidate *candidate, const struct gpu_reply *reply, enum gpu_mark from,
                enum gpu_mark to);

/* Note that a slot is empty. */
void cuda_forget(struct cuda *c, int slot);

#endif
