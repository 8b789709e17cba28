"""The programs of the papers on Foretrace's own MPI library: the same results as under the real MPI at 1 to
64 ranks, and for the deterministic ones the times of predict, and of record and simulate, to the picosecond."""

import harness_live
from harness_live import harness
import programs_test

SIZES = (1, 2, 3, 4, 7, 8, 16, 64)
# `predict` and `record` start real ranks, which takes time.
TIMED = (2, 3)
# Where messages share links, and collectives are made of messages.
NETWORKS = {
    "flow": "--network flow --topology ring:4?latency=5us&bandwidth=1MB/s",
    "packet": "--network packet --topology ring:4?latency=5us&bandwidth=1MB/s",
    "bus": "--network bus --topology bus:4?latency=5us&bandwidth=1MB/s",
    "loggps": "--network loggps --collectives mpich",
}
ON_NETWORKS = {"life_nonblocking", "half", "sor"}


class Papers(harness_live.TestCase):
    def digest(self, name, lines):
        """The result, which is the same at any number of ranks."""
        found = [line for line in lines if line.startswith(f"{name}: digest=")]
        self.assertEqual(len(found), 1, lines)
        return found[0]

    def check_results(self, name, arguments):
        command = [harness.paper_program(name), *arguments.split(), "--check"]
        expected = self.ok(harness.plain(2, command)).out.splitlines()
        for ranks in SIZES:
            with self.subTest(ranks=ranks):
                self.live(ranks, command)
                lines = harness_live.said(self.result)
                if ranks == 2:
                    self.assertEqual(lines, expected)
                self.assertEqual(self.digest(name, lines), self.digest(name, expected))

    def check_times(self, name, arguments):
        command = [harness.paper_program(name), *arguments.split()]
        for ranks in TIMED:
            with self.subTest(ranks=ranks):
                live = self.live(ranks, command)
                self.assert_same_ticks(live, self.predict(ranks, command))
                if ranks == TIMED[-1]:
                    self.assert_same_ticks(live, self.simulate(self.record(ranks, command)))


    def check_networks(self, name, arguments):
        command = [harness.paper_program(name), *arguments.split()]
        recorded = self.record(4, command)
        for network, words in NETWORKS.items():
            with self.subTest(network=network):
                live = self.live(4, command, options=words.split())
                replayed = self.directory / "replayed.ftr"
                self.foretrace("simulate", recorded, "--machine", harness.T3D, "--compute", "annotated",
                               *words.split(), "-o", replayed)
                self.assert_same_ticks(live, replayed)


def add_tests():
    programs = {name: (name, arguments) for name, arguments in programs_test.SIZES.items()}
    for label, (name, arguments) in (programs | programs_test.MORE).items():
        def results(self, name=name, arguments=arguments):
            self.check_results(name, arguments)

        def times(self, name=name, arguments=arguments):
            self.check_times(name, arguments)

        def networks(self, name=name, arguments=arguments):
            self.check_networks(name, arguments)

        setattr(Papers, f"test_{label}_results", results)
        if label in ON_NETWORKS:
            setattr(Papers, f"test_{label}_networks", networks)
        if name not in programs_test.NOT_DETERMINISTIC:
            setattr(Papers, f"test_{label}_times", times)


add_tests()

if __name__ == "__main__":
    harness.main()
