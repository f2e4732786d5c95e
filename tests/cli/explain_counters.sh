# What bounds a winner by the counters of a profiler, as ncu --csv --page raw writes them.
HALOTUNE_DB=$TMPDIR/explain.db
export HALOTUNE_DB HALOTUNE_TEMPLATE_PATH=templates
gunzip -c bench/results/recording-star7-f32-512x512x512.json.gz >"$TMPDIR/recording.json"
halotune db import --trust --yes "$TMPDIR/recording.json" >/dev/null 2>&1
columns() { printf '"%s"' "$1" && shift && printf ',"%s"' "$@" && echo; }
# how the kernel was launched, then its counters: link, memory, shared memory, issue slots, long scoreboard
launch() { columns 1 "$kernel" "$threads" "$blocks" "$cc" "$gpu" "$registers" "$shared" "$time" "$@" 1.7 90; }
table() {
  echo '==PROF== Connected to process 7'
  columns ID 'Kernel Name' 'Block Size' 'Grid Size' CC device__attribute_display_name launch__registers_per_thread \
    launch__shared_mem_per_block_dynamic gpu__time_duration.sum lts__ltcfabric2ltc_cycles_active.avg.pct_of_peak_sustained_elapsed \
    dram__throughput.avg.pct_of_peak_sustained_elapsed l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed \
    smsp__issue_active.avg.pct_of_peak_sustained_active smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio \
    smsp__average_warps_issue_stalled_wait_per_issue_active.ratio smsp__average_warps_issue_stalled_selected_per_issue_active.ratio
  columns '' '' '' '' '' '' register/thread "$bytes" "$unit" % % % % inst inst inst
  columns 0 'reference_f32, of ""device""' '(1, 1, 1)' '(1, 1, 1)' 9.0 'NVIDIA H200' 1 0 1 1 1 1 1 1 1 1
  launch "$@"
}
winner() {
  kernel=star7_zmarch threads='(64, 8, 1)' blocks='(4, 32, 128)' cc=9.0 gpu='NVIDIA H200' registers=32 shared=0
  bytes=byte/block unit=ns time=268,192
}
explain() { halotune explain star7 --counters "$TMPDIR/star7.csv" 2>&1 | sed "s|$TMPDIR/||" | grep -E '^(bound|halotune)'; }
explain_table() { table "$@" >"$TMPDIR/star7.csv" && explain; }
winner
explain_table 96.2 83 44 36 31.4
kernel='star7_zmarch(const float *, float *, Geometry)'
explain_table n/a 60.5 44 36 -1
echo "-- the table's unit of time counts"
winner
unit=us time=268.19 && explain_table 96.2 83 44 36 31.4
unit=ms time=0.268192 && explain_table 96.2 83 44 36 31.4
unit=second time=0.000268192 && explain_table 96.2 83 44 36 31.4
echo '-- another launch than that of the winner'
winner
for kernel in star71_zmarch star7_wall_zmarch star7_direct; do explain_table 96 83 44 36 31; done
winner
blocks='(4, 32, 64)' threads='(32, 8, 1)' && explain_table 96 83 44 36 31
winner
cc=8.0 gpu='NVIDIA A100' registers=40 bytes=Kbyte/block shared=1.02 && explain_table 96 83 44 36 31
winner
explain_table n/a n/a n/a n/a 31
echo '-- the one launch of several that is the winner'
{ blocks='(4, 32, 64)' && table 96 83 44 36 31 && winner && launch 50 95 44 36 31; } >"$TMPDIR/star7.csv"
explain
echo '-- no launch'
table 96 83 44 36 31 | head -n 3 >"$TMPDIR/star7.csv"
explain
table 96 83 44 36 31 | cut -d , -f 1-2,6- >"$TMPDIR/star7.csv"
explain
table 96 83 44 36 31 | cut -d , -f 1-2 >"$TMPDIR/star7.csv"
explain
echo '==ERROR== ERR_NVGPUCTRPERM' >"$TMPDIR/star7.csv"
explain
rm "$TMPDIR/star7.csv"
explain
echo '-- a table that would take hours'
awk 'BEGIN {printf "\"Kernel Name\",\""; for (i = 0; i < 60000; i++) printf "x"; print "\"\n\"\",\"\""; for (i = 0; i < 20000; i++) print "\"k\",\"1\""}' >"$TMPDIR/star7.csv"
explain
# slow
# exit 0
