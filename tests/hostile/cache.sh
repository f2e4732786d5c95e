#!/bin/sh
# cache.sh: caches that others made, and that are full: links, pipes, other owners, modes, a small disk. A variant is verified all the
# same, and nothing of another user is executed. As root, other owners are made with chown; otherwise these tests are skipped. Prints TAP.
set -u
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
. "$(dirname "$0")/parts.sh"
host=$work/cache/halotune/host
verify() { survives verify heat2d --template direct --grid 16,8 --dtype f32 --sample 1; }
entries() { find "$host" -maxdepth 1 -name "*$1"; }

verify && [ $code = 0 ] && [ "$(entries .runner | wc -l)" = 1 ] && [ "$(stat -c %a "$host")" = 700 ]
result "a cache is made with mode 700" $?
[ -z "$(find "$host" -maxdepth 1 -name 'compile-*')" ]
result "the compiler leaves nothing" $?

for kind in .so .runner; do
  for entry in $(entries $kind); do rm "$entry" && mkfifo "$entry"; done
  verify && [ $code = 0 ] && [ -z "$(find "$host" -maxdepth 1 -type p)" ]
  result "a pipe for a $kind hangs nothing and is replaced" $?
  for entry in $(entries $kind); do mv "$entry" "$work/other" && ln -s "$work/other" "$entry"; done
  verify && [ $code = 0 ] && [ -z "$(find "$host" -maxdepth 1 -type l)" ]
  result "a link for a $kind is not followed" $?
done

for entry in "$(entries .so)" "$(entries .runner)" "$(find "$host" -name runner.c)"; do
  mv "$entry" "$work/kept" && mkdir "$entry"
  verify && [ $code = 1 ] && grep -qF "$entry: a folder is in the place of this file; remove the folder" "$work/said"
  result "a folder in the place of a file is told, with the remedy: ${entry##*.} (exit $code)" $?
  rmdir "$entry" && mv "$work/kept" "$entry"
done

chmod 777 "$host"
verify && [ $code = 0 ] && grep -q "run: chmod -R go-w " "$work/said"
result "a cache that others can write is not used, and the remedy is said" $?
chmod 700 "$host"

mkdir "$host/compile-aaaaaa" && echo object >"$host/compile-aaaaaa/cc1234.o" && : >"$host/compile-aaaaaa/lock"
for entry in $(entries .so); do rm "$entry"; done
mkdir "$host/compile-bbbbbb" # its process was killed before it had a lock
verify && [ $code = 0 ] && [ ! -e "$host/compile-aaaaaa" ] && [ ! -e "$host/compile-bbbbbb" ]
result "what a killed compiler left is removed" $?

if [ "$(id -u)" = 0 ]; then
  echo "int main(void) { return 0; }" >"$work/evil"
  for entry in $(entries .runner); do chown 12345 "$entry"; done
  verify && [ $code = 0 ] && [ -z "$(find "$host" -maxdepth 1 -uid 12345)" ]
  result "a runner of another user is not executed" $?
  chown -R 12345 "$host"
  verify && [ $code = 0 ] && grep -q "belongs to user 12345" "$work/said"
  result "a cache of another user is not used" $?
  chown -R 0 "$host"
else
  skip "a runner of another user" "not root"
  skip "a cache of another user" "not root"
fi

# A cache in a folder of all users, where another user has put a link to a folder of this user. What looks like leftovers was removed from it.
if [ "$(id -u)" = 0 ]; then
  kept=$work/other/$(printf %064d 7)
  for link in halotune halotune/host; do
    rm -rf "$work/other" "$work/all" && mkdir -p -m 700 "$kept" "$work/other/host" && touch "$kept/file" && mkdir -m 1777 "$work/all"
    [ $link = halotune ] || mkdir -m 700 "$work/all/halotune"
    ln -s "$work/other" "$work/all/$link" && chown -h 12345 "$work/all/$link"
    XDG_CACHE_HOME=$work/all survives cache clean
    [ $code = 1 ] && [ -e "$kept/file" ] && grep -q "$link: this link belongs to user 12345" "$work/said"
    result "'cache clean' removes nothing through a link of another user: $link (exit $code)" $?
    XDG_CACHE_HOME=$work/all verify && [ $code = 0 ] && [ "$(find "$work/other" | wc -l)" = 4 ] && grep -q 'this link belongs to user 12345' "$work/said"
    result "and nothing is stored there: $link (exit $code)" $?
  done
  rm -rf "$work/other" "$work/all" && mkdir -m 700 "$work/other" && mkdir -m 1777 "$work/all" && ln -s "$work/other" "$work/all/home" && chown -h 12345 "$work/all/home"
  for home in "$work/all/home" "$work/all/home/"; do
    XDG_CACHE_HOME=$home survives cache clean
    [ $code = 1 ] && grep -q 'home: this link belongs to user 12345' "$work/said"
    result "'cache clean' does not follow such a link as XDG_CACHE_HOME: ${home#"$work"} (exit $code)" $?
    XDG_CACHE_HOME=$home verify && [ $code = 0 ] && [ -z "$(ls "$work/other")" ] && grep -q 'this link belongs to user 12345' "$work/said"
    result "and nothing is stored there: ${home#"$work"} (exit $code)" $?
    XDG_CACHE_HOME=$home survives doctor && [ -z "$(ls "$work/other")" ] && grep -q 'this link belongs to user 12345' "$work/out"
    result "and 'doctor' makes no folder there: ${home#"$work"} (exit $code)" $?
  done
