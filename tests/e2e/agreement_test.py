"""Both MPIs predict the same: every event of a deterministic program at the same time."""

import harness
import programs_test


class Agreement(harness.TestCase):
    def check(self, name, arguments):
        traces = []
        for mpi in ("openmpi", "mpich"):
            command = [harness.paper_program(name, mpi), *arguments.split()]
            traces.append(self.predict(3, command, name=f"{mpi}.ftr"))
        self.assert_same_ticks(*traces)


for label, (each, options) in ({n: (n, a) for n, a in programs_test.SIZES.items()}
                               | programs_test.MORE).items():
    if each not in programs_test.NOT_DETERMINISTIC:
        setattr(Agreement, f"test_{label}", lambda self, n=each, a=options: self.check(n, a))

del programs_test.Programs  # its tests have a file of their own

if __name__ == "__main__":
    harness.main()
