"""shared_pages.py: makes of a tuning database a file of 8 MB with 400 MB of text. Rows of stencil_text share the pages of one long text.

usage: shared_pages.py DATABASE
"""
import re
import sqlite3
import sys

PAGE = 1024
ROWS = 400
# Bytes of texts. As many of them lie beside the row, and their lengths have as many digits, so that a row can be given the other length.
SHORT = 17000
LONG = SHORT + 960*(PAGE - 4)


def varint(value):
    """A number as SQLite writes it: seven bits a byte, the highest first."""
    digits = [value & 127]
    while value > 127:
        value >>= 7
        digits.insert(0, value & 127 | 128)
    return bytes(digits)


def payload(pages):
    """The length of a row with a short text."""
    for length in range(SHORT + 64, SHORT + 128):
        if pages.count(varint(length)) >= ROWS - 1:
            return length
    sys.exit("shared_pages.py: there are no rows")


path = sys.argv[1]
db = sqlite3.connect(path, isolation_level=None)
db.execute("pragma journal_mode = delete")
db.execute("pragma page_size = %d" % PAGE)
db.execute("vacuum")
stencil, origin = db.execute("select stencil_id, origin_id from stencil_text").fetchone()
db.execute("begin")
for i in range(ROWS):
    text = "LLLLLLLL" + "x"*(LONG - 8) if i == 0 else "SSSSSSSS" + "x"*(SHORT - 8)
    db.execute("insert into stencil_text (stencil_id, hash, text, origin_id) values (?, ?, ?, ?)",
               (stencil, "%064x" % i, text, origin))
db.execute("commit")
db.close()

with open(path, "rb") as file:
    pages = file.read()
short = payload(pages)
# Behind the part of a text that lies beside its row is the number of the page where it goes on.
goes_on = re.search(rb"L{8}x*(....)", pages, re.DOTALL).group(1)
pages = re.sub(rb"(S{8}x*)....", lambda match: match.group(1) + goes_on, pages, flags=re.DOTALL)
pages = pages.replace(varint(short), varint(short + LONG - SHORT)).replace(varint(2*SHORT + 13), varint(2*LONG + 13))
with open(path, "wb") as file:
    file.write(pages)
