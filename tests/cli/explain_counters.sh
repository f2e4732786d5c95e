# What bounds a winner by the counters of a profiler, as ncu --csv --page raw writes them.
HALOTUNE_DB=$TMPDIR/explain.db
export HALOTUNE_DB HALOTUNE_TEMPLATE_PATH=templates
gunzip -c bench/results/recording-star7-f32-512x512x512.json.gz >"$TMPDIR/recording.json"
halotune db import --trust --yes "$TMPDIR/recording.json" >/dev/null 2>&1
table() { # name of the kernel, then link, memory, shared memory, issue slots, long scoreboard, selected
  printf '==PROF== Connected to process 7\n'
  printf '"ID","Kernel Name","gpu__time_duration.sum","lts__ltcfabric2ltc_cycles_active.avg.pct_of_peak_sustained_elapsed","dram__throughput.avg.pct_of_peak_sustained_elapsed","l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed","smsp__issue_active.avg.pct_of_peak_sustained_active","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio","smsp__average_warps_issue_stalled_wait_per_issue_active.ratio","smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"\n'
  printf '"","","ns","%%","%%","%%","%%","inst","inst","inst"\n'
  printf '"0","reference_f32, of ""device""","1","1","1","1","1","1","1","1"\n'
  printf '"1","%s","268,192","%s","%s","%s","%s","%s","1.7","90"\n' "$@"
}
explain() { halotune explain star7 --counters "$TMPDIR/star7.csv" 2>&1 | sed "s|$TMPDIR/||" | grep -E '^(bound|halotune)'; }
table star7_zmarch 96.2 83 44 36 31.4 >"$TMPDIR/star7.csv"
explain
table star7_zmarch n/a 60.5 44 36 -1 >"$TMPDIR/star7.csv"
explain
table star71_zmarch 96 83 44 36 31 >"$TMPDIR/star7.csv"
explain
echo '==ERROR== ERR_NVGPUCTRPERM' >"$TMPDIR/star7.csv"
explain
rm "$TMPDIR/star7.csv"
explain
# exit 0
