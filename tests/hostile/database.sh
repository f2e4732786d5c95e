#!/bin/sh
# database.sh: databases that are made by hand: rows that share pages, and words that are no words where a program prints them. Prints TAP.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-python3}
here=$(dirname "$0")
. "$here/parts.sh"

"$halotune" db import --trust --yes --db "$work/honest.db" tests/data/tuned.json >/dev/null 2>&1
result "the honest database is made" $?

# 400 MB of text in 8 MB. The whole of it would be read by each command, and of a larger file without end.
cp "$work/honest.db" "$work/shared.db"
"$python" "$here/shared_pages.py" "$work/shared.db"
result "a database is made whose rows share pages" $?
for words in 'query star7 --device sm_90 --grid 512,512,512' "report -o $work/report.html"; do
  survives $words --db "$work/shared.db" && [ $code = 6 ] && grep -q 'was made so that reading it never ends' "$work/said"
  result "rows that share pages: '${words%% *}' ends (exit $code)" $?
done
for words in 'db import' 'db import --trust' 'db merge --trust'; do
  survives $words --db "$work/own.db" "$work/shared.db" && [ $code = 6 ] && grep -q 'the file is damaged' "$work/said"
  result "rows that share pages: '$words' refuses them (exit $code)" $?
done
survives tune copy --backend host --grid 32 --template direct --max-variants 1 --db "$work/tuned.db" --hints "$work/shared.db" && [ $code = 6 ] && grep -q 'the file is damaged' "$work/said"
result "rows that share pages: 'tune --hints' refuses them (exit $code)" $?

