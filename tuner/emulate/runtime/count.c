/* count.c: a log of accesses for each thread. At the end the logs of each warp are merged into instructions. */
#include "tuner/emulate/runtime/count.h"

#include <stdlib.h>
#include <string.h>

#include "stencil/template/banks.h"
#include "tuner/emulate/runtime/cluster.h"
#include "tuner/emulate/runtime/memory.h"
#include "tuner/emulate/runtime/report.h"
#include "tuner/emulate/runtime/turn.h"

enum { WORD_BYTES = 4, SECTOR_BYTES = 32, LINE_BYTES = 128, MOST_AT_ONCE = 16 };

enum access_kind { GLOBAL_LOAD, ASYNC_LOAD, GLOBAL_STORE, SHARED_LOAD, SHARED_STORE };

struct access {
  uintptr_t site;         /* identifies the instruction of the program */
  uint64_t at;            /* the address; in shared memory, relative to its start */
  uint32_t stretch, turn; /* how often the thread met others before; how often it was here since then */
  uint8_t kind, bytes, lane;
};

/* The accesses of one thread, in its order. */
struct log {
  struct access *items;
  size_t count, capacity;
  uint32_t stretch;
};

/* One bit for each word of a buffer. */
struct touched {
  uint32_t *lines; /* the words of 128 bytes each */
  size_t line_count;
};

static struct {
  bool on;
  uint64_t block_number;
  struct log logs[MAX_BLOCK_THREADS];
  struct touched loaded[EMULATION_MAX_BUFFERS], stored[EMULATION_MAX_BUFFERS];
  struct emulation_counts counts;
} counting;

void count_begin(uint64_t block_number) {
  counting.on = true;
  counting.block_number = block_number;
  memset(&counting.counts, 0, sizeof counting.counts);
}

/* Tell whether the current thread belongs to the block that is counted. */
static bool counts_now(void) {
  return counting.on && turn.block && turn.block->rank == counting.block_number % cluster_size();
}

static void mark_words(struct touched *touched, unsigned buffer, uint64_t offset, size_t bytes) {
  if (!touched->lines) {
    touched->line_count = (launch.request->buffers[buffer].bytes + LINE_BYTES - 1) / LINE_BYTES;
    touched->lines = must_have(calloc(touched->line_count, sizeof *touched->lines), "places that a block touched");
  }
  for (uint64_t word = offset / WORD_BYTES; word <= (offset + bytes - 1) / WORD_BYTES; word++) {
    uint64_t line = word / (LINE_BYTES / WORD_BYTES);
    if (line < touched->line_count) touched->lines[line] |= UINT32_C(1) << word % (LINE_BYTES / WORD_BYTES);
  }
}

static void touch_global(const void *address, size_t bytes, bool is_store) {
  uint64_t offset;
  int buffer = memory_buffer(address, &offset);
  if (buffer >= 0)
    mark_words(is_store ? &counting.stored[buffer] : &counting.loaded[buffer], (unsigned)buffer, offset, bytes);
}

/* Append an access to the log of the current thread. */
static void note_access(enum access_kind kind, const void *site, uint64_t at, unsigned bytes) {
  struct log *log = &counting.logs[thread_number(turn.thread)];
  if (log->count == log->capacity) {
    log->capacity = log->capacity > 0 ? 2 * log->capacity : 64;
    log->items = must_have(realloc(log->items, log->capacity * sizeof *log->items), "accesses of a thread");
  }
  log->items[log->count++] = (struct access){.site = (uintptr_t)site,
                                             .at = at,
                                             .stretch = log->stretch,
                                             .kind = (uint8_t)kind,
                                             .bytes = (uint8_t)bytes,
                                             .lane = (uint8_t)(thread_number(turn.thread) % WARP_LANES)};
}

/* Note an access to an address. Memory that is neither global nor shared is the thread's own and is not counted. */
static void note_address(const void *site, const void *address, unsigned bytes, bool is_store) {
  uint64_t offset;
  if (cluster_shared_offset(turn.block, address, &offset)) {
    note_access(is_store ? SHARED_STORE : SHARED_LOAD, site, offset, bytes);
  } else if (memory_buffer(address, &offset) >= 0) {
    touch_global(address, bytes, is_store);
    note_access(is_store ? GLOBAL_STORE : GLOBAL_LOAD, site, (uintptr_t)address, bytes);
  }
}

