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
    files: dict = dataclasses.field(default_factory=dict)   # name: text with @P@ and @Q@, whose product is the ranks
    copies: list = dataclasses.field(default_factory=list)  # "SOURCE[:NAME]"; .gz is unpacked
    setup: list = dataclasses.field(default_factory=list)   # a command that makes the input
    output: str = ""    # a file that counts as output
    ranks: tuple = ()   # the numbers that the program can run on, if not all
    digits: int = 0     # of numbers in results, where sums may be in another order
    as_set: bool = False  # how often a result is printed depends on the time
    wrong: str = ""     # a regular expression for results by which the program itself says that they are wrong
    any_ranks: bool = False  # the results are the same on any number of ranks
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


# The test data that the package brings hold hundreds of cases; these are of its form, with a few cases each.
GRIDS = """2   number of process grids
2 @P@   values of P
1 @Q@   values of Q
"""
BLOCKS = """1   number of NBs
3   values of NB
"""
SIDES = BLOCKS + """1   number of NRHSs
2   values of NRHS
1   number of NBRHSs
2   values of NBRHS
"""

# Its condition estimation of so small matrices does not end in a third of plain runs on two ranks.
LU = f"""'LU factorization'
'MPI machine'
'LU.out'
6   device out
2   number of problem sizes
13 20   values of M
9 20   values of N
{SIDES}{GRIDS}1.0   threshold
F   condition estimation and iterative refinement
"""

LLT = f"""'LLt factorization'
'MPI machine'
'LLT.out'
6   device out
'U'   lower or upper
2   number of problem sizes
9 20   values of N
{SIDES}{GRIDS}3.0   threshold
T   condition estimation and iterative refinement
"""

QR = f"""'Orthogonal factorizations'
'MPI machine'
'QR.out'
6   device out
6   number of factorizations
'QR' 'QL' 'LQ' 'RQ' 'QP' 'TZ'
1   number of problem sizes
13   values of M
17   values of N
1   number of blocking sizes
4   values of MB
3   values of NB
{GRIDS}5.0   threshold
"""

INV = f"""'Matrix inversion'
'MPI machine'
'INV.out'
6   device out
5   number of matrix types
'GEN' 'UTR' 'LTR' 'UPD' 'LPD'
1   number of problem sizes
15   values of N
{BLOCKS}{GRIDS}1.0   threshold
"""

LS = f"""'Least squares'
'MPI machine'
'LS.out'
6   device out
2   number of problem sizes
15 7   values of M
5 13   values of N
{SIDES}{GRIDS}4.0   threshold
"""

BRD = f"""'Reduction to bidiagonal form'
'MPI machine'
'BRD.out'
6   device out
2   number of problem sizes
13 17   values of M
13 12   values of N
{BLOCKS}{GRIDS}10.0   threshold
"""

SVD = """'Singular value decomposition'
6   device out
@P@   maxnodes
' '
'One matrix on all processes'
20.0   threshold
1   number of matrices
24   number of rows
8   number of columns
1   number of processor configurations
@P@   values of P
@Q@   values of Q
8   values of NB
' '
'End of tests'
-1
"""

HRD = f"""'Reduction to Hessenberg form'
'MPI machine'
'HRD.out'
6   device out
2   number of problem sizes
20 20   values of N
1 3   values of ILO
20 18   values of IHI
{BLOCKS}{GRIDS}3.0   threshold
"""

SCALAPACK = (("xdlu", "LU", LU), ("xcllt", "LLT", LLT), ("xdqr", "QR", QR), ("xzinv", "INV", INV), ("xdls", "LS", LS),
             ("xdbrd", "BRD", BRD), ("xdsvd", "SVD", SVD), ("xshrd", "HRD", HRD))


def scalapack(mpi, name, data, text):
    folder = f"/usr/lib/x86_64-linux-gnu/scalapack/{mpi}-tests"
    results = r"^(WALL +(?:\w+ +)+?)(?=\d*\.).*?(PASSED|FAILED)|^ *(Finished.*|\d+ +tests.*|End of tests.*)"
    if name == "xdsvd":  # its figures differ from run to run
        results = r"^ *(Passed|Failed|Finished|\d+ +tests|End of tests)"
    return App(f"ScaLAPACK {name}", "scalapack-mpi-test", mpi, [f"{folder}/{name}"], results, {f"{data}.dat": text},
               wrong=r"FAILED|Failed|^[1-9]\d* +tests completed and failed")


