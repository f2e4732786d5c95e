/* number.h: reads and writes numbers with a decimal point, whatever locale the program has set. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

enum { NUMBER_TEXT_BYTES = 32 };

/* Read a number as strtod does in the "C" locale.
 *   end  receives the position after the number, or `text` if there is no number; may be NULL
 * Returns the number; NAN if there is none. Threads: any number at once. */
double number_read(const char *text, const char **end);

/* Write a number with the fewest digits that number_read reads back as the same number: 0.1, 2, 1e-08.
 *   number_write  the same double
 *   float_write   the same float, which needs fewer digits */
void number_write(double number, char text[NUMBER_TEXT_BYTES]);
void float_write(float number, char text[NUMBER_TEXT_BYTES]);

#endif