# More than is copied into memory: the honest rows, and free pages that are holes in the file.
"$python" - "$work/honest.db" "$work/large.db" <<'END'
import struct, sys
head = bytearray(open(sys.argv[1], "rb").read())
size = struct.unpack(">H", head[16:18])[0]
used, count, most = len(head) // size, (9 << 28) // size, size // 4 - 1
free = [page for page in range(used + 1, count + 1) if page != (1 << 30) // size + 1]  # the page with the bytes of locks is never used
lists = [free[at:at + most] for at in range(0, len(free), most)]
with open(sys.argv[2], "wb") as file:
    struct.pack_into(">3I", head, 28, count, free[0], len(free))
    head[92:96] = head[24:28]
    file.write(head)
    for trunk, following in zip(lists, lists[1:] + [[0]]):
        file.seek((trunk[0] - 1) * size)
        file.write(struct.pack(f">{len(trunk) + 1}I", following[0], len(trunk) - 1, *trunk[1:]))
    file.truncate(count * size)
END
result "a large database is made" $?
for words in 'db import' 'db import --trust' 'db merge --trust'; do
  survives $words --db "$work/own.db" "$work/large.db" && [ $code = 6 ] && grep -q 'large.db: it is larger than 1 GiB' "$work/said"
  result "a large database: '$words' refuses it, and the message says what to do (exit $code)" $?
done
rm "$work/large.db"

# Files are looked into in the order of their names, for half a second.
cp "$work/honest.db" "$work/mine.db" && survives db import --db "$work/mine.db" tests/data/db/copy.json
"$python" -c 'import os, sys
folder = sys.argv[1]
(name,) = os.listdir(folder)
for i in range(8000): os.link(f"{folder}/{name}", f"{folder}/a{i}.db")' "$work/mine.db.untrusted"
survives query star7 --device 'NVIDIA H200' --grid 99,99,99 --db "$work/mine.db" && [ $code = 0 ] && grep -q 'too many imported files that are not trusted' "$work/said"
result "thousands of files that are kept apart: a line says that one may be overlooked (exit $code)" $?
rm -r "$work/mine.db.untrusted" "$work/mine.db"

# SQLite opens a journal to look whether it is one that was left.
for kind in journal wal; do
  cp "$work/honest.db" "$work/piped.db" && mkfifo "$work/piped.db-$kind"
  for words in 'db info --db' 'db import'; do
    survives $words "$work/piped.db" && [ $code = 6 ] && grep -q "piped.db-$kind beside it is not a regular file" "$work/said"
    result "a pipe in place of the $kind: '${words% --db}' does not wait for it (exit $code)" $?
  done
  rm "$work/piped.db-$kind"
done

# The journal and the WAL of another user, who can write to the folder but not to the database. A mere query wrote the pages of such a
# journal into the database.
if [ "$(id -u)" = 0 ]; then
  "$python" - "$work" <<'END'
import shutil, sqlite3, struct, sys
work = sys.argv[1]
change = "update best set time_ms = time_ms / 1000, low_ms = low_ms / 1000, high_ms = high_ms / 1000"
shutil.copy(work + "/honest.db", work + "/logged.db")
log = sqlite3.connect(work + "/logged.db")
log.execute("pragma journal_mode = wal")
shutil.copy(work + "/logged.db", work + "/before.db")
log.execute("pragma wal_autocheckpoint = 0")
log.execute(change)
log.commit()
shutil.copy(work + "/logged.db-wal", work + "/planted-wal")
log.close()
shutil.move(work + "/before.db", work + "/logged.db")
shutil.copy(work + "/honest.db", work + "/after.db")
after = sqlite3.connect(work + "/after.db")
after.execute(change)
after.commit()
after.close()
old, new = (open(f"{work}/{name}.db", "rb").read() for name in ("honest", "after"))
size = struct.unpack(">H", old[16:18])[0]
pages = [(at // size + 1, new[at:at + size]) for at in range(0, len(new), size) if old[at:at + size] != new[at:at + size]]
with open(work + "/planted-journal", "wb") as journal:
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", len(pages), 0, len(old) // size, 512, size)
    journal.write(head.ljust(512, b"\0"))
    for number, page in pages:
        journal.write(struct.pack(">I", number) + page + struct.pack(">I", sum(page[at] for at in range(size - 200, 0, -200))))
END
  result "a journal and a WAL with other times are made" $?
  for kind in journal wal; do
    name=$([ $kind = wal ] && echo logged || echo honest)
    cp "$work/$name.db" "$work/mine.db" && cp "$work/planted-$kind" "$work/mine.db-$kind" && chown 12345 "$work/mine.db-$kind"
    survives query star7 --device 'NVIDIA H200' --grid 512,512,512 --db "$work/mine.db" && [ $code = 6 ] && cmp -s "$work/$name.db" "$work/mine.db" &&
      grep -q "mine.db-$kind beside it belongs to user 12345" "$work/said"
    result "a $kind of another user decides nothing (exit $code)" $?
    chmod o+w "$work/mine.db"
    survives query star7 --device 'NVIDIA H200' --grid 512,512,512 --db "$work/mine.db" && [ $code = 0 ] && grep -q '^time  *0.0002' "$work/out"
    result "a $kind of a user who may write to the database is read (exit $code)" $?
    rm -f "$work"/mine.db*
  done
  # All users can make a file with the group of a folder that has S_ISGID, and move it to a folder of all users.
  mkdir "$work/shared" && chgrp 12346 "$work/shared"
  for mode in 3777 3770 1777; do
    chmod g-s "$work/shared" && chmod $mode "$work/shared" && cp "$work/honest.db" "$work/shared/mine.db" && chmod 660 "$work/shared/mine.db"
    cp "$work/planted-journal" "$work/shared/mine.db-journal" && chmod 660 "$work/shared/mine.db-journal" && chown 12345:12346 "$work/shared/mine.db-journal" && chgrp 12346 "$work/shared/mine.db"
    survives query star7 --device 'NVIDIA H200' --grid 512,512,512 --db "$work/shared/mine.db"
    if [ $mode != 3770 ]; then
      [ $code = 6 ] && cmp -s "$work/honest.db" "$work/shared/mine.db" && grep -q "mine.db-journal beside it belongs to user 12345" "$work/said"
    else
      [ $code = 0 ] && grep -q '^time  *0.0002' "$work/out"
    fi
    result "a journal with the group of the database, in a folder of mode $mode (exit $code)" $?
    rm -f "$work"/shared/mine.db*
  done
  # With an access list, the bit of the group is the most that any user of the list may do; the group itself may only read.
  cp "$work/honest.db" "$work/shared/mine.db" && cp "$work/planted-journal" "$work/shared/mine.db-journal" && chgrp 12346 "$work/shared/mine.db" && chown 12345:12346 "$work/shared/mine.db-journal"
  if "$python" - "$work/shared/mine.db" <<'END'
import os, struct, sys
USER_OBJ, USER, GROUP_OBJ, MASK, OTHER, NOBODY = 1, 2, 4, 16, 32, 0xffffffff
rights = [(USER_OBJ, 6, NOBODY), (USER, 6, 23456), (GROUP_OBJ, 4, NOBODY), (MASK, 6, NOBODY), (OTHER, 0, NOBODY)]
os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *right) for right in rights))
END
  then
    survives query star7 --device 'NVIDIA H200' --grid 512,512,512 --db "$work/shared/mine.db"
    [ $code = 6 ] && cmp -s "$work/honest.db" "$work/shared/mine.db" && grep -q "mine.db-journal beside it belongs to user 12345" "$work/said"
    result "a journal with the group of a database that has an access list (exit $code)" $?
  else
    skip "a journal with the group of a database that has an access list" "the file system has no access lists"
  fi
  rm -f "$work"/shared/mine.db*
  cp "$work/logged.db" "$work/mine.db" && touch "$work/mine.db-shm" && chown 12345 "$work/mine.db-shm"
  survives db info --db "$work/mine.db" && [ $code = 6 ] && grep -q 'mine.db-shm beside it belongs to user 12345' "$work/said"
  result "an index of a WAL of another user is not read (exit $code)" $?
  rm -f "$work"/mine.db*
else
  skip "a journal of another user" "not root"
