"""The benchmarks' programs, where they are built."""

MPIS = ("openmpi", "mpich")


def find(build, name, mpis=MPIS):
    """Their paths, by MPI; ends where there is none."""
    paths = {mpi: build / "programs" / mpi / name for mpi in mpis}
    found = {mpi: path for mpi, path in paths.items() if path.exists()}
    if not found:
        raise SystemExit(f"{paths[mpis[0]]} is not there; configure with -DFORETRACE_BENCH=ON and build it")
    return found
