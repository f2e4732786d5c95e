# Every command that has -o: a link stays and its target is written, devices and pipes stay what they are, a folder is refused.
HALOTUNE_DB=$TMPDIR/kinds.db
export HALOTUNE_DB
halotune db import --trust --yes tests/data/tuned.json >/dev/null 2>&1
folder=$TMPDIR/kinds
mkdir -p "$folder/folder"
each() { # path: run all commands with this output
  for command in 'generate star7 --template direct' 'query star7 --device sm_90 --source' 'db export' 'report'; do
    # The words of a command are words.
    halotune $command -o "$folder/$1" >/dev/null 2>"$TMPDIR/err" || sed "s|^|$command: |; s|$TMPDIR|TMP|g" "$TMPDIR/err"
  done
}
kinds() { (cd "$folder" && stat -c '%N is a %F' "$@"); }
echo '--- a folder' && each folder
echo '--- a link to a link to a file' && echo old text >"$folder/file" && mkdir "$folder/links"
ln -s ../file "$folder/links/link" && ln -s links/link "$folder/outer" && each outer
kinds outer links/link file && grep -cx 'old text' "$folder/file"
echo '--- a link to no file yet' && ln -s missing "$folder/dangling" && each dangling && kinds dangling missing
echo '--- a device' && ln -s /dev/full "$folder/full" && each full && kinds full /dev/full
echo '--- a link to itself' && ln -s round "$folder/round" && each round && kinds round
echo '--- a pipe' && mkfifo "$folder/pipe"
grep -c '__global__\|"format"\|DOCTYPE' <"$folder/pipe" >"$TMPDIR/lines" &
exec 9>"$folder/pipe" # open until all have written
each pipe
exec 9>&-
wait
[ "$(cat "$TMPDIR/lines")" -ge 4 ] && kinds pipe
echo '--- a pipe that nobody reads'
# The shell would let a process in the background ignore Ctrl-C.
env --default-signal=INT halotune generate copy --template direct -o "$folder/pipe" &
waits() { # between two attempts to open the pipe; where the system does not tell, asleep
  case $(cat "/proc/$1/wchan") in *nanosleep) return 0 ;; '' | 0) ;; *) return 1 ;; esac
  grep -q '^halotune$' "/proc/$1/comm" && grep -q ' S ' "/proc/$1/stat"
}
tell() { sed "s|$TMPDIR|TMP|g" "$TMPDIR/err"; }
stop_once() { # CHECK SIGNAL: send it to the process in the background once the check holds, and tell its end
  rounds=18000 # 15 minutes
  until $1 $! || ! kill -0 $! 2>/dev/null; do
    rounds=$((rounds - 1))
    [ $rounds -gt 0 ] || { echo 'it never waits' && kill -KILL $!; }
    sleep 0.05
  done
  kill -$2 $!
  wait $!
  echo "exit $?"
}
stop_once waits INT
HALOTUNE_PIPE_TIMEOUT=0.1 halotune generate copy --template direct -o "$folder/pipe" 2>&1 | sed "s|$TMPDIR|TMP|"
echo '--- a pipe that somebody opens and does not read'
exec 9<>"$folder/pipe"
env --default-signal=INT halotune report -o "$folder/pipe" >/dev/null 2>&1 &
writes() { # to a pipe that is full; where the system does not tell, asleep
  case $(cat "/proc/$1/wchan") in *poll_schedule_timeout* | *pipe_write) return 0 ;; '' | 0) ;; *) return 1 ;; esac
  grep -q '^halotune$' "/proc/$1/comm" && grep -q ' S ' "/proc/$1/stat"
}
stop_once writes INT
HALOTUNE_PIPE_TIMEOUT=0.1 halotune report -o "$folder/pipe" 2>&1 >/dev/null | sed "s|$TMPDIR|TMP|"
exec 9>&-
echo '--- standard output that nobody reads'
exec 9<>"$folder/pipe"
head -c 65536 /dev/zero >&9
env --default-signal=INT halotune show star7 >"$folder/pipe" &
stop_once writes INT
exec 9>&-
echo '--- standard output that is read later: it has no limit, under its other name, too'
HALOTUNE_PIPE_TIMEOUT=0 halotune report -o /dev/stdout 2>"$TMPDIR/err" | { sleep 0.3; grep -c '</html>'; }
tell
echo '--- commands that end in their own way after a signal'
perl tests/npy.pl write "$TMPDIR/u.npy" '<f4' 256,256 0
env halotune run heat2d --backend cpu --input u="$TMPDIR/u.npy" -o v="$folder/pipe" >/dev/null 2>"$TMPDIR/err" &
stop_once waits TERM && tell
exec 9<>"$folder/pipe"
env halotune run heat2d --backend cpu --input u="$TMPDIR/u.npy" -o v="$folder/pipe" >/dev/null 2>"$TMPDIR/err" &
stop_once writes TERM && tell
exec 9>&-
exec 9<>"$folder/pipe"
env halotune verify "$folder/pipe" >/dev/null 2>"$TMPDIR/err" &
stop_once writes TERM && tell
exec 9>&-
echo '--- limits that are no number of seconds'
for limit in 5s never -1 1e99; do HALOTUNE_PIPE_TIMEOUT=$limit halotune show star7 2>&1; echo "exit $?"; done
echo '--- standard output, which is a file' && echo before >"$TMPDIR/all"
halotune generate copy --template direct -o /dev/stdout >>"$TMPDIR/all"
head -n 1 "$TMPDIR/all" && grep -c __global__ "$TMPDIR/all"
ls "$folder"
# exit 0
