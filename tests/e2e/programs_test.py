"""The programs of the papers: the same output and status with us as without, and the same times
from predict as from record and simulate."""

import harness

SIZES = {
    "mandel": "--rows 23 --cols 21", "randmat": "--rows 23 --cols 21",
    "half": "--rows 23 --cols 22 --iters 2", "life": "--rows 23 --cols 21 --iters 3",
    "thresh": "--rows 23 --cols 21", "outer": "--size 21", "elastic": "--size 7 --iters 2",
    "invperc": "--rows 13 --cols 12", "product": "--size 21", "sor": "--size 21",
    "gauss": "--size 14", "norm": "--size 51", "winnow": "--rows 23 --cols 21 --points 20",
    "vecdiff": "--size 51", "mergesort": "--size 201 --algorithm quick",
    "cholesky": "--size 11 --algorithm fan-in",
    "taskfarm": "--tasks 12 --mean-steps 100",
    "registration": "--rows 37 --cols 40 --spacing 5 --iters 3 --imbalance 50",
    "compositing": "--rows 16 --cols 20 --spheres 9 --frames 2",
}
# Who gets which task depends on who asks first.
NOT_DETERMINISTIC = {"taskfarm"}
MORE = {
    "life_sendrecv": ("life", "--rows 23 --cols 21 --iters 3 --exchange sendrecv"),
    "life_nonblocking": ("life", "--rows 23 --cols 21 --iters 3 --exchange nonblocking"),
    "mergesort_bubble": ("mergesort", "--size 201 --algorithm bubble"),
    "registration_late": ("registration", "--rows 37 --cols 40 --spacing 5 --iters 3 --reply late --share weighted"),
    "compositing_lines": ("compositing", "--rows 16 --cols 20 --spheres 9 --frames 2 --split lines --imbalance 100"),
    "cholesky_fan_out": ("cholesky", "--size 11 --algorithm fan-out"),
}
FOUR = {"half", "cholesky", "life_nonblocking", "mergesort"}


class Programs(harness.TestCase):
    def check(self, name, arguments, ranks, deterministic):
        command = [harness.paper_program(name), *arguments.split(), "--check"]
        expected = self.ok(harness.plain(ranks, command)).out
        recorded = self.record(ranks, command)
        self.assertEqual(self.result.out, expected)
        predicted = self.predict(ranks, command)
        self.assertEqual(self.result.out, expected)
        if deterministic:
            self.assert_same_ticks(predicted, self.simulate(recorded))


def add_tests():
    programs = {name: (name, arguments) for name, arguments in SIZES.items()} | MORE
    for label, (name, arguments) in programs.items():
        for ranks in (2, 3, 4):
            if ranks == 4 and label not in FOUR or ranks == 2 and label in MORE:
                continue

            def test(self, name=name, arguments=arguments, ranks=ranks):
                self.check(name, arguments, ranks, name not in NOT_DETERMINISTIC)

            setattr(Programs, f"test_{label}_{ranks}", test)


add_tests()

if __name__ == "__main__":
    harness.main()