/* Note an access of any size, in pieces that one instruction can move. */
static void note_all(const void *site, const void *address, size_t bytes, bool is_store) {
  if (!counts_now()) return;
  for (size_t done = 0; done < bytes; done += MOST_AT_ONCE) {
    size_t left = bytes - done;
    note_address((const char *)site + done, (const char *)address + done,
                 left < MOST_AT_ONCE ? (unsigned)left : MOST_AT_ONCE, is_store);
  }
}

void count_meeting(void) {
  if (counts_now()) counting.logs[thread_number(turn.thread)].stretch++;
}

void count_async_copy(const void *site, const void *to, const void *from, unsigned bytes) {
  if (!counts_now()) return;
  if (from) touch_global(from, bytes, false);
  if (from) note_access(ASYNC_LOAD, site, (uintptr_t)from, bytes);
  note_address(site, to, bytes, true);
}

void count_engine_bytes(const void *in_buffer, size_t bytes, bool is_store) {
  if (!counts_now() || bytes == 0) return;
  touch_global(in_buffer, bytes, is_store);
  *(is_store ? &counting.counts.engine_stored_bytes : &counting.counts.engine_loaded_bytes) += bytes;
}

void count_engine_copy(void) {
  if (counts_now()) counting.counts.engine_copies++;
}

/* ---- the functions that the compiler calls, named by gcc and clang. The return address identifies the access.
 * NOLINTBEGIN(bugprone-reserved-identifier) */

#define HOOK(name, bytes, is_store) \
  void name(void *address);         \
  void name(void *address) { note_all(__builtin_return_address(0), address, bytes, is_store); }
