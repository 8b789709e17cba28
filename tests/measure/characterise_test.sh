#!/bin/sh
# Usage: characterise_test.sh MPIRUN PROGRAM FILE.csv
# Every function is there, wrong use ends with status 2 and leaves no file, and
# more ranks than cores draw a warning but an answer.
set -eu
mpirun=$1 program=$2 out=$3

fail() { echo "characterise_test: $*" >&2; exit 1; }

rm -rf "$out" "$out.d"
mkdir "$out.d"
"$mpirun" -n 2 "$program" --output "$out.d/samples.csv" --quick --seconds 60 --max-bytes 20000
[ "$(ls "$out.d")" = samples.csv ] || fail "left behind: $(ls "$out.d")"
mv "$out.d/samples.csv" "$out"
for function in send ssend recv recvmin isend1 isend2 isendoverlap irecv1 irecv2 irecvoverlap \
    sendrecv pingpong bcast reduce allreduce gather allgather scatter alltoall barrier comm_dup \
    comm_split compute_step gap bcast_root type_commit comm_free; do
  grep -q "^$function," "$out" || fail "no sample of $function"
done
# Of a busy machine's core from time to time nobody answers.
grep -q '^send,.*,[0-9.]*e-0[5-8]$' "$out" || fail "no sample knows what a cache line took"
reductions=$(sed -n 's/^reduction:\([^,]*\),1,.*/\1/p' "$out" | sort -u | wc -l)
[ "$reductions" -eq 39 ] || fail "$reductions reductions"
for size in 1024 32768 1048576; do
  grep -q "^reduction:sum_double,1,$size," "$out" || fail "no sum of $size bytes"
done
# Each kernel by one rank, and by two where both have a core.
for kernel in integer stream matrix; do
  grep -q "^kernel:$kernel,1,0," "$out" || fail "no kernel $kernel by one rank"
  [ "$(getconf _NPROCESSORS_ONLN)" -lt 2 ] || grep -q "^kernel:$kernel,2,0," "$out" || fail "no kernel $kernel by two ranks"
done
fact() { sed -n "s/^# $1 = //p" "$out"; }
if [ "$(fact launch_1_functions)" != "out of time" ]; then
  for function in rsend bsend send_start recv_wait put get accumulate win_fence allsend \
      exchange_ring exchange_mesh gatherv reduce_scatter_block exscan ibcast1 iscan2 \
      ibarrieroverlap file_open file_close file_write_at file_read_at_all; do
    grep -q "^$function," "$out" || fail "no sample of $function"
  done
fi

# On a machine that is far too busy the program may say that it gave up; what it
# says it found must be there.
thresholds() {
  if [ "$(fact launch_1_thresholds)" = "out of time" ]; then return 1; fi
  [ "$(fact local_threshold)" -lt "$(fact sync_threshold)" ] || fail "thresholds: $(fact local_threshold) $(fact sync_threshold)"
}
if thresholds && [ -z "$(fact launch_1_incomplete)" ]; then
  grep -q "^send,2,$(fact local_threshold)," "$out" || fail "the last local size was not measured"
  grep -q "^send,2,$(($(fact local_threshold) + 1))," "$out" || fail "nor the one after it"
fi
[ "$(fact start)" = "common clock" ] || fail "wrong start: $(fact start)"
[ "$(fact buffers)" = warm ] || fail "wrong buffers: $(fact buffers)"
[ -z "$(fact clock_hosts)" ] || fail "two ranks of one host share a clock"
for key in binding mpi_library mpi_settings launch_1_bounce launch_1_bounce_after launch_1_bandwidth \
    launch_1_load launch_1_timer_resolution launch_1_seconds; do
  [ -n "$(fact $key)" ] || fail "no fact $key"
done

# Rank 1 reads another clock, 5,000 s ahead and gaining 100 us each second: ranks
# would wait for ever, or begin at once, if nobody corrected that, and collectives
# would take 5,000 s.
FORETRACE_MEASURE_CLOCK=1:5000000000000:100 "$mpirun" -n 2 "$program" --output "$out" --quick \
  --max-bytes 64 --seconds 10 --buffers cold --thresholds none
[ "$(fact clock_hosts)" = 2 ] || fail "a shifted clock was taken for the same one"
[ -n "$(fact clock_error)" ] || fail "no error of the clocks"
[ "$(fact start)" = "common clock" ] || fail "the common clock was not used"
[ "$(fact buffers)" = cold ] || fail "cold buffers are not in the file"
awk -F, '$1 == "barrier" || $1 == "bcast" { n++; if ($5 > 100) exit 1 } END { exit n == 0 }' "$out" ||
  fail "the shift of the clock is in the times"

# Without a largest message, also what no cache holds; where that takes long it is left out. Each point
# takes longer where there is more time, which says nothing here.
"$mpirun" -n 2 "$program" --output "$out" --quick --seconds 25 --start barrier --thresholds none
if [ "$(fact launch_1_functions)" != "out of time" ] && [ "$(fact max_bytes)" -gt 4194304 ]; then
  for function in send bcast gatherv; do
    grep -q "^$function,2,$(fact max_bytes)," "$out" || fail "no long message of $function"
  done
fi
[ "$(fact start)" = barrier ] || fail "the barrier start is not in the file"
[ -z "$(sed -n '/^# jumps_/p' "$out")" ] || fail "jumps were looked for although they were given"

"$mpirun" -n 2 "$program" --output "$out" --only-thresholds --max-bytes 20000
thresholds || true
grep -q '^send,' "$out" && fail "thresholds alone: samples"

status=0
"$mpirun" -n 2 "$program" --output "$out.none" --max-bytes many 2>"$out.err" || status=$?
[ "$status" -eq 2 ] || fail "wrong use ended with status $status"
grep -q -- '--max-bytes: expected a whole number' "$out.err" || fail "wrong use is not explained"
[ ! -e "$out.none" ] || fail "wrong use left a file"

status=0
FORETRACE_MEASURE_CLOCK=1:soon "$mpirun" -n 2 "$program" --output "$out.none" --quick 2>"$out.err" || status=$?
[ "$status" -eq 2 ] || fail "a clock that makes no sense ended with status $status"

ranks=$(($(nproc) + 2))
"$mpirun" -n "$ranks" "$program" --output "$out" --quick --max-bytes 64 2>"$out.err" ||
  fail "more ranks than cores: ended with status $?"
grep -q 'more ranks than processor cores' "$out.err" || fail "more ranks than cores: no warning"
grep -q '^# oversubscribed = yes$' "$out" || fail "more ranks than cores: not in the file"
"$mpirun" -n "$ranks" "$program" --output "$out.refused" --quick --need-cores 2>"$out.err" ||
  fail "more ranks than cores, refused: ended with status $?"
grep -q '^# oversubscribed = yes$' "$out.refused" || fail "more ranks than cores, refused: not said"
grep -q '^barrier,' "$out.refused" && fail "more ranks than cores, refused: samples"
rm -f "$out.refused"
grep -q "^barrier,$ranks,0," "$out" || fail "more ranks than cores: no samples for $ranks ranks"
