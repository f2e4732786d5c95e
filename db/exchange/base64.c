/* base64.c: three bytes are four characters; = fills the last four. */
#include "db/exchange/base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(const void *bytes, size_t length, struct text *out) {
  const unsigned char *in = bytes;
  for (size_t at = 0; at < length; at += 3) {
    size_t left = length - at;
    uint32_t group = (uint32_t)in[at] << 16 | (left > 1 ? (uint32_t)in[at + 1] << 8 : 0) | (left > 2 ? in[at + 2] : 0);
    char four[4] = {digits[group >> 18], digits[group >> 12 & 63], digits[group >> 6 & 63], digits[group & 63]};
    if (left < 3) four[3] = '=';
    if (left < 2) four[2] = '=';
    text_add(out, four, sizeof four);
  }
}

bool base64_read(const char *text, struct text *out) {
  size_t length = strlen(text);
  if (length % 4 != 0) return false;
  for (size_t at = 0; at < length; at += 4) {
    uint32_t group = 0;
    int fill = 0;
    for (size_t i = 0; i < 4; i++) {
      const char *digit = strchr(digits, text[at + i]);
      bool is_fill = text[at + i] == '=' && at + 4 == length && i >= 2;
      if ((!digit && !is_fill) || (digit && fill > 0)) return false;
      fill += is_fill;
      group = group << 6 | (digit ? (uint32_t)(digit - digits) : 0);
    }
    char three[3] = {(char)(group >> 16), (char)(group >> 8), (char)group};
    if (group & ((1U << (8 * fill)) - 1)) return false; /* bits that stand for nothing */
    text_add(out, three, (size_t)(3 - fill));
  }
  return true;
}
