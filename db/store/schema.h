/* schema.h: db/schema.sql as a text inside the program, and what marks a file as made from it. */
#ifndef DB_STORE_SCHEMA_H
#define DB_STORE_SCHEMA_H

enum {
  SCHEMA_VERSION = 4,                 /* user_version of the files that this program writes */
  SCHEMA_APPLICATION_ID = 0x48414c4f, /* application_id of all of them: "HALO" */
};

extern const char schema_sql[];

#endif
