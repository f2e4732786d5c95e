/* backend.c: what all backends share. */
#include "tuner/measure/backends/backend.h"

void backend_close(struct backend_handle *backend) {
  if (backend->table) backend->table->close(backend->state);
  *backend = (struct backend_handle){.table = NULL};
}
