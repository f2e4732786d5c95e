/* copy.h: asynchronous copies of one thread, or bulk copies of one block. They happen as late as the model allows: in the wait for
 * them. */
#ifndef TUNER_BACKEND_HOST_COPY_H
#define TUNER_BACKEND_HOST_COPY_H

struct copy {
  unsigned char *to;
  const unsigned char *from; /* NULL: zeros */
  unsigned bytes, group;
  const void *barrier; /* of a bulk copy: where its bytes are counted */
};

/* Those that were issued and did not happen yet, in the order of issue. Zero before the first. */
struct copies {
  struct copy *items;
  unsigned first, end, capacity;
  unsigned group; /* the one that the next copy belongs to; as many were committed */
};

/* One more. */
struct copy *copy_add(struct copies *copies);

/* Forget copies that nothing waited for: their destinations stay poisoned. */
void copies_drop(struct copies *copies);

#endif
