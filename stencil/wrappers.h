/* wrappers.h: templates/wrappers.cuh as a text inside the program, because every generated source begins with it. */
#ifndef STENCIL_WRAPPERS_H
#define STENCIL_WRAPPERS_H

extern const char wrappers_cuda[];

#endif