HPL = """HPLinpack
small
HPL.out
8   device out
1   number of problem sizes
120   Ns
1   number of NBs
20   NBs
0   PMAP
1   number of process grids
@P@   Ps
@Q@   Qs
16.0   threshold
1   number of PFACTs
2   PFACTs
1   number of NBMINs
4   NBMINs
1   number of NDIVs
2   NDIVs
1   number of RFACTs
1   RFACTs
1   number of BCASTs
1   BCASTs
1   number of DEPTHs
1   DEPTHs
2   SWAP
64   swapping threshold
0   L1 form
0   U form
1   equilibration
8   memory alignment in double
#####
0   additional problem sizes for PTRANS
100   values of N
0   additional blocking sizes for PTRANS
20   values of NB
"""


def letters(count, state):
    """DNA that is the same in every run, from a linear congruential generator."""
    text = []
    for _ in range(count):
        state = (1103515245 * state + 12345) % 2 ** 31
        text.append("ACGT"[state >> 20 & 3])
    return "".join(text)


def alignment():
    """Six related sequences in Phylip's form: each differs from the one before in every seventh place."""
    sequence, lines = letters(140, 1), []
    for taxon in range(6):
        sequence = "".join(other if place % 7 == taxon else letter
                           for place, (letter, other) in enumerate(zip(sequence, letters(140, taxon + 2))))
        lines.append(f"T{taxon} {sequence}")
    return "6 140\n" + "\n".join(lines) + "\n"


def reads():
    """Every tenth piece of 60 letters of a genome of 600, so that k-mers of 31 are covered three times."""
    genome = letters(600, 7)
    return "".join(f">read{start}\n{genome[start:start + 60]}\n" for start in range(0, 541, 10))


def all_apps():
    for mpi in ("openmpi", "mpich"):
        for name, data, text in SCALAPACK:
            yield scalapack(mpi, name, data, text)
    for name, kind in (("dsimpletest", "real"), ("zsimpletest", "cmplx")):
        yield App(f"MUMPS {name}", "mumps-test", "openmpi",
                  ["sh", "-c", f"exec /usr/lib/mumps/{name} < /usr/lib/mumps/input_simpletest_{kind}"],
                  r"Solution is.*", digits=5, any_ranks=True, program=f"/usr/lib/mumps/{name}")
    yield App("HPCC", "hpcc", "openmpi", ["/usr/bin/hpcc"],
              # RandomAccess allows for updates that race, and counts some in a quarter of plain runs.
              r"^(?:Success=|PTRANS_residual=).*|PASSED$|"
              r"tests completed and (?:passed|failed)",
              files={"hpccinf.txt": HPL}, output="hpccoutf.txt",
              wrong=r"Success=[^1]|tests completed and failed [^:]*: [1-9]")
    yield App("LAMMPS melt", "lammps", "openmpi", ["/usr/bin/lmp", "-in", "melt.in", "-log", "none"],
              r"^ +\d+ +[-\d.]+ +[-\d.]+ +0 .*", files={"melt.in": MELT}, digits=4, any_ranks=True)
    yield App("NetPIPE", "netpipe-openmpi", "openmpi", ["/usr/bin/NPopenmpi", "-u", "65536", "-i"],
              r"Integrity check (passed|failed)$", ranks=(2,), as_set=True)
    yield App("NetPIPE", "netpipe-mpich2", "mpich", ["/usr/bin/NPmpich2", "-u", "65536", "-i"],
              r"Integrity check (passed|failed)$", ranks=(2,), as_set=True)
    yield App("ExaML", "examl", "openmpi",
              ["/usr/lib/examl/bin/examl-sse3", "-f", "e", "-t", "six.tree", "-m", "GAMMA", "-e", "1", "-s",
               "six.binary", "-n", "T"],
              r"Likelihood tree.*", {"six": alignment(), "six.tree": "((T0,T1),(T2,T3),(T4,T5));\n"},
              setup=["parse-examl", "-s", "six", "-m", "DNA", "-n", "six"], output="ExaML_info.T", digits=9,
              any_ranks=True)
    yield App("Ray", "ray", "openmpi", ["/usr/bin/Ray", "-k", "31", "-s", "reads.fasta", "-o", "assembly"],
              r"^ *((?:Number:|Total length|Average|N50|Median|Largest).*)", {"reads.fasta": reads()},
              output="assembly/OutputNumbers.txt", any_ranks=True)
    yield App("Quantum ESPRESSO pw.x", "quantum-espresso", "openmpi", ["/usr/bin/pw.x", "-in", "si.in"],
              r"^!? +(total energy .*|highest occupied.*|.*contribution +=.*|convergence has been.*)",
              files={"si.in": SILICON}, copies=[f"{EXAMPLES}/EPW/sic/pp/Si.pz-vbc.UPF.gz"], digits=7, any_ranks=True)
    yield App("mpi4py", "python3-mpi4py", "openmpi", [PYTHON, "mpi4py_program.py"],
              r"all checks passed", files={"mpi4py_program.py": MPI4PY}, any_ranks=True)


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
