"""Threads of a rank that wait for each other otherwise than by MPI (programs/teams.cpp): what they compute one after
the other counts, what they compute beside each other does not add up, in all three ways."""

import harness

# For each form: milliseconds of a round, by hand.
FORMS = {
    "conditions": 10,       # one works 10 while the other, which waits for it, works 2
    "c11-conditions": 10,
    "semaphores": 10,
    "atomics": 10,
    "barriers": 6 + 4,      # until each of two barriers: (6, 1), (1, 4)
    "pool": 8 + 2,          # two threads work 8 and 5; then the first one
    "futures": 10,
    "calls": 10,            # a call meanwhile
    "team": 8 + 2,          # (2, 8); then the first one
    "team-barriers": 5 + 5,  # (1, 5); then (4 + 1, 1 + 2)
    "teams": 7 + 3,         # one thread's own team: (1, 7); then that thread
    "lookers": 8 + 2,
    "turns": 3 + 7,         # both call
}
ROUNDS = 3


class Teams(harness.TestCase):
    def computed(self, trace):
        """In milliseconds."""
        return sum(fields.get("compute", 0) for _, _, fields in self.events(trace)[0]) * 1e-9

    def ways(self, form, environment):
        """Each with what makes its trace, and says what was told."""
        command = [harness.test_program("teams"), form]
        yield "record", lambda: self.record(1, command, env=environment)
        yield "predict", lambda: self.predict(1, command, compute="measured", env=environment)
        yield "live", lambda: self.live(command, environment)

    def live(self, command, environment):
        trace = self.directory / "live.ftr"
        self.result = self.foretrace("simulate", "-n", 1, "--machine", harness.T3D, "-o", trace, "--", *command, env=environment)
        return trace

    def check(self, form, **environment):
        """Who has no core for a while may come too late to a wait, and is not waited for then: what is wrong has to be so
        three times."""
        expected = ROUNDS * FORMS[form]
        for way, run in self.ways(form, environment):
            with self.subTest(form=form, way=way):
                for last in (False, False, True):
                    trace = run()
                    if "not so many threads" in self.result.out:
                        return
                    computed = self.computed(trace)
                    if 0.98 * expected < computed < 1.1 * expected and "waited" not in self.result.err:
                        break
                    self.assertFalse(last, f"{computed} ms for {expected}; {self.result.err}")

    def test_wait_for_each_other(self):
        for form in FORMS:
            self.check(form)

    def test_that_look_for_work_all_the_time(self):
        for form in ("team", "team-barriers", "lookers"):
            self.check(form, OMP_WAIT_POLICY="active")


if __name__ == "__main__":
    harness.main()
