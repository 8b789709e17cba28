#!/bin/sh
# Usage: resume_test.sh FORETRACE MPI MPIRUN DIRECTORY
# `foretrace measure` that was interrupted goes on with the launches that it has,
# refuses other arguments, and leaves what was there until it has something new. A
# launch that stands still is made again.
set -eu
foretrace=$1 mpi=$2 mpirun=$3 dir=$4

fail() { echo "resume_test: $*" >&2; cat err >&2; exit 1; }

# Unbound ranks of MPICH share a core now and then on a busy machine, and a
# launch takes many times as long.
bind=
[ "$mpi" = openmpi ] || bind="-bind-to core"

rm -rf "$dir" && mkdir -p "$dir" && cd "$dir"
echo "old model" > m.toml
# Stands in for mpirun; of the second start one rank is stopped, as soon as both look for SIGALRM,
# and the fourth is interrupted.
cat > launch <<END
#!/bin/sh
echo start >> starts
[ "\$(wc -l < starts)" -ne 4 ] || kill -INT \$\$
[ "\$(wc -l < starts)" -eq 2 ] || exec $mpirun $bind -n 2 "\$@"
looks() { [ \$(( 0x\$(sed -n 's/^SigCgt:[^0-9a-f]*//p' "/proc/\$1/status") & 0x2000 )) -ne 0 ]; }
FORETRACE_MEASURE_STANDSTILL=3 $mpirun $bind -n 2 ./rank "\$@" &
until [ "\$(cat pids 2>/dev/null | wc -l)" -eq 2 ]; do sleep 0.1; done
read -r first < pids
second=\$(tail -n 1 pids)
until looks "\$first" && looks "\$second"; do sleep 0.1; done
kill -STOP "\$second"
rm pids
wait \$!
END
cat > rank <<END
#!/bin/sh
echo \$\$ >> pids
exec "\$@"
END
chmod +x launch rank

# Ends before the test itself is ended, so that fail() says how far it was.
measure() { FORETRACE_MEASURE_STANDSTILL=60 timeout 250 "$foretrace" measure -n 2 --mpi "$mpi" --quick --budget 200 --launches 3 --max-bytes 4096 --launch ./launch -o m.toml "$@"; }

status=0
measure >out 2>err || status=$?
[ "$status" -eq 1 ] || fail "an interrupted launch ended with status $status"
grep -q 'nothing has gone on for 3 s: rank [01] stands in [a-z]' err || fail "not told where it stood"
grep -q 'launch 2 stood still; it is made again' err || fail "not told that it stood still"
grep -q 'ended with status 130 in launch 3; the launches before it are in' err || fail "not explained"
[ "$(cat m.toml)" = "old model" ] || fail "the old model is gone"
[ ! -e m.samples.csv.launch-3 ] || fail "a launch that was interrupted is taken for complete"

status=0
measure --buffers cold >out 2>err || status=$?
[ "$status" -eq 2 ] || fail "other arguments: status $status"
grep -q 'buffers warm.*; now .*buffers cold.*--fresh to start over' err || fail "other arguments: not explained"

measure >out 2>err || fail "going on failed"
grep -q 'going on with the 2 launches' err || fail "did not say that it goes on"
[ "$(wc -l < starts)" -ge 5 ] || fail "no further start"
[ "$(ls | tr '\n' ' ')" = "err launch m.samples.csv m.toml out rank starts " ] || fail "left behind: $(ls)"
for launch in 1 2 3; do
  grep -q "^[a-z_:-]*,[0-9]*,[0-9]*,$launch," m.samples.csv || fail "no samples of launch $launch"
  grep -q "^# launch_${launch}_state = " m.samples.csv || fail "launch $launch: no state"
done
grep -q '^\[machine\]' m.toml || fail "no model"
if command -v python3 >/dev/null; then
  PYTHONDONTWRITEBYTECODE=1 python3 "$(dirname "$0")/../cli/datasheet_numbers.py" "$foretrace" m.toml ||
    fail "numbers on the data sheet do not follow from the model and its samples"
fi

"$foretrace" measure -n 2 --mpi "$mpi" --thresholds >out 2>err || fail "thresholds failed"
grep -q '^# sync_threshold = [0-9]*$' out || grep -q '^# launch_1_thresholds = out of time$' out || fail "no threshold"
