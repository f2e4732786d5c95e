/* drawn_boxes.h: the part of a box in which results are compared where comparing all of them would take too long:
 * planes and small boxes, some at the ends and others drawn from a seed. */
#ifndef TUNER_VERIFY_DRAWN_BOXES_H
#define TUNER_VERIFY_DRAWN_BOXES_H

#include <stdint.h>

#include "tuner/verify/box.h"

enum { DRAWN_BOXES = 24, DRAWN_BOXES_MOST = 3 * MAX_DIMS + (1 << MAX_DIMS) + DRAWN_BOXES };

/* Draw boxes. Together they are
 *   - for each axis with more than one point the first plane, the last one and one that is drawn. They have all faces,
 *     edges and corners, and with two and three dimensions they cross every boundary between tiles
 *   - boxes of up to 2^18 points in all corners, and DRAWN_BOXES that are drawn
 * Boxes may overlap. If they have as many points as the whole, the whole takes their place.
 *   whole  not empty
 * Returns how many there are. */
int drawn_boxes(const struct box *whole, uint64_t seed, struct box out[DRAWN_BOXES_MOST]);

#endif
