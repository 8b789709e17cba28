#!/bin/sh
# check.sh - runs every program at several rank counts and compares the results.
#
#   programs/check.sh openmpi BUILDDIR/programs/openmpi
#   programs/check.sh mpich BUILDDIR/programs/mpich "1 2 3 4"
#
# Each program has to agree with its sequential version (--check) and print the
# same digest at all rank counts. Prints a line a program; status 1 on failure.
usage="usage: check.sh openmpi|mpich DIRECTORY [RANK-COUNTS]"
mpi=${1:?$usage}
dir=${2:?$usage}
counts=${3:-1 2 3 4 7 8}

case $mpi in
  openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    launch="mpirun.openmpi --oversubscribe"
    ;;
  mpich) launch="mpirun.mpich" ;;
  *)
    echo "$usage" >&2
    exit 2
    ;;
esac

failures=0

# check PROGRAM ARGUMENTS: one line about one program.
check() {
  program=$1
  expected=
  verdict=
  for ranks in $counts; do
    output=$($launch -n "$ranks" "$dir/$@" --check 2>&1) || {
      verdict="FAILED at $ranks ranks: $(echo "$output" | grep -m 1 "^$program:.*failed" ||
        echo "$output" | head -n 3)"
      break
    }
    line=$(echo "$output" | grep "^$program: digest=")
    [ -n "$expected" ] || expected=$line
    if [ "$line" != "$expected" ]; then
      verdict="FAILED at $ranks ranks: '$line' is not '$expected'"
      break
    fi
  done
  if [ -n "$verdict" ]; then
    failures=$((failures + 1))
    echo "$*: $verdict"
  else
    echo "$*: ok at $counts ranks: ${expected#"$program: "}"
  fi
}

check mandel --rows 43 --cols 31
check mandel --rows 43 --cols 31 --schedule farm
check randmat --rows 43 --cols 31
check half --rows 43 --cols 30 --iters 2
for exchange in blocking nonblocking sendrecv; do
  check life --rows 43 --cols 31 --iters 5 --exchange $exchange
done
check life --rows 3 --cols 5 --iters 4
check thresh --rows 43 --cols 31
check outer --size 41
check elastic --size 9 --iters 3
check elastic --size 2 --iters 3
check invperc --rows 21 --cols 20
check product --size 41
check sor --size 41
check gauss --size 22
check norm --size 101
check winnow --rows 43 --cols 31 --points 50
check vecdiff --size 101
check mergesort --size 501 --algorithm bubble
check mergesort --size 501 --algorithm quick
check mergesort --size 3
check cholesky --size 19 --algorithm fan-in
check cholesky --size 19 --algorithm fan-out
check cholesky --size 3 --algorithm fan-in
check taskfarm --tasks 25 --mean-steps 500
check taskfarm --tasks 25 --mean-steps 500 --sink farmer --packet 3
check registration --rows 67 --cols 31 --spacing 5 --imbalance 100
check registration --rows 67 --cols 31 --spacing 20 --reply late --share weighted
check registration --rows 3 --cols 5
check compositing --rows 31 --cols 43
check compositing --rows 31 --cols 43 --imbalance 100 --split lines
check compositing --rows 2 --cols 3 --spheres 3

[ "$failures" -eq 0 ] || exit 1
