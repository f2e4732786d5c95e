/* halotune.h: the public interface of Halotune, complete in this one file.
 *
 * Names start with halotune_ (HALOTUNE_ for macros and enumerators). Functions never print and never exit; they return a
 * halotune_status. */
#ifndef HALOTUNE_H
#define HALOTUNE_H

#ifdef __cplusplus
extern "C" {
#endif

#define HALOTUNE_VERSION_MAJOR 0
#define HALOTUNE_VERSION_MINOR 1
#define HALOTUNE_VERSION_PATCH 0
#define HALOTUNE_VERSION "0.1.0"

/* Everything that a call can report: name, number, sentence. The numbers are pinned, because they end up in scripts and
 * databases; a new status takes the next free number. */
#define HALOTUNE_STATUS_LIST(X)                                         \
  X(OK, 0, "success")                                                   \
  X(NOT_FOUND, 1, "nothing of that name or for that problem was found") \
  X(NO_GPU, 2, "no usable CUDA driver or device")                       \
  X(DB, 3, "the tuning database reported an error")                     \
  X(PARSE, 4, "a text file has an error")                               \
  X(IO, 5, "a file could not be read or written")                       \
  X(MEMORY, 6, "out of memory")                                         \
  X(ARGUMENT, 7, "an argument is out of its range")                     \
  X(NO_NVRTC, 8, "NVRTC, NVIDIA's run-time compiler, was not found")    \
  X(COMPILE, 9, "the compiler rejected the source")

#define HALOTUNE_AS_ENUMERATOR(name, number, text) HALOTUNE_##name = number,
typedef enum { HALOTUNE_STATUS_LIST(HALOTUNE_AS_ENUMERATOR) } halotune_status;
#undef HALOTUNE_AS_ENUMERATOR

/* The sentence of a status, in English. Never NULL; a static string, also for a number that this version does not know.
 * Threads: any number at once. Since 0.1. */
const char *halotune_strstatus(halotune_status status);

#ifdef __cplusplus
}
#endif
#endif
