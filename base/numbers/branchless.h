/* branchless.h: small functions without branches. Compilers vectorize them, but not `?:`, ceil, log and exp. */
#ifndef BASE_BRANCHLESS_H
#define BASE_BRANCHLESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* condition ? yes : no */
static inline float pick(bool condition, float yes, float no) {
  const uint32_t mask = 0 - (uint32_t)condition;
  return float_of_bits((float_bits(yes) & mask) | (float_bits(no) & ~mask));
}

static inline double pick_double(bool condition, double yes, double no) {
  uint64_t yes_bits, no_bits;
  const uint64_t mask = 0 - (uint64_t)condition;
  double value;
  memcpy(&yes_bits, &yes, sizeof yes_bits);
  memcpy(&no_bits, &no, sizeof no_bits);
  yes_bits = (yes_bits & mask) | (no_bits & ~mask);
  memcpy(&value, &yes_bits, sizeof value);
  return value;
}

/* ceil(value) of a number that is not negative. Numbers from 2^23 or 2^52 on are whole; a smaller one is rounded when
 * such a number is added. */
static inline float round_up(float value) {
  const float whole = 0x1p23F, rounded = (value + whole) - whole;
  return pick(value < whole, rounded + pick(rounded < value, 1, 0), value);
}

static inline double round_up_double(double value) {
  const double whole = 0x1p52, rounded = (value + whole) - whole;
  return pick_double(value < whole, rounded + pick_double(rounded < value, 1, 0), value);
}

static const float log_of_2 = 0.69314718F;

/* The logarithm of a positive, normal number, right to 1e-6 of it or of 1: that of a power of two, and 2 artanh(x) =
 * 2 (x + x^3/3 + x^5/5 + ...) for the rest, which is between the roots of 1/2 and 2. */
static inline float rough_log(float value) {
  const uint32_t root_of_half = 0x3f3504f3;
  const int32_t power = (int32_t)(float_bits(value) - root_of_half) >> 23;
  const float rest = float_of_bits(float_bits(value) - ((uint32_t)power << 23));
  const float x = (rest - 1) / (rest + 1), square = x * x;
  return (float)power * log_of_2 + 2 * x * (1 + square * (1 / 3.0F + square * (1 / 5.0F + square * (1 / 7.0F))));
}

/* The power of e, right to 1e-5 of it; of -80 for smaller exponents, and of 80 for larger ones. It is a power of two,
 * times the series of the rest, which is between -0.35 and 0.35. */
static inline float rough_exp(float exponent) {
  const float most = 80, low = pick(exponent > -most, exponent, -most), held = pick(low < most, low, most);
  const int32_t power = (int32_t)(held * (1 / log_of_2) + pick(held < 0, -0.5F, 0.5F));
  const float x = held - (float)power * log_of_2;
  const float rest =
      1 + x * (1 + x * (1 / 2.0F) *
                       (1 + x * (1 / 3.0F) * (1 + x * (1 / 4.0F) * (1 + x * (1 / 5.0F) * (1 + x * (1 / 6.0F))))));
  return rest * float_of_bits((uint32_t)(power + 127) << 23);
}

#endif
