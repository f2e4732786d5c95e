/* runner.c: the program that executes one compiled variant: `runner VARIANT.so`, with its socket as descriptor 3. It
 * serves launches until the socket closes or a run fails. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tuner/emulate/runtime/block.h"
#include "tuner/emulate/runtime/calls.h"
#include "tuner/emulate/runtime/count.h"
#include "tuner/emulate/runtime/memory.h"
#include "tuner/emulate/runtime/report.h"
#include "tuner/emulate/runtime/signals.h"
#include "tuner/emulate/runtime/tensor_copy.h"
#include "tuner/emulate/runtime/texture.h"

#ifdef EMULATION_ASAN
#include <sanitizer/common_interface_defs.h>

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

/* signals.c reports faults, kernels do not allocate, and a fiber's frames must stay on its stack. */
const char *__asan_default_options(void) {
  return "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:"
         "allow_user_segv_handler=1:detect_stack_use_after_return=0:color=never";
}
const char *__ubsan_default_options(void) { return "print_stacktrace=0:color=never"; }

/* ASan has written its report to stderr, which is a file. */
static void on_asan_death(void) { report(EMULATION_OUT_OF_BOUNDS, "%s", ""); }

void __ubsan_get_current_report_data(const char **kind, const char **message, const char **file, unsigned *line,
                                     unsigned *column, char **address);
void __ubsan_on_report(void);

/* UBSan calls a function of this name for each report. */
void __ubsan_on_report(void) {
  const char *kind, *message, *file;
  unsigned line, column;
  char *address;
  __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &address);
  report(EMULATION_UNDEFINED, "%s:%u:%u: %s", file, line, column, message);
}
#endif

void halotune_misaligned(const void *address, unsigned bytes, int line) {
  report(EMULATION_MISALIGNED, "misaligned vector access of %u bytes at %p in line %d", bytes, address, line);
}

/* Receive a request. Returns false at the end of the connection. */
static bool receive_request(struct emulation_request *request, int descriptors[EMULATION_MAX_BUFFERS]) {
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(EMULATION_MAX_BUFFERS * sizeof(int))];
  } extra;
  struct iovec bytes = {.iov_base = request, .iov_len = sizeof *request};
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof extra};
  if (recvmsg(EMULATION_SOCKET, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *request) return false;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  size_t wanted = request->buffer_count * sizeof(int);
  if (wanted == 0) return true;
  if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(wanted)) return false;
  memcpy(descriptors, CMSG_DATA(header), wanted);
  return true;
}

static const struct kernel *find_kernel(const struct kernel *kernel, const char *name) {
  while (kernel->name && strcmp(kernel->name, name) != 0) kernel++;
  if (!kernel->name) report(EMULATION_BAD_LAUNCH, "the source has no kernel %s", name);
  return kernel;
}

/* Find the value of each argument. `values` holds those that are made here. */
static void make_arguments(struct emulation_request *request, const struct kernel *kernel, void **arguments,
                           unsigned long long *values) {
  if (request->argument_count != kernel->argument_count) {
    report(EMULATION_BAD_LAUNCH, "kernel %s takes %u arguments, not %u", kernel->name, kernel->argument_count,
           request->argument_count);
  }
  for (unsigned i = 0; i < request->argument_count; i++) {
    const struct emulation_wire_argument *argument = &request->arguments[i];
    size_t bytes = argument->kind == EMULATION_ARGUMENT_BYTES    ? argument->bytes
                   : argument->kind == EMULATION_ARGUMENT_TENSOR ? TENSOR_MAP_BYTES
                                                                 : sizeof *values;
    if (bytes != kernel->argument_bytes[i]) {
      report(EMULATION_BAD_LAUNCH, "argument %u of kernel %s has %u bytes, not %zu", i, kernel->name,
             kernel->argument_bytes[i], bytes);
    }
    arguments[i] = &values[i];
    if (argument->kind == EMULATION_ARGUMENT_BYTES) {
      arguments[i] = request->parameters + argument->offset_bytes;
    } else if (argument->kind == EMULATION_ARGUMENT_BUFFER) {
      values[i] = (unsigned long long)(uintptr_t)(memory_of(argument->buffer) + argument->offset_bytes);
    } else if (argument->kind == EMULATION_ARGUMENT_TENSOR) {
      arguments[i] = tensor_make(i, memory_of(argument->buffer) + argument->offset_bytes, &argument->tensor);
    } else {
      values[i] = texture_make(i, memory_of(argument->buffer) + argument->offset_bytes, &argument->texture);
    }
  }
}

/* counts: receives them if the request counts */
static void run_launch(struct emulation_request *request, const int *descriptors, const struct kernel *kernels,
                       struct emulation_counts *counts) {
  static void *arguments[EMULATION_MAX_ARGUMENTS];
  static unsigned long long values[EMULATION_MAX_ARGUMENTS];
  const struct kernel *kernel = find_kernel(kernels, request->kernel);
  const unsigned *block = request->block, *grid = request->grid;
  memory_map(request, descriptors);
  make_arguments(request, kernel, arguments, values);
  if (request->overlaps) memory_hide();
  if (request->counts) count_begin(request->counted_block);
  signals_kernel_begins(request->timeout_ms);
  blocks_run(&(struct launch){.request = request,
                              .kernel = kernel,
                              .arguments = arguments,
                              .thread_count = block[0] * block[1] * block[2],
                              .block_count = (uint64_t)grid[0] * grid[1] * grid[2]});
  signals_kernel_ends();
  if (request->counts) count_end(counts);
  memory_unmap();
}

int main(int argc, char **argv) {
  static struct emulation_request request; /* static, because it has 10 KB, and fibers keep pointers into it */
  static const struct emulation_outcome fine = {.kind = EMULATION_OK};
  static struct emulation_counts counts;
  int descriptors[EMULATION_MAX_BUFFERS];
  if (argc != 2) return EXIT_FAILURE;
#ifdef EMULATION_ASAN
  __sanitizer_set_death_callback(on_asan_death);
#endif
  signals_install();
  void *variant = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  const struct kernel *kernels = variant ? dlsym(variant, KERNEL_TABLE) : NULL;
  if (!kernels) report(EMULATION_BAD_LAUNCH, "the compiled variant cannot be loaded: %s", dlerror());
  while (receive_request(&request, descriptors)) {
    run_launch(&request, descriptors, kernels, &counts);
    report_send(&fine);
    if (request.counts) report_send_counts(&counts);
  }
  return EXIT_SUCCESS;
}
