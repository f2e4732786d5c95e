/* post.c: queues of letters over the plug-in's functions that begin and test. */
#include "tuner/fleet/mpi/post.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"

static halotune_status fail_of_mpi(const struct post *post, int error, const char *what) {
  char text[FLEET_MPI_TEXT_BYTES] = "";
  post->plugin->error_text(error, text);
  return fail(HALOTUNE_IO, "rank %d on %s: MPI cannot %s: %s", post->world.rank, post->world.host, what, text);
}

halotune_status post_open(const struct fleet_mpi_plugin *plugin, const struct fleet_mpi_world *world, size_t most_bytes,
                          double now_ms, struct post *out) {
  *out = (struct post){.plugin = plugin, .world = *world, .most_bytes = most_bytes, .now_ms = now_ms};
  out->peers = calloc((size_t)world->size, sizeof *out->peers);
  if (!out->peers) return fail_memory();
  for (int i = 0; i < world->size; i++) {
    const bool is_known = i != world->rank && (i == 0 || world->rank == 0);
    out->peers[i] = (struct post_peer){.is_known = is_known};
  }
  return HALOTUNE_OK;
}

/* Free letters. The bytes of a letter that MPI still works on stay, because MPI may use them until the process
 * ends. */
static void letters_free(struct post_letters *letters) {
  for (int i = 0; i < letters->count; i++) {
    if (!letters->list[i].request) free(letters->list[i].bytes);
  }
  free(letters->list);
  *letters = (struct post_letters){0};
}

void post_free(struct post *post) {
  letters_free(&post->out);
  letters_free(&post->in);
  free(post->peers);
  post->peers = NULL;
}

static void letter_remove(struct post_letters *letters, int at) {
  letters->count--;
  memmove(letters->list + at, letters->list + at + 1, (size_t)(letters->count - at) * sizeof *letters->list);
}

/* Append a letter with room for its bytes. Returns it; NULL when memory is out. */
static struct post_letter *letter_add(struct post_letters *letters, int rank, size_t count) {
  char *bytes = malloc(count + 1);
  if (!bytes || !array_room(letters->list, letters->count, letters->room)) {
    free(bytes);
    return NULL;
  }
  struct post_letter *letter = &letters->list[letters->count++];
  *letter = (struct post_letter){.rank = rank, .bytes = bytes, .count = count};
  return letter;
}

halotune_status post_send(struct post *post, int to, const void *bytes, size_t count, double limit_ms) {
  if (post->peers[to].is_gone) return HALOTUNE_OK;
  struct post_letter *letter = letter_add(&post->out, to, count);
  if (!letter) return fail_memory();
  if (count > 0) memcpy(letter->bytes, bytes, count);
  letter->until_ms = post->time_ms + limit_ms;
  return HALOTUNE_OK;
}

/* Begin and end letters. Letters to one rank begin in their order. An error means that the rank cannot be reached. */
static void step_out(struct post *post, bool *is_busy) {
  for (int i = 0; i < post->out.count; i++) {
    struct post_letter *letter = &post->out.list[i];
    struct post_peer *peer = &post->peers[letter->rank];
    int error = 0;
    if (!letter->request && (!peer->is_gone || peer->is_dropped))
      error = post->plugin->send(letter->rank, letter->bytes, letter->count, &letter->request);
    if (!error && letter->request) error = post->plugin->has_ended(letter->request, &letter->has_ended);
    if (error || letter->has_ended) letter->request = NULL;
    if (error || (!letter->has_ended && post->time_ms >= letter->until_ms)) {
      peer->is_gone = true;
      peer->is_dropped = false;
    }
    if (letter->request || (!letter->has_ended && !peer->is_gone)) continue;
    free(letter->bytes);
    letter_remove(&post->out, i--);
    *is_busy = true;
  }
}

/* Begin to receive the letters that have come. */
static halotune_status step_look(struct post *post, bool *is_busy) {
  for (;;) {
    int from = -1;
    size_t count = 0;
    int error = post->plugin->look(&from, &count);
    if (error) return fail_of_mpi(post, error, "look for messages");
    if (from < 0) return HALOTUNE_OK;
    const bool is_too_long = count > post->most_bytes;
    struct post_letter *letter = letter_add(&post->in, from, is_too_long ? 0 : count);
    if (!letter) return fail_memory();
    post->peers[from].heard_ms = post->time_ms;
    *is_busy = true;
    /* A message that is longer than its place is an error for MPI, which throws it away. */
    letter->is_too_long = is_too_long;
    if (is_too_long) post->peers[from].is_gone = true;
    error = post->plugin->receive(from, letter->bytes, letter->count, &letter->request);
    if (error && !is_too_long) return fail_of_mpi(post, error, "receive a message");
  }
}

