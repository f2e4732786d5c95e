/* texture.h: the textures of a launch. */
#ifndef EMULATE_RUNTIME_TEXTURE_H
#define EMULATE_RUNTIME_TEXTURE_H

#include "tuner/emulate/runtime/protocol.h"

/* Describe texture number `slot`, which is below EMULATION_MAX_ARGUMENTS, until the next launch. Returns its handle. */
unsigned long long texture_make(unsigned slot, const unsigned char *texels, const struct emulation_wire_texture *shape);

#endif
