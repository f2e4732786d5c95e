/* schema.h: db/schema.sql and db/schema_4.sql as texts inside the program, and what marks a file as made from the
 * first. */
#ifndef DB_STORE_SCHEMA_H
#define DB_STORE_SCHEMA_H

enum {
  SCHEMA_VERSION = 9,                 /* user_version of the files that this program writes */
  SCHEMA_APPLICATION_ID = 0x48414c4f, /* application_id of all of them: "HALO" */
  SCHEMA_UNTRUSTED_ID = 0x48414c55,   /* of those that keep what was imported without trust: "HALU" */
};

extern const char schema_sql[];

/* The tables of version 4, into which documents of version 1 are read. */
extern const char schema_4_sql[];

#endif
