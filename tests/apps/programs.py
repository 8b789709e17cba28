"""The table of real programs: Debian's own, which nobody here wrote.

mrbayes-mpi is not among them: what Debian 12 packages under that name does not use MPI.
"""

import dataclasses
import os
import pathlib
import subprocess

PYTHON = "/usr/bin/python3"  # Debian's, which sees Debian's modules
DOCS = pathlib.Path("/usr/share/doc")
EXAMPLES = DOCS / "quantum-espresso/examples"
MPI_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}


@dataclasses.dataclass
class App:
    """One program with a small case.

    `results` is a regular expression for the lines of output that hold results; of a line that
    matches, the text of its groups counts, or all of it where there are none.
    """
    name: str
    package: str
    mpi: str
    command: list
    results: str
    files: dict = dataclasses.field(default_factory=dict)   # name: text
    copies: list = dataclasses.field(default_factory=list)  # "SOURCE[:NAME]"; .gz is unpacked
    setup: list = dataclasses.field(default_factory=list)   # a command that makes the input
    output: str = ""    # a file that counts as output
    ranks: tuple = ()   # the numbers that the program can run on, if not all
    digits: int = 0     # of numbers in results, where sums may be in another order
    as_set: bool = False  # how often a result is printed depends on the time
    program: str = ""   # what has to be there; else the command's first word


MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 20
run 100
"""

SILICON = """&control
 calculation='scf', prefix='si', pseudo_dir='./', outdir='./out'
/
&system
 ibrav=2, celldm(1)=10.2, nat=2, ntyp=1, ecutwfc=12.0
/
&electrons
 conv_thr=1.0d-8
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.25 0.25 0.25
K_POINTS automatic
 2 2 2 1 1 1
"""

MPI4PY = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
everyone = comm.allgather({"rank": rank, "text": "x" * rank})
assert [each["rank"] for each in everyone] == list(range(size))
assert comm.bcast(["from", 0] if rank == 0 else None) == ["from", 0]
right, left = (rank + 1) % size, (rank - 1) % size
assert comm.sendrecv(("hello", rank), dest=right, source=left) == ("hello", left)
request = comm.isend({rank}, dest=right, tag=3)
assert comm.recv(source=MPI.ANY_SOURCE, tag=3) == {left}
request.wait()
buffer = bytearray(8 * size)
comm.Allgather([rank.to_bytes(8, "little"), MPI.BYTE], [buffer, MPI.BYTE])
assert [int.from_bytes(buffer[8 * i:8 * i + 8], "little") for i in range(size)] == list(range(size))
half = comm.Split(rank % 2, rank)
total = half.allreduce(rank)
window = MPI.Win.Allocate(8, comm=comm)
window.Fence()
window.Put([rank.to_bytes(8, "little"), MPI.BYTE], right)
window.Fence()
assert int.from_bytes(window.tomemory(), "little") == left
window.Free()
results = comm.gather((rank, total), root=0)
if rank == 0:
    print("total", sum(total for _, total in results), "all checks passed")
"""


def scalapack(mpi, name, data):
    folder = f"/usr/lib/x86_64-linux-gnu/scalapack/{mpi}-tests"
    results = r"^ *(?:Finished|\d+ +tests).*|^(?:Passed|Failed|End of tests).*"
    if name == "xdsvd":  # its figures differ from run to run
        results = r"^ *(Passed|Failed|Finished|\d+ +tests|End of tests)"
    return App(f"ScaLAPACK {name}", "scalapack-mpi-test", mpi, [f"{folder}/{name}"], results,
               copies=[f"{folder}/{data}"])


