/* banks.h: the number of wavefronts that one access of a warp to shared memory takes. The emulation's runner compiles
 * this file, too, so it includes nothing else of the tree. */
#ifndef STENCIL_TEMPLATE_BANKS_H
#define STENCIL_TEMPLATE_BANKS_H

#include <stdint.h>

enum {
  BANKS_LANES = 32,
  BANKS_COUNT = 32,
  BANKS_BYTES = 4,              /* of one bank, a word */
  BANKS_MAX_BYTES_AT_ONCE = 16, /* that one instruction moves for a lane */
};

/* Count the wavefronts of lanes that are served together: the largest number of different words in one bank. Lanes that
 * access the same word share it. */
static inline int banks_wavefronts_of_part(const uint64_t addresses[BANKS_LANES], uint32_t lanes, int bytes) {
  uint64_t words[BANKS_COUNT][BANKS_LANES];
  int in_bank[BANKS_COUNT] = {0}, most = 0;
  for (int lane = 0; lane < BANKS_LANES; lane++) {
    if (!(lanes >> lane & 1)) continue;
    uint64_t last = (addresses[lane] + (uint64_t)bytes - 1) / BANKS_BYTES;
    for (uint64_t word = addresses[lane] / BANKS_BYTES; word <= last; word++) {
      int bank = (int)(word % BANKS_COUNT), k = 0;
      while (k < in_bank[bank] && words[bank][k] != word) k++;
      if (k == in_bank[bank]) words[bank][in_bank[bank]++] = word;
      if (in_bank[bank] > most) most = in_bank[bank];
    }
  }
  return most;
}

/* Count the wavefronts of one access. Accesses of 8 bytes are served by half warps, accesses of 16 bytes by quarters.
 *   addresses  of the lanes, in bytes
 *   lanes      one bit for each active lane
 *   bytes      of each lane, 1 to 16
 *   fewest     receives the number of wavefronts if there were no conflicts */
static inline int banks_wavefronts(const uint64_t addresses[BANKS_LANES], uint32_t lanes, int bytes, int *fewest) {
  int together = bytes <= BANKS_BYTES ? BANKS_LANES : BANKS_LANES * BANKS_BYTES / bytes, taken = 0;
  uint32_t first = together < BANKS_LANES ? (UINT32_C(1) << together) - 1 : UINT32_MAX;
  *fewest = 0;
  for (int at = 0; at < BANKS_LANES; at += together) {
    uint32_t part = lanes & first << at;
    if (part == 0) continue;
    taken += banks_wavefronts_of_part(addresses, part, bytes);
    ++*fewest;
  }
  return taken;
}

#endif
