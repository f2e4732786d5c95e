/* texture.c: reads single texels of textures, without normalised coordinates or filters. */
#include "tuner/emulate/runtime/texture.h"

#include <stddef.h>

#include "tuner/emulate/runtime/calls.h"
#include "tuner/emulate/runtime/report.h"

static struct texture {
  const unsigned char *texels;
  struct emulation_wire_texture shape;
} textures[EMULATION_MAX_ARGUMENTS];

/* A handle is neither a small number nor an address, so that a made-up handle is found. */
static const unsigned long long first_handle = 0x7E870000u;

unsigned long long texture_make(unsigned slot, const unsigned char *texels,
                                const struct emulation_wire_texture *shape) {
  textures[slot] = (struct texture){texels, *shape};
  return first_handle + slot;
}

static const struct texture *texture_find(unsigned long long handle) {
  unsigned long long slot = handle - first_handle;
  return slot < EMULATION_MAX_ARGUMENTS && textures[slot].texels ? &textures[slot] : NULL;
}

static long long clamp_coordinate(long long at, uint64_t count) {
  return at < 0 ? 0 : (uint64_t)at >= count ? (long long)count - 1 : at;
}

const void *halotune_texel(unsigned long long texture, long long x, long long y, unsigned texel_bytes, int line) {
  static const unsigned char zeros[16] __attribute__((aligned(16)));
  const struct texture *found = texture_find(texture);
  if (!found) report(EMULATION_UNDEFINED, "line %d reads through %llu, which is not a texture object", line, texture);
  const struct emulation_wire_texture *shape = &found->shape;
  if (shape->texel_bytes != texel_bytes) {
    report(EMULATION_UNDEFINED, "line %d reads texels of %u bytes from a texture of %u", line, texel_bytes,
           shape->texel_bytes);
  }
  long long inside_x = clamp_coordinate(x, shape->width), inside_y = clamp_coordinate(y, shape->height);
  if (shape->zero_outside && (inside_x != x || inside_y != y)) return zeros;
  return found->texels + (uint64_t)inside_y * shape->pitch_bytes + (uint64_t)inside_x * texel_bytes;
}