def all_apps():
    for mpi in ("openmpi", "mpich"):
        for name, data in (("xdlu", "LU.dat"), ("xcllt", "LLT.dat"), ("xdqr", "QR.dat"),
                           ("xzinv", "INV.dat"), ("xdls", "LS.dat"), ("xdbrd", "BRD.dat"),
                           ("xdsvd", "SVD.dat"), ("xshrd", "HRD.dat")):
            yield scalapack(mpi, name, data)
    for name, kind in (("dsimpletest", "real"), ("zsimpletest", "cmplx")):
        yield App(f"MUMPS {name}", "mumps-test", "openmpi",
                  ["sh", "-c", f"exec /usr/lib/mumps/{name} < /usr/lib/mumps/input_simpletest_{kind}"],
                  r"Solution is.*", digits=5, program=f"/usr/lib/mumps/{name}")
    yield App("HPCC", "hpcc", "openmpi", ["/usr/bin/hpcc"],
              r"^(?:Success=|MPIRandomAccess_Errors=|PTRANS_residual=).*|PASSED$|"
              r"tests completed and (?:passed|failed)",
              copies=["/usr/share/doc/hpcc/examples/_hpccinf.txt:hpccinf.txt"],
              output="hpccoutf.txt", ranks=(4, 8))
    yield App("LAMMPS melt", "lammps", "openmpi", ["/usr/bin/lmp", "-in", "melt.in", "-log", "none"],
              r"^ +\d+ +[-\d.]+ +[-\d.]+ +0 .*", files={"melt.in": MELT}, digits=4)
    yield App("NetPIPE", "netpipe-openmpi", "openmpi", ["/usr/bin/NPopenmpi", "-u", "65536", "-i"],
              r"Integrity check (passed|failed)$", ranks=(2,), as_set=True)
    yield App("NetPIPE", "netpipe-mpich2", "mpich", ["/usr/bin/NPmpich2", "-u", "65536", "-i"],
              r"Integrity check (passed|failed)$", ranks=(2,), as_set=True)
    yield App("ExaML", "examl", "openmpi",
              ["/usr/lib/examl/bin/examl-sse3", "-f", "e", "-t", "49.tree", "-m", "GAMMA", "-s",
               "49.binary", "-n", "T"],
              r"Likelihood tree.*", copies=[f"{DOCS}/examl/testData/49.gz", f"{DOCS}/examl/testData/49.tree"],
              setup=["parse-examl", "-s", "49", "-m", "DNA", "-n", "49"], output="ExaML_info.T", digits=9)
    yield App("Ray", "ray", "openmpi",
              ["/usr/bin/Ray", "-k", "31", "-p", "ecoli_1K_1.fq", "ecoli_1K_2.fq", "-o", "assembly"],
              r"^(?:Number:|Total length|Average|N50|Median|Largest).*",
              copies=[f"{DOCS}/ray/test_data/ecoli_1K_{half}.fq.gz" for half in (1, 2)],
              output="assembly/OutputNumbers.txt")
    yield App("Quantum ESPRESSO pw.x", "quantum-espresso", "openmpi", ["/usr/bin/pw.x", "-in", "si.in"],
              r"^!? +(total energy .*|highest occupied.*|.*contribution +=.*|convergence has been.*)",
              files={"si.in": SILICON}, copies=[f"{EXAMPLES}/EPW/sic/pp/Si.pz-vbc.UPF.gz"], digits=7)
    yield App("mpi4py", "python3-mpi4py", "openmpi", [PYTHON, "mpi4py_program.py"],
              r".*checks passed", files={"mpi4py_program.py": MPI4PY})


def packages():
    return sorted({app.package for app in all_apps()} | {"quantum-espresso-data"})


def version(app):
    """The package and its version, as Debian's tools name them."""
    query = subprocess.run(["dpkg-query", "-W", "-f=${Version}", app.package], capture_output=True, text=True)
    return f"{app.package} {query.stdout}".strip()


def installed(app):
    if app.name == "mpi4py":
        probe = [PYTHON, "-c", "import mpi4py.MPI"]
        return subprocess.run(probe, capture_output=True).returncode == 0
    return os.access(app.program or app.command[0], os.X_OK)
