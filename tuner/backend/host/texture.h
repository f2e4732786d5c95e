/* texture.h: the textures of a launch. */
#ifndef TUNER_BACKEND_HOST_TEXTURE_H
#define TUNER_BACKEND_HOST_TEXTURE_H

#include "tuner/backend/host/protocol.h"

/* Describe texture number `slot`, below HOST_MAX_ARGUMENTS, until the next launch does; returns its handle. */
unsigned long long texture_make(unsigned slot, const unsigned char *texels, const struct host_wire_texture *shape);

#endif
