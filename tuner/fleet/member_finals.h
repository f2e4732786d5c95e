/* member_finals.h: the finalists of a team on one member's GPU. */
#ifndef FLEET_MEMBER_FINALS_H
#define FLEET_MEMBER_FINALS_H

#include "tuner/fleet/member_parts.h"

/* Compile, load and verify the finalists of a FLEET_FINALS message, run them in interleaved rounds, and send their
 * adjusted times (rounds.h). A finalist that fails here has none.
 * Returns HALOTUNE_OK, or what backend or compiler return. */
halotune_status member_finals(struct member_state *member, struct unpack *in);

#endif