else
  skip "a cache behind a link of another user" "not root"
fi

# A new template in a folder behind such a link.
if [ "$(id -u)" = 0 ]; then
  rm -rf "$work/other" "$work/all" && mkdir -m 700 "$work/other" && mkdir -m 1777 "$work/all" && ln -s "$work/other" "$work/all/link" && chown -h 12345 "$work/all/link"
  for folder in link/sub link/sub/ link; do
    survives new template mine --template-dir "$work/all/$folder" && [ $code = 1 ] && [ -z "$(ls -A "$work/other")" ] && grep -q 'link: this link in a folder of all users belongs to user 12345' "$work/said"
    result "'new template' makes no folder and no file behind a link of another user: $folder (exit $code)" $?
  done
else
  skip "a new template behind a link of another user" "not root"
fi

for name in bob mallory; do "$halotune" key new "$work/$name.key" >"$work/said"; done
bob=$("$halotune" key show "$work/bob.key") mallory=$("$halotune" key show "$work/mallory.key")

# Another user puts such a link there between two calls of the program: race.c does it, whenever the program finds nothing there.
if [ "$(id -u)" != 0 ]; then
  skip "a link of another user that appears in between" "not root"
elif ${CC:-cc} -D_GNU_SOURCE -shared -fPIC -O1 -o "$work/race.so" tests/hostile/race.c -ldl 2>"$work/said"; then
  # The link is put at $work/all/$1. What it leads to is a folder of this user, with what looks like leftovers of a cache, and
  # with a list of signers.
  races() { # link argument...
    rm -rf "$work/other" "$work/all" && mkdir -p -m 700 "$kept" "$work/other/host" && touch "$kept/file" && mkdir -m 1777 "$work/all"
    if [ "$2" = trust ]; then
      mkdir -m 700 "$work/other/halotune"
      (umask 077 && echo "mallory $mallory" | tee "$work/other/halotune/trusted-signers" >"$work/other/trusted-signers")
    fi
    before=$(find "$work/other" | wc -l) link=$1
    case $link in */*) mkdir -m 700 "$work/all/${link%/*}" ;; esac
    shift
    (export RACE_LINK="$work/all/$link" RACE_TARGET="$work/other" XDG_CACHE_HOME="$work/all$below" XDG_DATA_HOME="$work/all$below" LD_PRELOAD="$work/race.so" \
      ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" && exec timeout -k 10 300 "$halotune" "$@") >"$work/out" 2>"$work/said"
    code=$?
    [ $code -lt 100 ] && [ -L "$work/all/$link" ] && [ "$(find "$work/other" | wc -l)" = "$before" ]
  }
  below=
  for link in halotune halotune/host; do
    races $link cache clean
    result "'cache clean' removes nothing through a link that appears in between: $link (exit $code)" $?
  done
  below=/mine
  races mine verify heat2d --template direct --grid 16,8 --dtype f32 --sample 1
  result "and 'verify' makes no folder there (exit $code)" $?
  for link in halotune mine; do
    below=${link#halotune} && below=${below:+/mine}
    for command in list "add bob $bob"; do
      races $link trust $command
      [ $? = 0 ] && ! grep -q mallory "$work/out" && ! grep -rq bob "$work/other"
      result "'trust ${command%% *}' follows no link that appears in between: $link (exit $code)" $?
    done
  done
  # Such a link to a database of this user, where a command is about to make one.
  rm -rf "$work/all" && mkdir -m 1777 "$work/all" && "$halotune" db import --trust --yes --db "$work/precious.db" tests/data/db/copy.json >"$work/out" 2>"$work/said"
  before=$(sha256sum <"$work/precious.db")
  (export RACE_LINK="$work/all/new.db" RACE_TARGET="$work/precious.db" LD_PRELOAD="$work/race.so" ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" &&
    exec timeout -k 10 300 "$halotune" db import --trust --yes --db "$work/all/new.db" tests/data/tuned.json) >"$work/out" 2>"$work/said"
  code=$?
  [ $code = 6 ] && [ -L "$work/all/new.db" ] && [ "$(sha256sum <"$work/precious.db")" = "$before" ]
  result "no database is written through a link that appears in between (exit $code)" $?
  # Such a link in place of a folder that is to be made, after each of the looks at its place.
  rm -rf "$work/other" && mkdir -m 700 "$work/other"
  for skip in 0 1 2 3 4 5; do
    for link in sub sub/deeper; do
      rm -rf "$work/all" && mkdir -m 1777 "$work/all"
      [ $link = sub ] || mkdir -m 1777 "$work/all/sub"
      (export RACE_LINK="$work/all/$link" RACE_TARGET="$work/other" RACE_SKIP=$skip LD_PRELOAD="$work/race.so" ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" &&
        exec timeout -k 10 300 "$halotune" db import --trust --yes --db "$work/all/sub/deeper/more/new.db" tests/data/tuned.json) >"$work/out" 2>"$work/said"
      code=$?
      [ $code = 6 ] || { [ $code = 0 ] && [ ! -L "$work/all/$link" ]; }
      [ $? = 0 ] && [ -z "$(ls -A "$work/other")" ]
      result "no folder of a database is made through a link that appears after look $skip: $link (exit $code)" $?
    done
  done
else
  result "race.c compiles" 1
fi

# A folder of signers that others can read. Whoever can open a folder can lock it.
if [ "$(id -u)" = 0 ]; then
  rm -rf "$work/data" && mkdir -p "$work/data/halotune" && chmod 755 "$work" "$work/data" "$work/data/halotune"
  mkfifo "$work/held"
  setpriv --reuid 12345 --clear-groups flock -x "$work/data/halotune" sh -c 'echo held && exec sleep 300' >"$work/held" &
  locker=$!
  read -r _ <"$work/held"
  XDG_DATA_HOME=$work/data survives trust add bob "$bob"
  [ $code = 0 ] && grep -q bob "$work/data/halotune/trusted-signers" && [ "$(stat -c %a "$work/data/halotune/trusted-signers.lock")" = 600 ]
  result "another user who locks the folder of signers keeps nobody from 'trust add' (exit $code)" $?
  kill $locker $(cat "/proc/$locker/task/$locker/children") # the lock is also of the command that it runs
  chmod 644 "$work/data/halotune/trusted-signers.lock"
  XDG_DATA_HOME=$work/data survives trust remove bob
  [ $code = 5 ] && grep -q "others can open this lock of signers, .*run: chmod go-rwx " "$work/said"
  result "a lock that others can open is not used, and the remedy is said (exit $code)" $?
else
  skip "another user who locks the folder of signers" "not root"
fi

# A folder above the cache that another user made in a folder of all users, or that all users can exchange: its owner could exchange the
# cache while a compiler reads from it, so that the compiler reads what is not of this user.
if [ "$(id -u)" = 0 ]; then
  for above in halotune mine/halotune; do
    rm -rf "$work/all" && mkdir -m 1777 "$work/all" && mkdir -p -m 777 "$work/all/$above" && chmod 777 "$work/all/${above%%/*}"
    [ $above = halotune ] || chmod 755 "$work/all/mine"
    chown 12345 "$work/all/${above%%/*}"
    XDG_CACHE_HOME=$work/all/${above%halotune} verify
    [ $code = 0 ] && [ ! -e "$work/all/$above/host" ] && grep -q 'belongs to user 12345' "$work/said"
    result "a cache below a folder of another user is not used: $above (exit $code)" $?
    XDG_CACHE_HOME=$work/all/${above%halotune} survives cache clean
    [ $code = 1 ] || [ $above = halotune ]
    result "nor cleaned: $above (exit $code)" $?
  done
else
  skip "a cache below a folder of another user" "not root"
fi
rm -rf "$work/all" && mkdir -m 777 "$work/all" && chmod 777 "$work/all"
XDG_CACHE_HOME=$work/all verify && [ $code = 0 ] && [ ! -e "$work/all/halotune/host" ] && grep -q 'all users can exchange .*chmod +t' "$work/said"
result "a cache in a folder of all users that is not sticky is not used (exit $code)" $?
mkdir -m 700 "$work/all/mine"
for temporary in "$work/all" "$work/all/mine"; do
  XDG_CACHE_HOME=$work/all TMPDIR=$temporary verify && [ $code = 1 ] && [ "$(ls -A "$work/all" "$work/all/mine" | grep -c halotune)" = 0 ] &&
    grep -q 'no folder for compiled kernels: .*all users can exchange .*all users can exchange .*chmod +t' "$work/said"
  result "nor are kernels compiled in such a TMPDIR: ${temporary#"$work"} (exit $code)" $?
done
for command in list "add bob $bob"; do
  XDG_DATA_HOME=$work/all/mine survives trust $command
  [ $code = 5 ] && [ ! -e "$work/all/mine/halotune" ] && grep -q 'all users can exchange .*chmod +t' "$work/said"
  result "nor does 'trust ${command%% *}' use a list of signers there (exit $code)" $?
done

# A folder of another user on the way to the cache. Its owner can exchange what lies in it, also where it is sticky or closed to all
# others, and also where only a link of this user leads there, or a link that lies in it leads back to a folder of this user.
if [ "$(id -u)" = 0 ]; then
  for mode in 1777 755; do
    for way in theirs mylink back; do
      rm -rf "$work/theirs" "$work/other" "$work/mylink" "$work/back" && mkdir -p "$work/theirs/halotune" "$work/other"
      chmod 700 "$work/theirs/halotune" "$work/other" && chmod $mode "$work/theirs" && chown 12345 "$work/theirs"
      ln -s theirs "$work/mylink" && ln -s "$work/other" "$work/theirs/link" && ln -s theirs/link "$work/back"
      XDG_CACHE_HOME=$work/$way verify
      [ $code = 0 ] && [ -z "$(ls -A "$work/theirs/halotune" "$work/other" | grep -v :)" ] && grep -q "theirs: this folder belongs to user 12345, .*; use a folder of your own" "$work/said"
      result "a cache by $way through a folder of another user with mode $mode is not used (exit $code)" $?
      XDG_CACHE_HOME=$work/$way TMPDIR=$work/$way/halotune verify
      [ $code = 1 ] && [ -z "$(ls -A "$work/theirs/halotune" "$work/other" | grep -v :)" ] && grep -q "no folder for compiled kernels: .*; .*theirs: this folder belongs to user 12345" "$work/said"
      result "nor is such a TMPDIR: $way, mode $mode (exit $code)" $?
      XDG_DATA_HOME=$work/$way survives trust list
      [ $code = 5 ] && grep -q "theirs: this folder belongs to user 12345, .*; use a folder of your own" "$work/said"
      result "nor is such a list of signers: $way, mode $mode (exit $code)" $?
    done
  done
else
  skip "a cache through a folder of another user" "not root"
fi

# An installation with a database, to which a group may write. Another user's group is made with chgrp.
prefix=$work/prefix
mkdir -p "$prefix/bin" "$prefix/share/halotune" && cp "$halotune" "$prefix/bin/halotune"
"$halotune" db import --trust --yes --db "$prefix/share/halotune/starter.db" tests/data/db/copy.json >"$work/out" 2>&1
if [ "$(id -u)" = 0 ] || id -G | grep -q ' '; then
  other=$([ "$(id -u)" = 0 ] && echo 12345 || id -G | cut -d ' ' -f 2)
  told=
  for part in share/halotune/starter.db share/halotune share ''; do
    before=$(stat -c %g "$prefix/$part")
    chgrp "$other" "$prefix/$part" && chmod g+w "$prefix/$part"
    "$prefix/bin/halotune" doctor >"$work/said" 2>&1
    part=$prefix/$part
    told=$told$(grep -c "run: chmod g-w ${part%/}\$" "$work/said")
    chmod g-w "$part" && chgrp "$before" "$part"
  done
  "$prefix/bin/halotune" doctor >"$work/said" 2>&1
  [ "$told" = 1111 ] && grep -q "$prefix/share/halotune/starter.db" "$work/said" && ! grep -q 'chmod' "$work/said"
  result "an installation that a group can write is told, with the remedy ($told)" $?
else
  skip "an installation that a group can write" "this user is in one group only"
fi

# Such a database that another user can write, or has laid there.
serves() { "$1" query copy --device sm_90 --grid 1048576 >"$work/out" 2>"$work/said"; }
serves "$prefix/bin/halotune"
result "the installed database answers" $?
chmod o+w "$prefix/share/halotune/starter.db"
! serves "$prefix/bin/halotune" && "$prefix/bin/halotune" doctor | grep -q 'starter.db: not used'
result "an installed database that all users can write is not used" $?
chmod o-w "$prefix/share/halotune/starter.db"
if [ "$(id -u)" = 0 ]; then
  chown 12345 "$prefix/share/halotune/starter.db"
  ! serves "$prefix/bin/halotune"
  result "an installed database of another user is not used" $?
  chown 0 "$prefix/share/halotune/starter.db"
else
  skip "an installed database of another user" "not root"
fi

# A folder for files that are kept apart, which another user put there as a link to a folder of this user.
if [ "$(id -u)" = 0 ]; then
  mkdir "$work/mine" && ln -s "$work/mine" "$work/n.db.untrusted" && chown -h 12345 "$work/n.db.untrusted"
  survives db import --db "$work/n.db" tests/data/db/copy.json
  [ $code != 0 ] && grep -q 'this link belongs to user 12345' "$work/said" && [ -z "$(ls "$work/mine")" ]
  result "a file that is kept apart goes through no link of another user (exit $code)" $?
else
  skip "a file that is kept apart, and a link of another user" "not root"
fi

# The folder that the program was built for, in a namespace of mounts; beside the program lies nothing.
mkdir "$work/alone" && cp "$halotune" "$work/alone/halotune"
built_in=$("$work/alone/halotune" doctor 2>/dev/null | sed -n 's|^.* starter *\(/.*\)/starter.db.*|\1|p')
if [ -d "${built_in%/*}" ] && unshare -m mount -t tmpfs none "${built_in%/*}" 2>"$work/said"; then
  for mode in 755 777; do
    unshare -m sh -c 'mount -t tmpfs -o mode=755 none "${2%/*}" && mkdir -m "$1" "$2" && cp "$3" "$2" && shift 3 && exec "$@"' sh \
      $mode "$built_in" "$prefix/share/halotune/starter.db" "$work/alone/halotune" query copy --device sm_90 --grid 1048576 >"$work/out" 2>"$work/said"
    code=$?
    [ $code = $([ $mode = 755 ] && echo 0 || echo 4) ]
    result "a database in the folder that the program was built for, with mode $mode (exit $code)" $?
  done
else
  skip "a folder that the program was built for" "this user cannot mount there"
fi

# The program may lie where it finds neither kernels nor templates by itself.
kernels=$PWD/kernels templates=$PWD/templates
# ./templates of this user in a working directory of another user, who can exchange it between the check and the use.
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$work/there/templates" && cp templates/direct.yaml templates/direct.cu "$work/there/templates"
  for how in 12345:755 0:777 0:1777 0:755; do
    chown "${how%:*}" "$work/there" && chmod "${how#*:}" "$work/there"
    (cd "$work/there" && HALOTUNE_PATH=$kernels HALOTUNE_TEMPLATE_PATH=$templates "$halotune" generate heat2d --template direct >"$work/out" 2>"$work/said")
    code=$?
    case $how in 12345:755 | 0:777) told=1 ;; *) told=0 ;; esac
    [ $code = 0 ] && [ "$(grep -c 'another user can exchange it' "$work/said")" = $told ]
    result "./templates in a working directory of owner:mode $how (exit $code)" $?
  done
  # A link of this user in ./kernels or ./templates, to a file in a folder of another user. Who owns the file does not matter: the other
  # user can exchange it. A link to a file of root elsewhere is followed.
  mkdir -p "$work/links/kernels" "$work/links/templates" "$work/theirs" "$work/roots"
  cp templates/direct.yaml "$work/links/templates"
  for folder in theirs roots; do
    sed 's/^about:.*/about: foreign words/' kernels/heat2d.yaml >"$work/$folder/heat2d.yaml"
    sed 's|__global__|__global__ /* foreign words */|' templates/direct.cu >"$work/$folder/direct.cu"
  done
  chown 12345 "$work/theirs"
  for folder in theirs roots; do
    ln -sf "$work/$folder/heat2d.yaml" "$work/links/kernels/heat2d.yaml" && ln -sf "$work/$folder/direct.cu" "$work/links/templates/direct.cu"
    (cd "$work/links" && export HALOTUNE_PATH=$kernels HALOTUNE_TEMPLATE_PATH=$templates && "$halotune" show heat2d && "$halotune" generate heat2d --template direct) >"$work/out" 2>"$work/said"
    code=$?
    [ $folder = roots ] && told=0 found=2 || told=2 found=0
    [ $code = 0 ] && [ "$(grep -c 'foreign words' "$work/out")" = $found ] && [ "$(grep -c "another user can exchange it (.*theirs: this folder belongs to user 12345" "$work/said")" -ge $told ]
    result "a link to a file in a folder, $folder, beside ./kernels and ./templates of this user (exit $code)" $?
  done
  # Another user makes ./templates and removes it all the time, in a working directory where all users may do so. Whatever the
  # program sees, it finds the installed templates, and reads none of the other user's.
  mkdir -p "$work/race/hidden" && cp templates/direct.cu "$work/race/hidden" && chmod 755 "$work/race/hidden"
  sed 's/^about:.*/about: of another user/' templates/direct.yaml >"$work/race/hidden/direct.yaml"
  chown -R 12345 "$work/race/hidden" && chmod 777 "$work/race" && chmod 711 "$work"
  mkdir -p "$work/prefix/bin" "$work/prefix/share/halotune" && cp "$halotune" "$work/prefix/bin/halotune" && cp -r templates "$work/prefix/share/halotune"
  setpriv --reuid 12345 --clear-groups perl -e '
    chdir $ARGV[0] or die;
    while (1) {
      for ($ARGV[1], "hidden") { symlink $_, "templates"; unlink "templates"; }
      rename "hidden", "templates";
      rename "templates", "hidden";
    }' "$work/race" "$work/prefix/share/halotune/templates" &
  racer=$!
  lost=0 foreign=0
  for _ in $(seq 60); do
    (cd "$work/race" && "$work/prefix/bin/halotune" list templates >"$work/out" 2>"$work/said") && grep -q direct "$work/out" || lost=$((lost + 1))
    ! grep -q "of another user" "$work/out" || foreign=$((foreign + 1))
  done
  kill $racer && [ $lost = 0 ] && [ $foreign = 0 ]
  result "./templates that another user exchanges hide none of the installed ones ($lost lost, $foreign foreign)" $?
else
  skip "./templates in a working directory of another user" "not root"
fi

# NVRTC of the working folder, where CUDA_HOME is what `dirname` makes of nothing.
mkdir -p "$work/here/lib64" && echo "#include <stdio.h>
__attribute__((constructor)) static void run(void) { fclose(fopen(\"$work/ran\", \"w\")); }" >"$work/ran.c"
if g++ -x c++ -shared -fPIC -o "$work/here/lib64/libnvrtc.so" "$work/ran.c" 2>"$work/said"; then
  for variable in CUDA_HOME CUDA_PATH; do
    (cd "$work/here" && env "$variable=." HALOTUNE_PATH="$kernels" HALOTUNE_TEMPLATE_PATH="$templates" timeout 100 "$halotune" compile heat2d --template direct --sample 1 --no-cache >"$work/out" 2>"$work/said")
    [ ! -e "$work/ran" ]
    result "a relative $variable leads to no library of the working folder" $?
    rm -f "$work/ran"
  done
else
  skip "a relative CUDA_HOME" "no C++ compiler"
fi

# In a namespace of mounts of its own, the cache is a disk of 64 KiB.
if mkdir -p "$work/cache" && unshare -m mount -t tmpfs -o size=64k none "$work/cache" 2>"$work/said"; then
  unshare -m sh -c 'mount -t tmpfs -o size=64k none "$1" && shift && exec timeout -k 10 300 "$@"' sh "$work/cache" \
    "$halotune" verify heat2d --template direct --grid 16,8 --dtype f32 --sample 1 >"$work/out" 2>"$work/said"
  code=$?
  [ $code -lt 100 ] && grep -qi 'space\|written\|not kept' "$work/said"
  result "a full disk is said (exit $code)" $?
else
  skip "a full disk" "this user cannot mount: $(head -n 1 "$work/said")"
fi
finish
