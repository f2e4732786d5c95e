/* tap_picture.h: draws a stencil's taps with characters. */
#ifndef CLI_SHOW_TAP_PICTURE_H
#define CLI_SHOW_TAP_PICTURE_H

#include "base/text/text.h"
#include "tuner/cli/options/loaded_stencil.h"

/* Append the taps of each input on a grid of characters, plane by plane in z. Neighbouring planes that look alike
 * are drawn once. */
void tap_picture(const struct loaded *loaded, struct text *text);

#endif
