/* copy.h: asynchronous copies of one thread, bulk copies of one block, or what one thread stores by tensor maps. They
 * happen as late as the model allows: in the wait for them. */
#ifndef EMULATE_RUNTIME_COPY_H
#define EMULATE_RUNTIME_COPY_H

struct tensor;

struct copy {
  unsigned char *to;         /* NULL: to the tensor map's array */
  const unsigned char *from; /* NULL: zeros, or from the tensor map's array */
  unsigned bytes, group;
  const void *barrier;         /* of a bulk copy: where its bytes are counted */
  const struct tensor *tensor; /* NULL: there is no map */
  int at[3];                   /* the element where the map's box begins */
  unsigned char *seen;         /* of a store: what was to be stored when it was issued, from malloc */
  int line;
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
