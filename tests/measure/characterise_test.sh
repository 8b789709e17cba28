#!/bin/sh
# Usage: characterise_test.sh MPIRUN PROGRAM FILE.csv
# Every function is there, wrong use ends with status 2 and leaves no file, and
# more ranks than cores draw a warning but an answer.
set -eu
mpirun=$1 program=$2 out=$3

fail() { echo "characterise_test: $*" >&2; exit 1; }

rm -f "$out"
"$mpirun" -n 2 "$program" --output "$out" --quick --max-bytes 20000
for function in send ssend recv recvmin isend1 isend2 isendoverlap irecv1 irecv2 irecvoverlap \
    sendrecv pingpong bcast reduce allreduce gather allgather scatter alltoall barrier comm_dup \
    comm_split compute_step; do
  grep -q "^$function," "$out" || fail "no sample of $function"
done
grep -q '^# sync_threshold = [0-9]*$' "$out" || fail "no rendezvous threshold below 20000 bytes"
grep -q '^# start = common clock$' "$out" || fail "two ranks of one host share a clock"

status=0
"$mpirun" -n 2 "$program" --output "$out.none" --max-bytes many 2>"$out.err" || status=$?
[ "$status" -eq 2 ] || fail "wrong use ended with status $status"
grep -q -- '--max-bytes: expected a whole number' "$out.err" || fail "wrong use is not explained"
[ ! -e "$out.none" ] || fail "wrong use left a file"

ranks=$(($(nproc) + 2))
"$mpirun" -n "$ranks" "$program" --output "$out" --quick --max-bytes 64 2>"$out.err" ||
  fail "more ranks than cores: ended with status $?"
grep -q 'more ranks than processor cores' "$out.err" || fail "more ranks than cores: no warning"
grep -q '^# oversubscribed = yes$' "$out" || fail "more ranks than cores: not in the file"
grep -q "^barrier,$ranks,0," "$out" || fail "more ranks than cores: no samples for $ranks ranks"
