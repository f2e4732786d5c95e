/* indices.h: where the running thread is in its launch. */
#ifndef EMULATE_RUNTIME_INDICES_H
#define EMULATE_RUNTIME_INDICES_H

struct index3 {
  unsigned x, y, z;
};

/* The variables that a kernel reads under these names. They are set at every change of turn. */
extern struct index3 threadIdx, blockIdx, blockDim, gridDim;

#endif
