"""The program's heap stays as it is without Foretrace: what malloc returns does not hold what the capture library
left there (programs/clean_heap.c). Programs that read memory before they write it would run otherwise."""

import harness

# Bytes by which MPI's own rest differs from run to run, and what the C library keeps of ours.
LEAST = 10_000


class Heap(harness.TestCase):
    ranks = 2

    def dirt(self, *mode):
        """Bytes that are not zero before and after MPI_Init."""
        command = [harness.test_program("clean_heap")]
        if not mode:
            return [int(word) for word in self.ok(harness.plain(self.ranks, command)).out.split()]
        name = "out.json" if mode[0] == "profile" else f"{mode[0]}.ftr"
        ended = self.foretrace(*mode, "-n", self.ranks, "-o", self.directory / name, "--", *command)
        return [int(word) for word in ended.out.splitlines()[0].split()]

    def test_all_ways(self):
        plain = self.dirt()
        model = ["--machine", "taurus-10gbe", "--allow-invalid"]
        for mode in (["record"], ["predict", *model], ["profile"]):
            with self.subTest(mode=mode[0]):
                for ours, theirs in zip(self.dirt(*mode), plain, strict=True):
                    self.assertLess(ours, theirs + LEAST)


if __name__ == "__main__":
    harness.main()