fi
# A link that another user has put into a folder of all users, to a database of this user.
if [ "$(id -u)" = 0 ]; then
  mkdir "$work/linked" && chmod 1777 "$work/linked" && cp "$work/honest.db" "$work/precious.db"
  for link in mine.db folder; do
    [ $link = folder ] && name=folder/precious.db target=$work || name=mine.db target=$work/precious.db
    for words in 'db info' 'query star7 --device sm_90 --grid 512,512,512' "db import --trust --yes $PWD/tests/data/db/copy.json"; do
      for owner in 12345 0; do
        ln -sfn "$target" "$work/linked/$link" && chown -h $owner "$work/linked/$link"
        survives $words --db "$work/linked/$name"
        told=$(grep -c "$link: this link in a folder of all users belongs to user 12345" "$work/said")
        case $owner in 0) [ $code = 0 ] && [ "$told" = 0 ] ;; *) [ $code = 6 ] && [ "$told" = 1 ] && cmp -s "$work/honest.db" "$work/precious.db" ;; esac
        result "a link of user $owner to a database: '${words%% -*}' by $name (exit $code)" $?
        cp "$work/honest.db" "$work/precious.db"
      done
    done
  done
  rm -rf "$work/linked"
else
  skip "a link of another user to a database" "not root"
fi
# Without fs.protected_hardlinks another user can put a second name of any file of yours into a folder of all users.
mkdir "$work/linked" && chmod 1777 "$work/linked" && cp "$work/honest.db" "$work/linked/mine.db" && echo precious >"$work/precious"
for kind in shm wal journal; do
  ln "$work/precious" "$work/linked/mine.db-$kind"
  survives db info --db "$work/linked/mine.db"
  [ $code = 6 ] && grep -q "mine.db-$kind beside it has a second name" "$work/said" && [ "$(cat "$work/precious")" = precious ]
  result "a second name of a file of this user in place of the $kind (exit $code)" $?
  rm -f "$work/linked/mine.db-$kind"
done
ln "$work/linked/mine.db" "$work/named.db" && before=$(sha256sum <"$work/named.db")
for words in 'db info' "db import --trust --yes $PWD/tests/data/db/copy.json"; do
  survives $words --db "$work/linked/mine.db"
  [ $code = 6 ] && grep -q "mine.db: this file has a second name" "$work/said" && [ "$(sha256sum <"$work/named.db")" = "$before" ]
  result "a second name of a database of this user: '${words%% -*}' (exit $code)" $?
done
chmod 755 "$work/linked" && survives db info --db "$work/linked/mine.db" && [ $code = 0 ]
result "a database with two names in a folder of this user alone (exit $code)" $?
rm "$work/named.db" && : >"$work/second" && ln "$work/second" "$work/linked/mine.db-wal" && survives db info --db "$work/linked/mine.db" && [ $code = 0 ]
result "an empty WAL with a second name in a folder of this user alone (exit $code)" $?
rm -rf "$work/linked"

# Two databases whose tables have a column of which the name ends a statement: the rows behind it had no part in the identity that a user
# compares. Only their times differ.
"$python" - "$work" <<'END'
import shutil, sqlite3, sys
shutil.copy(sys.argv[1] + "/honest.db", sys.argv[1] + "/seen.db")
db = sqlite3.connect(sys.argv[1] + "/seen.db")
for (table,) in db.execute("select name from sqlite_master where type = 'table'").fetchall():
    names = [column[1] for column in db.execute(f"pragma table_info({table})")]
    columns = ", ".join("ID integer primary key" if name == "id" else name for name in names)
    db.execute(f"alter table {table} rename to was")
    db.execute(f'create table {table} ("0--" text, {columns})')
    db.execute(f"insert into {table} ({', '.join(names)}) select {', '.join(names)} from was")
    db.execute("drop table was")
db.commit()
shutil.copy(sys.argv[1] + "/seen.db", sys.argv[1] + "/taken.db")
db = sqlite3.connect(sys.argv[1] + "/taken.db")
db.execute("update best set time_ms = time_ms / 2, low_ms = low_ms / 2, high_ms = high_ms / 2")
db.commit()
END
for name in seen taken; do
  survives db import --trust --db "$work/own.db" "$work/$name.db" && [ $code = 6 ] && grep -q 'tables and indexes only' "$work/said" && ! [ -s "$work/out" ]
  result "a name that is code decides about no identity: $name.db (exit $code)" $?
done

# Two databases with the same values in the same order, of columns in another order: default_ms is the time of the other.
"$python" - "$work" <<'END'
import re, shutil, sqlite3, sys
def change(name, sql, *values):
    shutil.copy(sys.argv[1] + "/honest.db", sys.argv[1] + "/" + name)
    db = sqlite3.connect(sys.argv[1] + "/" + name)
    db.execute("drop index best_served")
    db.execute("update best set default_ms = 2 * high_ms, high_ms = 2 * high_ms")
    if sql:
        db.execute("pragma writable_schema = on")
        (text,) = db.execute("select sql from sqlite_master where name = 'best'").fetchone()
        words = {"time_ms": "default_ms", "default_ms": "time_ms"}
        text = re.sub(r"\n  (time_ms|default_ms) ", lambda match: f"\n  {words[match[1]]} ", text)
        db.execute("update sqlite_master set sql = ? where name = 'best'", (text,))
    db.commit()
