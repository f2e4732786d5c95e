/* refresh_outcome.h: the outcomes of a refresh for a variant. */
#ifndef DB_EXCHANGE_REFRESH_OUTCOME_H
#define DB_EXCHANGE_REFRESH_OUTCOME_H

/* The outcome for a variant whose template is not the installed one, and the words for it. Only SAME is refreshed. */
#define REFRESH_OUTCOME_LIST(X)                                                        \
  X(SAME, "the installed template generates the same code")                            \
  X(OTHER_CODE, "the installed template generates other code")                         \
  X(OTHER_LAUNCH, "the installed template launches the same code in another way")      \
  X(UNKNOWN_LAUNCH, "a finalist's launch is not stored, and cannot be computed again") \
  X(REFUSED, "the installed template does not allow the configuration")                \
  X(NOT_INSTALLED, "no template of this name is installed")                            \
  X(BROKEN, "the installed template has an error")                                     \
  X(NO_SOURCE, "the source was not kept")                                              \
  X(TWICE, "the same variant has other results with the installed template")           \
  X(CHANGED, "another program changed it meanwhile; refresh once more")                \
  X(TUNED, "a tune goes on in this database; refresh once more when it has ended")
#define REFRESH_AS_ENUMERATOR(name, text) REFRESH_##name,
enum refresh_outcome { REFRESH_OUTCOME_LIST(REFRESH_AS_ENUMERATOR) REFRESH_OUTCOME_COUNT };
#undef REFRESH_AS_ENUMERATOR
extern const char *const refresh_outcome_texts[REFRESH_OUTCOME_COUNT];

#endif