#define HOOKS(bytes)                                        \
  HOOK(__tsan_read##bytes, bytes, false)                    \
  HOOK(__tsan_write##bytes, bytes, true)                    \
  HOOK(__tsan_unaligned_read##bytes, bytes, false)          \
  HOOK(__tsan_unaligned_write##bytes, bytes, true)          \
  HOOK(__tsan_volatile_read##bytes, bytes, false)           \
  HOOK(__tsan_volatile_write##bytes, bytes, true)           \
  HOOK(__tsan_unaligned_volatile_read##bytes, bytes, false) \
  HOOK(__tsan_unaligned_volatile_write##bytes, bytes, true)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_read_range(void *address, size_t bytes);
void __tsan_write_range(void *address, size_t bytes);
void __tsan_read_range(void *address, size_t bytes) { note_all(__builtin_return_address(0), address, bytes, false); }
void __tsan_write_range(void *address, size_t bytes) { note_all(__builtin_return_address(0), address, bytes, true); }

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
/* NOLINTEND(bugprone-reserved-identifier) */

/* ---- from the logs of threads to the instructions of warps */

static int by_instruction(const void *a, const void *b) {
  const struct access *x = a, *y = b;
  if (x->stretch != y->stretch) return x->stretch < y->stretch ? -1 : 1;
  if (x->site != y->site) return x->site < y->site ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->turn != y->turn) return x->turn < y->turn ? -1 : 1;
  return (int)x->lane - (int)y->lane;
}

static bool is_same_instruction(const struct access *x, const struct access *y) {
  return x->stretch == y->stretch && x->site == y->site && x->kind == y->kind && x->turn == y->turn;
}

/* Set the turns of a log. At first `turn` is the place in the log, so that sorting keeps the order of accesses that are
 * otherwise equal. */
static void number_turns(struct log *log) {
  for (size_t i = 0; i < log->count; i++) log->items[i].turn = (uint32_t)i;
  qsort(log->items, log->count, sizeof *log->items, by_instruction);
  for (size_t i = 0, first = 0; i < log->count; i++) {
    const struct access *item = &log->items[i], *before = &log->items[first];
    if (item->stretch != before->stretch || item->site != before->site || item->kind != before->kind) first = i;
    log->items[i].turn = (uint32_t)(i - first);
  }
}

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* Count the different sectors of one instruction. */
static uint64_t count_sectors(const struct access *lanes, size_t count) {
  uint64_t sectors[2 * WARP_LANES] = {0}, different = 0;
  size_t all = 0;
  for (size_t i = 0; i < count; i++) {
    sectors[all++] = lanes[i].at / SECTOR_BYTES;
    sectors[all++] = (lanes[i].at + lanes[i].bytes - 1) / SECTOR_BYTES;
  }
  qsort(sectors, all, sizeof *sectors, by_value);
  for (size_t i = 0; i < all; i++) different += i == 0 || sectors[i] != sectors[i - 1];
  return different;
}

static void add_global(struct emulation_global_counts *counts, const struct access *lanes, size_t count) {
  counts->instructions++;
  counts->lanes += count;
  for (size_t i = 0; i < count; i++) counts->bytes += lanes[i].bytes;
  counts->sectors += count_sectors(lanes, count);
}

static void add_shared(struct emulation_shared_counts *counts, const struct access *lanes, size_t count) {
  uint64_t addresses[BANKS_LANES] = {0};
  uint32_t mask = 0;
  int fewest;
  for (size_t i = 0; i < count; i++) {
    addresses[lanes[i].lane] = lanes[i].at;
    mask |= UINT32_C(1) << lanes[i].lane;
    counts->bytes += lanes[i].bytes;
  }
  uint64_t wavefronts = (uint64_t)banks_wavefronts(addresses, mask, lanes[0].bytes, &fewest);
  counts->instructions++;
  counts->lanes += count;
  counts->wavefronts += wavefronts;
  counts->fewest_wavefronts += (uint64_t)fewest;
  struct emulation_counts *all = &counting.counts;
  if (all->worst_fewest == 0 || wavefronts * all->worst_fewest > all->worst_wavefronts * (uint64_t)fewest) {
    all->worst_wavefronts = wavefronts;
    all->worst_fewest = (uint64_t)fewest;
  }
}

static void add_instruction(const struct access *lanes, size_t count) {
  struct emulation_counts *counts = &counting.counts;
  counts->async_copies += lanes[0].kind == ASYNC_LOAD;
  switch ((enum access_kind)lanes[0].kind) {
  case ASYNC_LOAD:
  case GLOBAL_LOAD: add_global(&counts->global_loads, lanes, count); break;
  case GLOBAL_STORE: add_global(&counts->global_stores, lanes, count); break;
  case SHARED_LOAD: add_shared(&counts->shared_loads, lanes, count); break;
  case SHARED_STORE: add_shared(&counts->shared_stores, lanes, count); break;
  }
}

/* Merge the logs of a warp's lanes and count its instructions. */
static void add_warp(struct log *logs, unsigned lane_count) {
  size_t count = 0;
  for (unsigned lane = 0; lane < lane_count; lane++) {
    number_turns(&logs[lane]);
    count += logs[lane].count;
  }
  if (count == 0) return;
  struct access *all = must_have(malloc(count * sizeof *all), "accesses of a warp"), *end = all;
  for (unsigned lane = 0; lane < lane_count; lane++) {
    if (logs[lane].count > 0) memcpy(end, logs[lane].items, logs[lane].count * sizeof *all);
    end += logs[lane].count;
  }
  qsort(all, count, sizeof *all, by_instruction);
  for (size_t i = 0, next; i < count; i = next) {
    for (next = i + 1; next < count && is_same_instruction(&all[i], &all[next]);) next++;
    add_instruction(&all[i], next - i);
  }
  free(all);
}

static struct emulation_touched sum_touched(struct touched *touched) {
  struct emulation_touched sum = {0};
  for (size_t i = 0; i < touched->line_count; i++) {
    uint32_t words = touched->lines[i];
    if (words == 0) continue;
    sum.lines++;
    sum.words += (uint64_t)__builtin_popcount(words);
    for (uint32_t sector = UINT32_C(0xFF); sector != 0; sector <<= SECTOR_BYTES / WORD_BYTES) {
      sum.sectors += (words & sector) != 0;
    }
  }
  free(touched->lines);
  *touched = (struct touched){0};
  return sum;
}

void count_end(struct emulation_counts *out) {
  counting.on = false;
  counting.counts.threads = launch.thread_count;
  for (unsigned first = 0; first < launch.thread_count; first += WARP_LANES) {
    unsigned left = launch.thread_count - first;
    add_warp(&counting.logs[first], left < WARP_LANES ? left : WARP_LANES);
  }
  for (unsigned i = 0; i < launch.thread_count; i++) {
    free(counting.logs[i].items);
    counting.logs[i] = (struct log){0};
  }
  for (unsigned i = 0; i < EMULATION_MAX_BUFFERS; i++) {
    counting.counts.loaded[i] = sum_touched(&counting.loaded[i]);
    counting.counts.stored[i] = sum_touched(&counting.stored[i]);
  }
  *out = counting.counts;
}
