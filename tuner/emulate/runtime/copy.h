/* copy.h: pending asynchronous copies of a thread, bulk copies of a block, and stores of a thread by tensor maps. A
 * copy is done as late as CUDA's memory model allows: in the wait for it. */
#ifndef EMULATE_RUNTIME_COPY_H
#define EMULATE_RUNTIME_COPY_H

struct tensor;

struct copy {
  unsigned char *to;         /* NULL: to the tensor map's array */
  const unsigned char *from; /* NULL: zeros, or from the tensor map's array */
  unsigned bytes, group;
  const void *barrier;         /* of a bulk copy: the barrier that counts its bytes */
  const struct tensor *tensor; /* NULL: the copy uses no map */
  int at[3];                   /* the element at which the map's box begins */
  unsigned char *seen;         /* of a store: a copy of its source at the time of issue, from malloc */
  int line;
};

/* Copies that were issued and are not done yet, in the order of issue. Start with zeros. */
struct copies {
  struct copy *items;
  unsigned first, end, capacity;
  unsigned group; /* the group of the next copy, which is the number of committed groups */
};

/* Append a copy. */
struct copy *copy_add(struct copies *copies);

/* Forget copies for which nothing waited. Their destinations stay poisoned. */
void copies_drop(struct copies *copies);

#endif