change("order.db", False)
change("other.db", True)
END
for name in order other; do
  "$halotune" db import --trust --db "$work/own.db" "$work/$name.db" 2>"$work/said" | sed -n 's/.*document \([0-9a-f]*\),.*/\1/p' >"$work/$name.identity"
done
[ -s "$work/order.identity" ] && [ -s "$work/other.identity" ] && ! cmp -s "$work/order.identity" "$work/other.identity"
result "values of other columns have another identity" $?

# Texts in columns of numbers: '-1' is more than 0, and was a time that no other beats.
"$python" - "$work" <<'END'
import shutil, sqlite3, sys
shutil.copy(sys.argv[1] + "/honest.db", sys.argv[1] + "/loose.db")
db = sqlite3.connect(sys.argv[1] + "/loose.db")
names = [column[1] for column in db.execute("pragma table_info(best)")]
(strict,) = db.execute("select sql from sqlite_master where name = 'best'").fetchone()
(index,) = db.execute("select sql from sqlite_master where name = 'best_current'").fetchone()
db.execute("alter table best rename to was")
db.execute(f"create table best ({', '.join('id integer primary key' if name == 'id' else name for name in names)})")
db.execute("insert into best select * from was")
db.execute("drop table was")
db.execute(index)
db.execute("update best set time_ms = '-1', low_ms = '-1', high_ms = '-1', date = '2026-11-22T12:00:00Z'")
db.commit()
shutil.copy(sys.argv[1] + "/loose.db", sys.argv[1] + "/wrong.db")
db = sqlite3.connect(sys.argv[1] + "/wrong.db")
db.execute("pragma writable_schema = on")
db.execute("update sqlite_master set sql = ? where name = 'best'", (strict,))
db.commit()
END
for name in loose wrong; do
  cp "$work/honest.db" "$work/into.db"
  survives db import --trust --yes --db "$work/into.db" "$work/$name.db" && [ $code = 6 ] && grep -q "strict tables\|value in best.time_ms" "$work/said"
  result "texts in place of numbers are refused: $name.db (exit $code)" $?
done

# A strict table takes texts in a column that it declares so: a negative energy came into the user's database.
"$python" - "$work" <<'END'
import re, shutil, sqlite3, sys
shutil.copy(sys.argv[1] + "/honest.db", sys.argv[1] + "/typed.db")
db = sqlite3.connect(sys.argv[1] + "/typed.db")
db.execute("pragma writable_schema = on")
(text,) = db.execute("select sql from sqlite_master where name = 'best'").fetchone()
db.execute("update sqlite_master set sql = ? where name = 'best'", (re.sub(r"energy_mj( +)real", r"energy_mj\1text", text),))
db.commit()
db.close()
db = sqlite3.connect(sys.argv[1] + "/typed.db")
db.execute("update best set energy_mj = '-1', objective = 'energy', date = '2026-11-22T12:00:00Z'")
db.commit()
END
cp "$work/honest.db" "$work/into.db"
survives db import --trust --yes --db "$work/into.db" "$work/typed.db" && [ $code = 6 ] && grep -q "best.energy_mj has another type than real" "$work/said"
result "a strict table with another type of a column is refused (exit $code)" $?

# A database in UTF-16: identities are hashes of bytes in UTF-8. The second has no table yet.
"$python" - "$work" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1] + "/honest.db")
wide = sqlite3.connect(sys.argv[1] + "/wide.db")
wide.execute("pragma encoding = 'UTF-16'")
wide.executescript("\n".join(db.iterdump()))
for mark in "application_id", "user_version":
    wide.execute(f"pragma {mark} = {db.execute(f'pragma {mark}').fetchone()[0]}")
wide.commit()
empty = sqlite3.connect(sys.argv[1] + "/empty.db")
empty.executescript("pragma encoding = 'UTF-16'; create table t (n int); drop table t;")
END
for words in 'db info --db' 'db check --db' 'db export --db' 'query star7 --device sm_90 --grid 512,512,512 --db' 'explain star7 --db' \
  "report -o $work/wide.html --db" "db merge --trust --yes $work/honest.db --db" 'db import' 'db import --trust --yes' 'db merge --trust --yes'; do
  rm -f "$work/into.db" && cp "$work/wide.db" "$work/was.db"
  case $words in *--db) survives $words "$work/wide.db" ;; *) survives $words --db "$work/into.db" "$work/wide.db" ;; esac
  [ $code = 6 ] && ! [ -s "$work/into.db" ] && cmp -s "$work/wide.db" "$work/was.db" && grep -q 'its texts are in UTF-16' "$work/said"
  result "a database in UTF-16 is refused: '${words%% --*}' (exit $code)" $?
done
remedy=$(sed -n 's/.*write a new one from it: \(.*\)$/\1/p' "$work/said" | sed "s|FILE|$work/wide.db|; s|NEW|$work/narrow.db|")
eval "$remedy" >"$work/out" && "$halotune" db check --db "$work/narrow.db" >"$work/out" 2>&1 && "$halotune" db export --db "$work/narrow.db" >"$work/new.json" &&
  "$halotune" db export --db "$work/honest.db" >"$work/old.json" && cmp -s "$work/old.json" "$work/new.json"