/* End letters that have come. Signs of life are dropped, and also letters of a rank after the report that it is
 * gone. */
static halotune_status step_in(struct post *post, bool *is_busy) {
  for (int i = 0; i < post->in.count; i++) {
    struct post_letter *letter = &post->in.list[i];
    struct post_peer *peer = &post->peers[letter->rank];
    if (letter->request) {
      const int error = post->plugin->has_ended(letter->request, &letter->has_ended);
      if (error || letter->has_ended) letter->request = NULL;
      if (error && !letter->is_too_long) return fail_of_mpi(post, error, "receive a message");
      if (!error && !letter->has_ended) continue;
      peer->heard_ms = post->time_ms;
      *is_busy = true;
    }
    if (letter->count > 0 && !peer->is_told) continue;
    free(letter->bytes);
    letter_remove(&post->in, i--);
  }
  return HALOTUNE_OK;
}

static halotune_status step_life(struct post *post) {
  for (int i = 0; i < post->world.size; i++) {
    struct post_peer *peer = &post->peers[i];
    if (!peer->is_known || peer->is_gone) continue;
    if (post->time_ms - peer->heard_ms >= POST_SILENCE_MS) {
      peer->is_gone = true;
    } else if (post->time_ms - peer->beat_ms >= POST_BEAT_MS) {
      peer->beat_ms = post->time_ms;
      halotune_status status = post_send(post, i, "", 0, POST_SILENCE_MS);
      if (status != HALOTUNE_OK) return status;
    }
  }
  return HALOTUNE_OK;
}

halotune_status post_step(struct post *post, double now_ms, bool *is_busy) {
  *is_busy = false;
  post->time_ms += fmin(now_ms - post->now_ms, POST_STEP_MS);
  post->now_ms = now_ms;
  halotune_status status = step_look(post, is_busy);
  if (status == HALOTUNE_OK) status = step_in(post, is_busy);
  if (status == HALOTUNE_OK) status = step_life(post);
  if (status == HALOTUNE_OK) step_out(post, is_busy);
  return status;
}

/* Whether an earlier letter of the same rank is still on its way. MPI may end a short letter before a long one. */
static bool is_overtaking(const struct post *post, int at) {
  for (int i = 0; i < at; i++) {
    if (post->in.list[i].rank == post->in.list[at].rank) return true;
  }
  return false;
}

halotune_status post_take(struct post *post, int *from, bool *is_gone, struct text *out) {
  out->length = 0;
  *from = -1;
  *is_gone = false;
  for (int i = 0; i < post->in.count; i++) {
    struct post_letter letter = post->in.list[i];
    if (!letter.has_ended || letter.count == 0 || is_overtaking(post, i)) continue;
    *from = letter.rank;
    text_add(out, letter.bytes, letter.count);
    free(letter.bytes);
    letter_remove(&post->in, i);
    return text_ok(out) ? HALOTUNE_OK : fail_memory();
  }
  for (int i = 0; i < post->world.size; i++) {
    struct post_peer *peer = &post->peers[i];
    if (!peer->is_known || !peer->is_gone || peer->is_told) continue;
    peer->is_told = true;
    *from = i;
    *is_gone = true;
    return HALOTUNE_OK;
  }
  return HALOTUNE_OK;
}

void post_drop(struct post *post, int rank) {
  struct post_peer *peer = &post->peers[rank];
  peer->is_dropped = !peer->is_gone;
  peer->is_gone = peer->is_told = true;
}

bool post_is_sent(const struct post *post) {
  for (int i = 0; i < post->out.count; i++) {
    if (!post->peers[post->out.list[i].rank].is_gone) return false;
  }
  return true;
}

bool post_is_whole(const struct post *post) {
  for (int i = 0; i < post->world.size; i++) {
    if (post->peers[i].is_known && post->peers[i].is_gone) return false;
  }
  return true;
}
