/* fiber.c: keeps a pool of stacks with guard pages, and switches between them. It switches in assembler on x86-64 and
 * aarch64. Elsewhere it uses ucontext, which is about six times slower, because it asks the system to save the signal
 * mask. */
#include "tuner/emulate/runtime/fiber.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "tuner/emulate/runtime/report.h"

#ifdef EMULATION_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__) && !defined(__aarch64__)
#define FIBER_UCONTEXT
#endif
#ifdef FIBER_UCONTEXT
#include <ucontext.h>
#endif

enum {
  GUARD_BYTES = 65536, /* a whole number of pages on any usual system */
  SLOT_BYTES = GUARD_BYTES + FIBER_STACK_BYTES,
  CHUNK_FIBERS = 64,
  MAX_CHUNKS = 1024,
  COLOUR_BYTES =
      192, /* offset between the tops of neighbouring stacks, so that they do not share the same cache lines */
  COLOURS_BYTES = 4096,
};

/* It is at the top of its stack, in cache lines that a switch uses anyway. */
struct fiber {
#ifdef FIBER_UCONTEXT
  ucontext_t context;
#else
  void *stack_pointer; /* while it does not run */
#endif
  struct fiber *next; /* in the pool */
  char *bottom;       /* of the stack; for the program's own stack NULL until ASan tells it */
  size_t stack_bytes;
};

static struct fiber program, *pool;
static char *chunks[MAX_CHUNKS];
static int chunk_count;

#ifdef FIBER_UCONTEXT

static void prepare_stack(struct fiber *fiber, void (*entry)(void)) {
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->bottom;
  fiber->context.uc_stack.ss_size = (size_t)((char *)fiber - fiber->bottom);
  fiber->context.uc_link = NULL;
  makecontext(&fiber->context, entry, 0);
}

static void switch_stacks(struct fiber *from, struct fiber *to) { swapcontext(&from->context, &to->context); }

#else

/* Push the registers that a called function must preserve, exchange the stack pointer, and pop them again. It jumps
 * back with an indirect jump instead of `ret`, because the processor would predict a `ret` from the calls of the old
 * stack. */
void halotune_switch_stacks(void **save, void *load);

#ifdef __x86_64__
__asm__(".text\n"
        ".globl halotune_switch_stacks\n"
        ".type halotune_switch_stacks, @function\n"
        "halotune_switch_stacks:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  popq %rcx\n"
        "  jmp *%rcx\n"
        ".size halotune_switch_stacks, . - halotune_switch_stacks\n");
enum { ENTRY_WORD = 6, FRAME_WORDS = 8 }; /* the last word stands for the caller's return address */
#else
__asm__(".text\n"
        ".globl halotune_switch_stacks\n"
        ".type halotune_switch_stacks, %function\n"
        "halotune_switch_stacks:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n"
        "  mov sp, x1\n"
        "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  br x30\n"
        ".size halotune_switch_stacks, . - halotune_switch_stacks\n");
enum { ENTRY_WORD = 11, FRAME_WORDS = 20 };
#endif

static void prepare_stack(struct fiber *fiber, void (*entry)(void)) {
  uintptr_t top = (uintptr_t)fiber & ~(uintptr_t)15;
  void **frame = (void **)top - FRAME_WORDS;
  memset(frame, 0, FRAME_WORDS * sizeof *frame);
  memcpy(&frame[ENTRY_WORD], &entry, sizeof entry);
  fiber->stack_pointer = frame;
}

static void switch_stacks(struct fiber *from, struct fiber *to) {
  halotune_switch_stacks(&from->stack_pointer, to->stack_pointer);
}

#endif

/* Switch stacks, and tell ASan which stack is in use. ASan itself knows where the program's own stack is. */
void fiber_switch(struct fiber *from, struct fiber *to) {
#ifdef EMULATION_ASAN
  void *fake_stack;
  __sanitizer_start_switch_fiber(&fake_stack, to->bottom, to->stack_bytes);
  switch_stacks(from, to);
  __sanitizer_finish_switch_fiber(fake_stack, NULL, NULL);
#else
  switch_stacks(from, to);
#endif
}

static void (*fiber_entry)(void);

/* The start of a new fiber. Another fiber did the first half of its first switch. */
static void enter_fiber(void) {
#ifdef EMULATION_ASAN
  const void *bottom;
  size_t bytes;
  __sanitizer_finish_switch_fiber(NULL, &bottom, &bytes);
  if (!program.bottom) {
    memcpy(&program.bottom, &bottom, sizeof bottom);
    program.stack_bytes = bytes;
  }
#endif
  fiber_entry();
}

static void add_chunk(void) {
  char *chunk = MAP_FAILED;
  if (chunk_count < MAX_CHUNKS) {
    chunk =
        mmap(NULL, (size_t)CHUNK_FIBERS * SLOT_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (chunk == MAP_FAILED) report_out_of_memory("stacks for the threads");
  for (int i = CHUNK_FIBERS - 1; i >= 0; i--) { /* the pool is used from its front */
    char *bottom = chunk + (size_t)i * SLOT_BYTES + GUARD_BYTES;
    if (mprotect(bottom, FIBER_STACK_BYTES, PROT_READ | PROT_WRITE) != 0)
      report_out_of_memory("stacks for the threads");
    size_t colour = (size_t)i * COLOUR_BYTES % COLOURS_BYTES, above = (sizeof(struct fiber) + 63) / 64 * 64 + colour;
    struct fiber *fiber = (struct fiber *)(void *)(bottom + FIBER_STACK_BYTES - above);
    *fiber = (struct fiber){.bottom = bottom, .stack_bytes = FIBER_STACK_BYTES};
    prepare_stack(fiber, enter_fiber);
    fiber_give(fiber);
  }
  chunks[chunk_count++] = chunk;
}

struct fiber *fiber_of_the_program(void) {
  return &program;
}

struct fiber *fiber_take(void (*entry)(void)) {
  fiber_entry = entry;
  if (!pool) add_chunk();
  struct fiber *fiber = pool;
  pool = fiber->next;
  return fiber;
}

void fiber_give(struct fiber *fiber) {
  fiber->next = pool;
  pool = fiber;
}

bool fiber_guards(const void *address) {
  uintptr_t at = (uintptr_t)address;
  for (int i = 0; i < chunk_count; i++) {
    uintptr_t offset = at - (uintptr_t)chunks[i];
    if (at >= (uintptr_t)chunks[i] && offset < (uintptr_t)CHUNK_FIBERS * SLOT_BYTES)
      return offset % SLOT_BYTES < GUARD_BYTES;
  }
  return false;
}
