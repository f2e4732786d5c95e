/* page.c: puts a document into the page. reports/page/build.sh makes the page, and the assembler builds it into the
 * program; it looks for the page from the root of the tree. The page is split in two halves, before and after the
 * document. */
#include <string.h>

#include "reports/page/page.h"

__asm__(".pushsection .rodata\n"
        ".globl report_page_html\n"
        ".hidden report_page_html\n"
        "report_page_html: .incbin \"build/report/page.html\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char report_page_html[] __attribute__((visibility("hidden")));

/* The place of the document, inside a script element of a type that browsers do not run. */
static const char mark[] = "@HALOTUNE_DOCUMENT@";

/* Append the document with each '<' escaped, so that nothing in it can end the element. In JSON a '<' occurs only in
 * texts. */
static void add_escaped(const struct text *document, struct text *out) {
  const char *at = document->bytes, *end = at + document->length;
  for (const char *next; at < end; at = next) {
    next = memchr(at, '<', (size_t)(end - at));
    if (!next) next = end;
    text_add(out, at, (size_t)(next - at));
    if (next == end) break;
    text_add(out, "\\u003c", strlen("\\u003c"));
    next++;
  }
}

halotune_status report_page(const struct text *document, struct text *out) {
  const char *place = strstr(report_page_html, mark);
  if (!place) {
    return fail(
        HALOTUNE_IO,
        "this program was built without the page of the report: install node and npm, and run 'make' again; 'halotune report --json' works without the page");
  }
  text_add(out, report_page_html, (size_t)(place - report_page_html));
  add_escaped(document, out);
  place += strlen(mark);
  text_add(out, place, strlen(place));
  return text_ok(out) ? HALOTUNE_OK : fail_memory();
}