result "and the command of the message makes one in UTF-8 with the same rows" $?
survives db import --trust --yes --db "$work/empty.db" tests/data/tuned.json && [ $code = 6 ] && grep -q 'its texts are in UTF-16' "$work/said"
result "an empty database in UTF-16 is refused (exit $code)" $?

# What a user or a tool may have added to the own database.
added() { # SQL
  cp "$work/honest.db" "$work/added.db"
  "$python" -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()' "$work/added.db" "$1"
  survives query star7 --device 'NVIDIA H200' --grid 500,512,512 --db "$work/added.db"
}
for sql in 'create index newest on best (date desc)' 'create index named on device (name collate nocase asc)' 'create index "my best" on best (date)' \
  'create table note (t text)' 'create table _litestream_seq (id integer primary key, seq integer)' 'create table mine (n int, d datetime)'; do
  added "$sql" && [ $code = 0 ]
  result "a user's own database stays readable: $sql (exit $code)" $?
done
for sql in 'create index name on best (date || arch)' 'create index name on best (abs(time_ms) desc)' 'create index "n--" on best (date) where abs(id) > 0' \
  'create table name (n int default (random()))' 'create table name (m int, n int as (1))' 'create table name (m int, n any generated always as (abs(m)))'; do
  added "$sql" && [ $code = 6 ] && grep -q 'remove it with sqlite3: drop' "$work/said"
  result "what computes is refused, and the message says how to remove it: $sql (exit $code)" $?
done
for name in 'v""; select writefile(1, 2); --' "v'; id; '" 'v$(id)' 'v`id`'; do
  added "create view \"$name\" as select 1" && [ $code = 6 ] && grep -q 'is a view' "$work/said" && ! grep -q 'drop' "$work/said"
  result "a message has no command with a name that is more than one: $name (exit $code)" $?
done

# A name of a column that is a word of SQL.
cp "$work/honest.db" "$work/into.db"
added 'alter table best add column "order" text'
survives db import --trust --yes --db "$work/into.db" "$work/added.db" && [ $code = 0 ]
result "a column of the name order is no error of syntax (exit $code)" $?

# A database without a column: in its place SQLite took the name of the column as a text.
cp "$work/honest.db" "$work/lacking.db"
"$python" - "$work/lacking.db" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for table, column in [("measurement", "why"), ("measurement", "gpu"), ("run", "warnings")]:
    db.execute(f"alter table {table} drop column {column}")
END
for words in 'db import --trust --yes' 'db merge --trust --yes'; do
  rm -f "$work/into.db"
  survives $words --db "$work/into.db" "$work/lacking.db" && [ $code = 6 ] && grep -q 'no such column' "$work/said"
  result "'$words' makes up no column that a database lacks (exit $code)" $?
done

# A variant whose id is NULL stands in no join: no check compared the source of its winner, no list had it, and the merge took it.
"$python" - "$work" <<'END'
import re, shutil, sqlite3, sys
def change(name, key):
    shutil.copy(sys.argv[1] + "/honest.db", f"{sys.argv[1]}/{name}.db")
    db = sqlite3.connect(f"{sys.argv[1]}/{name}.db")
    (text,) = db.execute("select sql from sqlite_master where name = 'variant'").fetchone()
    rows = db.execute("select * from variant").fetchall()
    db.execute("drop table variant")
    db.execute(re.sub(r"id +integer primary key", key, text, count=1))
    (hidden,) = db.execute("select variant_id from best where is_current limit 1").fetchone()
    for id, *row in rows:
        db.execute("insert into variant (id, source_hash, stencil_id, template_id, parameters, origin_id) values (?, ?, ?, ?, ?, ?)",
                   [None if id == hidden else id, *row])
    for table in "best", "measurement", "finalist":
        db.execute(f"update {table} set variant_id = 0 where variant_id = ?", (hidden,))
    db.execute("update best set source = source || ' __device__ int evil;', cubin = x'00' where variant_id = 0")
    db.execute("pragma writable_schema = on")
    db.execute("update sqlite_master set sql = replace(sql, 'references variant (id)', '')")
    db.commit()
change("nameless", "id integer")
change("keyed", "id integer, number integer primary key")
END
result "databases are made with a row that has no id" $?
for name in nameless keyed; do
  for words in 'db check' 'db import --trust' 'db import --trust --yes' 'query star7 --device sm_90 --grid 512,512,512'; do
    rm -f "$work/into.db"
    case $words in *import*) survives $words --db "$work/into.db" "$work/$name.db" ;; *) survives $words --db "$work/$name.db" ;; esac
    [ $code = 6 ] && ! [ -s "$work/into.db" ] && grep -q 'the key of the table variant is not its column id alone' "$work/said"
    result "rows without an id are refused, as no list would have them: $name.db, '${words%% --device*}' (exit $code)" $?
  done
done

