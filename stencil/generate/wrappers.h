/* wrappers.h: files of templates/ as texts inside the program: wrappers.cuh, with which every generated source begins;
 * wrappers_sm_90.cuh, which follows it; and common.cuh, which templates share. */
#ifndef STENCIL_GENERATE_WRAPPERS_H
#define STENCIL_GENERATE_WRAPPERS_H

extern const char wrappers_cuda[], wrappers_sm_90_cuda[], common_cuda[];

#endif
