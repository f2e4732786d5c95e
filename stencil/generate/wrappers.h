/* wrappers.h: files of templates/ as texts in the program: wrappers.cuh, and wrappers_sm_90.cuh, which follows it. */
#ifndef STENCIL_GENERATE_WRAPPERS_H
#define STENCIL_GENERATE_WRAPPERS_H

extern const char wrappers_cuda[], wrappers_sm_90_cuda[];

#endif