# Grids whose points no number counts: 2^31 - 1 along each axis, and fewer than none. The other problem of star7 stays.
for points in 2147483647 -9223372036854775808; do
  cp "$work/honest.db" "$work/grid.db"
  "$python" -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("update problem set nx = ?1, ny = ?1, nz = ?1 where nx = 512", (int(sys.argv[2]),)); db.commit()' \
    "$work/grid.db" $points
  for words in 'explain star7' "report -o $work/grid.html" 'query star7 --device sm_90 --grid 512,512,512'; do
    rm -f "$work/grid.html"
    survives $words --db "$work/grid.db" && [ $code = 0 ] && ! grep -qs -e "$points" "$work/out" "$work/grid.html"
    result "a problem of $points points along each axis is no problem: '${words%% *}' (exit $code)" $?
  done
done

# What a block needs, in numbers whose products no number counts. The report computes no occupancy of them.
for change in 'registers = -2147483648' 'registers = 2147483647' 'shared_bytes = 2147483647' "launch = json_set(launch, '$.block[1]', 2147483647, '$.block[2]', 2147483647)"; do
  cp "$work/honest.db" "$work/needs.db"
  "$python" -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("update best set " + sys.argv[2]); db.commit()' "$work/needs.db" "$change"
  survives report -o "$work/needs.html" --db "$work/needs.db" && [ $code = 0 ] && ! grep -q '"occupancy_text"' "$work/needs.html"
  result "a report of best.$change (exit $code)" $?
done

# Ten times the compute capability is a macro of the source.
cp "$work/honest.db" "$work/capable.db"
"$python" -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("update device set capability = 999999999"); db.commit()' "$work/capable.db"
survives query star7 --device 'NVIDIA H200' --grid 512,512,512 --db "$work/capable.db" && [ $code = 0 ]
result "a compute capability that no GPU has overflows no number (exit $code)" $?

# 100 000 stencils of one name and no text, and 200 000 models of GPUs. Each was compared with each, for minutes whenever the
# database was opened.
cp "$work/honest.db" "$work/named.db"
"$python" - "$work/named.db" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executemany("insert into stencil (hash, name, origin_id) values (?, 'star7', 1)", [("%064x" % i,) for i in range(100000)])
names = [column[1] for column in db.execute("pragma table_info(device)")][3:]
db.execute(f"with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) insert into device (uuid, name, {', '.join(names)})"
           f" select 'GPU-of-many-' || i, 'GPU ' || i, {', '.join('d.' + name for name in names)} from n, device d where d.id = 1")
db.commit()
END
timeout 60 "$halotune" query star7 --db "$work/named.db" --device 'NVIDIA H200' --grid 512,512,512 >"$work/out" 2>"$work/said"
[ $? = 0 ] && grep -q '^match' "$work/out"
result "neither stencils of one name nor models of GPUs are compared with each other" $?
rm "$work/named.db"

# 3,000 verdicts about one winner, in a file that is kept apart under 600 names: each look into one of them ends late. `query` looked into all,
# for a minute of processor time.
cp "$work/honest.db" "$work/verdicts.db"
"$python" - "$work/verdicts.db" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
run = db.execute("select b.run_id from best b join problem p on p.id = b.problem_id where p.nx = 512").fetchone()[0]
def names(table, *own):
    return ", ".join("x." + column[1] for column in db.execute(f"pragma table_info({table})") if column[1] not in ("id",) + own)
def copy(table, values, source, *own):
    db.execute(f"insert into {table} ({', '.join(own)}, {names(table, *own).replace('x.', '')}) select {values}, {names(table, *own)} from {source}")
db.execute("create temp table n as with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000) select i from n")
copy("run", "1000 + n.i, null", f"run x, n where x.id = {run}", "seed", "outcomes")
copy("measurement", "r.id, iif(r.seed % 2, 'wrong', 'measured')", f"measurement x, run r where x.run_id = {run} and r.seed > 1000", "run_id", "outcome")
db.execute("update run set started = iif(seed = 4000, '2026-02-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')")
db.execute("update best set date = '2025-01-01T00:00:00.000Z'")
db.commit()
END
for table in best finalist measurement run problem; do echo "delete from $table;"; done >"$work/empty.sql"
cp "$work/honest.db" "$work/asked.db"
"$python" -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript("begin; " + open(sys.argv[2]).read() + "commit")' "$work/asked.db" "$work/empty.sql"
survives db import --db "$work/asked.db" "$work/verdicts.db"
for i in $(seq 600); do ln "$work"/asked.db.untrusted/verdicts.db-*.db "$work/asked.db.untrusted/a$i.db"; done
(ulimit -t 20 && export HALOTUNE_TEMPLATE_PATH="$PWD/templates" && survives query star7 --db "$work/asked.db" --device 'NVIDIA H200' --grid 512,512,512 && [ $code = 0 ] && grep -q '^match' "$work/out")
result "many files that are kept apart delay a query by seconds at most" $?
rm -r "$work"/asked.db.untrusted "$work/verdicts.db"

# Another user lays the folder of such files, with many of them, or a file that hides an import.
survives db import --db "$work/asked.db" "$work/honest.db"
kept=$(ls "$work"/asked.db.untrusted/*.db)
ask() { HALOTUNE_TEMPLATE_PATH="$PWD/templates" survives query star7 --db "$work/asked.db" --device 'NVIDIA H200' --grid 512,512,512; }
ask && [ $code = 0 ] && grep -q "trust $kept" "$work/said" && ! grep -q 'remove it' "$work/said"
result "a file that is kept apart is told (exit $code)" $?
cp "$kept" "$work/asked.db.untrusted/a.db" && chmod 666 "$work/asked.db.untrusted/a.db"
ask && [ $code = 0 ] && grep -q "trust $kept" "$work/said" && [ "$(grep -c "run: chmod go-w .*/a.db" "$work/said")" = 1 ]
result "a file that others can write hides no import (exit $code)" $?
if [ "$(id -u)" = 0 ]; then
  chmod 600 "$work/asked.db.untrusted/a.db" && chown 12345 "$work/asked.db.untrusted/a.db"
  ask && [ $code = 0 ] && grep -q "trust $kept" "$work/said" && [ "$(grep -c "a.db: this file belongs to user 12345.*; remove it" "$work/said")" = 1 ]
  result "a file of another user hides no import (exit $code)" $?
  survives db info --db "$work/asked.db" && [ $code = 0 ] && grep -q "not trusted: $kept" "$work/out" && ! grep -q a.db.untrusted/a.db "$work/out" && grep -q "a.db: this file belongs to user 12345" "$work/said"
  result "'db info' tells it, and lists the import (exit $code)" $?
  chown 12345 "$work/asked.db.untrusted"
  ask && [ $code = 0 ] && grep -q '^match' "$work/out" && ! grep -q 'is not trusted' "$work/said" && [ "$(grep -c "asked.db.untrusted: this folder belongs to user 12345.*; move it away" "$work/said")" = 1 ]
  result "a folder of another user is not looked into (exit $code)" $?
  # An import must not take a file of another user for what it kept before, nor write through his link.
  chown 12345 "$kept" && chown 0 "$work/asked.db.untrusted"
  survives db import --db "$work/asked.db" "$work/honest.db" && [ $code != 0 ] && grep -q "this file belongs to user 12345.*; remove it" "$work/said"
  result "an import does not take a file of another user for its own" $? "$work/said"
  mv "$work/asked.db.untrusted" "$work/kept" && ln -s "$work/kept" "$work/asked.db.untrusted" && chown -h 12345 "$work/asked.db.untrusted" && rm "$kept"
  survives db import --db "$work/asked.db" "$work/honest.db" && [ $code != 0 ] && grep -q "this link belongs to user 12345" "$work/said" && [ ! -e "$kept" ]
  result "nor does it write through his link" $? "$work/said"
  chown -h 0 "$work/asked.db.untrusted"
  survives db import --db "$work/asked.db" "$work/honest.db" && [ $code = 0 ] && [ -s "$kept" ] && [ "$(stat -c %a "$kept")" = 600 ]
  result "but it follows a link of this user" $? "$work/said"
  rm "$work/asked.db.untrusted" && mv "$work/kept" "$work/asked.db.untrusted"
else
  skip "a file of another user beside those that are kept apart" "not root"
fi
rm -r "$work"/asked.db*

# Each {} of a document takes some 240 bytes of memory.
"$python" -c "print('{\"format\": \"halotune\", \"tables\": {\"best\": [' + '{},' * 16000000 + '{}]}}')" >"$work/wide.json"
survives db import --db "$work/own.db" "$work/wide.json" && [ $code = 5 ] && grep -q 'more than 4 GiB of memory' "$work/said"
result "a document of 48 MB that would take 4 GiB of memory is refused (exit $code)" $?
rm "$work/wide.json"

# To SQLite a text goes on behind a byte 0, and to readers it ends there.
for key in device.uuid stencil.name stencil.hash template.hash variant.source_hash run.started best.date; do
  cp "$work/honest.db" "$work/longer.db"
  "$python" - "$work/longer.db" "${key%.*}" "${key#*.}" <<'END'
import sqlite3, sys
path, table, column = sys.argv[1:]
db = sqlite3.connect(path)
db.execute(f"update {table} set {column} = cast(cast({column} as blob) || x'0061' as text)")
db.commit()
END
  cp "$work/honest.db" "$work/into.db"
  survives db import --trust --yes --db "$work/into.db" "$work/longer.db" && [ $code = 5 ] && grep -q 'continues after a byte 0' "$work/said"
  result "a $key that goes on behind a byte 0 makes no second row of its key (exit $code)" $?
done

# A file that is kept apart, without indices and with 600 runs that call a variant wrong: to find its winner takes 20 million steps.
mkdir -m 700 "$work/honest.db.untrusted"
cp "$work/honest.db" "$work/honest.db.untrusted/slow.db"
"$python" - "$work/honest.db.untrusted/slow.db" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
def row(table, columns):
    names = [column[1] for column in db.execute(f"pragma table_info({table})")]
    first = dict(zip(names, db.execute(f"select * from {table} where {columns}").fetchone()))
    return first, f"insert into {table} values ({','.join(':' + name for name in names)})"
for (name,) in db.execute("select name from sqlite_master where type = 'index' and sql is not null").fetchall():
    db.execute(f"drop index {name}")
best, add_best = row("best", "problem_id = 1")
run, add_run = row("run", "problem_id = 1")
measurement, add_measurement = row("measurement", "true")
for i in range(1000, 1600):
    db.execute(add_run, {**run, "id": i, "seed": i})
    db.execute(add_measurement, {**measurement, "id": i, "run_id": i, "variant_id": best["variant_id"], "outcome": "wrong"})
    date = "2026-11-22T00:00:00Z" if i == 1599 else "2026-11-20T00:00:00Z"
    db.execute(add_best, {**best, "id": i, "is_current": 0, "date": date, "source": "", "cubin": b""})
db.execute("update problem set nx = 500 where id = 1")
db.execute("pragma application_id = %d" % 0x48414c55)
db.commit()
END
survives query star7 --db "$work/honest.db" --device 'NVIDIA H200' --grid 500,512,512 && [ $code = 0 ] && [ -s "$work/out" ] && ! grep -q 'is not trusted' "$work/said"
result "a file that is kept apart does not keep an answer waiting (exit $code)" $?
rm -r "$work/honest.db.untrusted"

# Counts of outcomes that go on behind their end: an export, which may be signed, then had rows that no list has shown. Nobody reads the
# counts where the database has no measurement but those of finalists.
for text in '{}},{"id":9' '{"measured":1}x' '{"measured":1e999}' '{"measured":-1}' '[]' ''; do
  cp "$work/honest.db" "$work/outcomes.db" && rm -rf "$work"/into.db*
  "$python" -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("update run set outcomes = ?", (sys.argv[2],)); db.commit()' "$work/outcomes.db" "$text"
  survives db import --trust --db "$work/into.db" "$work/outcomes.db" && [ $code = 5 ] && grep -q 'its outcomes are not counts of variants' "$work/said"
  result "outcomes that are no counts are refused: '$text' (exit $code)" $?
done
"$python" -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("update run set outcomes = ?", ("{}},{\"id\":9",)); db.commit()' "$work/outcomes.db"
survives db export --db "$work/outcomes.db" && [ $code = 6 ] && grep -q "the column 'outcomes' is no JSON" "$work/said"
result "and none is exported (exit $code)" $?

# Names with the end of a line: what follows it begins no line of an answer.
for column in device.name device.uuid stencil.name template.name origin.name problem.dtype problem.launch problem.cache best.date best.driver best.nvrtc best.second_grid; do
  cp "$work/honest.db" "$work/lines.db" && rm -rf "$work"/into.db*
  "$python" - "$work/lines.db" "${column%.*}" "${column#*.}" <<'END'
import re, sqlite3, sys
path, table, column = sys.argv[1:]
db = sqlite3.connect(path)
db.execute("pragma writable_schema = on")
(text,) = db.execute("select sql from sqlite_master where name = ?", (table,)).fetchone()
db.execute("update sqlite_master set sql = ? where name = ?", (re.sub(r"check \((?:[^()]|\([^()]*\))*\)", "", text), table))
db.commit()
db = sqlite3.connect(path)
db.execute(f"update {table} set {column} = coalesce({column}, '') || char(10) || 'forged: a line'")
db.commit()
END
  said=0
  for words in 'db info' 'query star7 --device sm_90 --grid 512,512,512' 'query star7 --why --device sm_90 --grid 512,512,512' 'explain star7' \
    'fleet status' 'db fit' 'db refresh --dry-run' "compare $work/honest.db" 'db import' 'db import --trust'; do
    case $words in
    compare*) survives $words "$work/lines.db" --all ;;
    *import*) survives $words "$work/lines.db" --db "$work/into.db" ;;
    *) survives $words --db "$work/lines.db" ;;
    esac
    cat "$work/out" "$work/said" | grep -q '^forged' && said=1 && echo "# $words"
  done
  result "a $column with the end of a line begins no line of an answer" $said
done

# What a header says of a device, a date and a variant stands in a comment of C.
"$python" - "$work" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1] + "/honest.db")
db.execute("update device set name = ? where name = 'NVIDIA H200'", ("H200 */\n#error evil\n/* *\\\n/\n#error evil\n/* *??/\n/ #error evil\n/*",))
db.execute("update best set date = '2026-11-21T12:00:00Z */ int evil; /*'")
db.commit()
END
survives query star7 --db "$work/honest.db" --device sm_90 --grid 500,512,512 --header && [ $code = 0 ] && grep -q evil "$work/out"
result "a header is made of a device whose name is code (exit $code)" $?
mkdir "$work/include" && touch "$work/include/cuda.h" "$work/include/stddef.h"
# The compiler keeps directives, and says where each comment ends.
"${CC:-cc}" -std=c99 -E -P -nostdinc -I "$work/include" -x c "$work/out" >"$work/code" 2>&1 && grep -q _launch "$work/code" && ! grep evil "$work/code"
result "and holds nothing of that name but a comment" $?
finish
