"""Chapter 5 of the thesis: profiles against reverse profiles, and time lines."""

import draw
import judge
import page as pages

ROWS = {"SEND": ["MPI_Send"], "RECV": ["MPI_Recv"], "BARRIER": ["MPI_Barrier"], "BUSY": ["COMPUTE"], "BCAST": ["MPI_Bcast"],
        "ALLGATHER": ["MPI_Allgatherv", "MPI_Allgather"], "GATHER": ["MPI_Gatherv", "MPI_Gather"],
        "ALLREDUCE": ["MPI_Allreduce"]}
ELASTIC = "elastic --size 128 --iters 50"
LIFE = "life --rows 128 --cols 128 --iters 20 --cell-bytes 8"


def state(report, name):
    return sum(report["states"].get(each, 0) for each in ROWS[name])


def phase(report, name):
    return next((each["time"] for each in report["phases"] if each["name"] == name), 0)


def mandel(shop, page, printed):
    for key, machine, title in (("mandel_workstations", "sparc-ethernet", "Figure 5.2: mandel on 8 workstations"),
                                ("mandel_t3d", "cray-t3d", "Figures 5.3 and 6.15: mandel on 8 processors of the T3D")):
        paper = printed[key]
        trace = shop.live(key, 8, machine, "mandel")
        report = shop.report(trace)
        compute = phase(report, "compute")
        barrier = max(max(each) for each in shop.calls(trace, "MPI_Barrier").values())
        found = [judge.compared("Initial barrier and computation" if "barrier" in paper else "The whole time",
                                barrier + compute if "barrier" in paper else report["time"], paper["total"])]
        if "barrier" in paper:
            found.append(judge.compared("Initial barrier", barrier, paper["barrier"]))
            ranks = sorted(report["per_rank"], key=lambda rank: -rank["compute"])[:2]
            busiest = sorted(rank["rank"] for rank in ranks)
            found.append((f"Most computation: ranks {busiest[0]} and {busiest[1]}, in the text {paper['busiest'][0]} and "
                          f"{paper['busiest'][1]}.", "agrees" if busiest == paper["busiest"] else "differs"))
        page.figure(title + " (section 5.4.1)", [draw.timeline(shop.drawn(trace))], paper["says"], found)
    page.missing("Figures 5.4 and 5.5: measured on the machines of 1996", "there are no such machines")


def runs_of_elastic(shop, page, printed):
    """Table 5.1, and what the data sheet of this machine makes of the program: (run, prediction)."""
    here = shop.folder / "here.toml"
    if not here.exists():
        shop.foretrace("measure", "-n", 2, "--mpi", shop.mpi, "--quick", "-o", "here.new.toml")
        (shop.folder / "here.new.toml").rename(here)
    runs = [shop.report(shop.trace(f"elastic-run-{i}", "record", "--clock", "wall", "-n", 2, "--", *shop.program(ELASTIC)))
            for i in (1, 2)]
    rows, ratios = [], []
    for name, one, two in printed["elastic_runs"]["rows"]:
        mine = [state(run, name) for run in runs]
        ratios.append(mine[1] / mine[0] if mine[0] else 0)
        rows.append([name, *map(draw.seconds, mine), f"{ratios[-1]:.3f}", draw.seconds(one), draw.seconds(two), f"{two / one:.3f}"])
    page.figure("Table 5.1: two runs of elastic on two processors", [pages.table(
        ["", "here, run 1", "run 2", "ratio", "T3D, run 1", "run 2", "ratio"], rows)], printed["elastic_runs"]["says"],
        notes=[judge.spread("Second run here, divided by the first", ratios)], quiet=True)
    predicted = shop.trace("elastic-here", "predict", "-n", 2, "--machine", "here.toml", "--", *shop.program(ELASTIC))
    return runs[1], shop.report(predicted)


def elastic(shop, page, printed):
    trace = shop.live("elastic-t3d", 2, "cray-t3d", ELASTIC, "annotated:0.5us")
    t3d = shop.report(trace)
    run, local = runs_of_elastic(shop, page, printed) if shop.measures else (None, None)
    if not shop.measures:
        page.unmeasured("Table 5.1: two runs of elastic on two processors")
    rows, found = [], []
    for name, forward, reverse in printed["elastic_profiles"]["rows"]:
        here = []
        if run:
            mine, predicted = state(run, name), state(local, name)
            here = [draw.seconds(mine), draw.seconds(predicted), f"{predicted / mine:.3f}" if mine else ""]
        rows.append([name, draw.seconds(state(t3d, name)), draw.seconds(reverse), f"{state(t3d, name) / reverse:.3f}",
                     draw.seconds(forward), f"{reverse / forward:.3f}", *here])
        found.append(judge.compared(f"{name}, predicted for the T3D", state(t3d, name), reverse))
    page.figure("Table 5.2: forward against reverse profile of elastic", [pages.table(
        ["", "predicted for T3D", "printed prediction", "ratio", "printed measurement", "its ratio",
         *(["measured here", "predicted for here", "ratio"] if run else [])], rows)], printed["elastic_profiles"]["says"], found,
        ["Measured and predicted for here: two ranks on this machine, with its own data sheet (measure --quick)."
         if run else "What is measured here is left out, as --virtual-only was given."], quiet=bool(run))
    ranks = shop.calls(trace, "MPI_Allreduce")
    found = [judge.compared(f"ALLREDUCE of processor {rank}, predicted", sum(ranks[rank]), time)
             for rank, time in enumerate(printed["elastic_allreduce"]["predicted"])]
    even = abs(sum(ranks[0]) - sum(ranks[1])) <= 0.1 * sum(ranks[0])
    found.append(("The prediction gives both processors the same time, as printed." if even else
                  "The prediction gives the processors different times; the printed one does not.",
                  "agrees" if even else "differs"))
    each = [time / len(ranks[0]) for time in (printed["elastic_allreduce"]["predicted"][0], sum(ranks[0]))]
    page.figure("Table 5.3: ALLREDUCE by processor", [], printed["elastic_allreduce"]["says"], found, [
        f"Of {len(ranks[0])} calls each took {draw.seconds(each[0])} in the printed prediction, and takes "
        f"{draw.seconds(each[1])} by the data sheet that the thesis prints (appendix B): its table was made with another one."])
    page.figure("Figure 5.6: elastic on two processors of the T3D, predicted", [draw.timeline(shop.drawn(trace))])
    four(shop, page, printed["elastic_four"])


def four(shop, page, paper):
    trace = shop.live("elastic-four", 4, "cray-t3d", ELASTIC, "annotated:0.5us")
    charts = []
    if shop.measures:
        run = shop.trace("elastic-four-run", "record", "--clock", "wall", "-n", 4, "--", *shop.program(ELASTIC))
        reduce = [each for calls in shop.calls(run, "MPI_Allreduce").values() for each in calls]
        charts.append(draw.histogram(reduce, "allreduce, measured here"))
    busy = [each for calls in shop.calls(trace, "COMPUTE").values() for each in calls]
    longest = sorted(busy)[len(busy) // 2]
    ratio = longest / paper["busy_measured"]
    low, high = paper["ratio"]
    verdict = "agrees" if low <= ratio <= high * 1.05 else "near" if low / 2 <= ratio <= high * 2 else "differs"
    page.figure("Figures 5.14 to 5.16: elastic on four processors, distributions",
                [*charts, draw.histogram(busy, "computation, predicted for the T3D")],
                paper["says"], [(f"Computation predicted (median {draw.seconds(longest)}) over the printed measured peak "
                                 f"({draw.seconds(paper['busy_measured'])}): {ratio:.3g}; in the text {low} to {high}.", verdict)],
                quiet=shop.measures)


def outer(shop, page, printed):
    rows = shop.study("outer-steps", f"""
[parameters]
p = [1, 2, 4, 8, 16, 32]
c = ["10ns", "0.1us", "1us"]
[programs.outer]
command = "{shop.programs}/outer --size 128"
ranks = "{{p}}"
[ways.live]
machine = "cray-t3d"
options = "--compute annotated:{{c}}"
""")
    times = {}
    for row in rows:
        times.setdefault(row["c"], {})[row["ranks"]] = row["time"]
    best = {c: max(each[1] / time for time in each.values()) for c, each in times.items()}
    minimal = best["10ns"] < 2 < best["0.1us"] < best["1us"]
    page.figure("Figures 5.19 and 5.20: outer on the T3D, speed-up", [draw.lines(
        [(f"step {c}", [(p, each[1] / time) for p, time in sorted(each.items())], False) for c, each in times.items()], "speed-up")],
        printed["outer_speedup"]["says"], [(
            "The largest speed-ups are " + ", ".join(f"{best[c]:.3g} with {c}" for c in ("10ns", "0.1us", "1us"))
            + f"; below 2 with 10 ns would be minimal: {'agrees' if minimal else 'differs'}.", "agrees" if minimal else "differs")])


def life(shop, page, printed):
    paper = printed["life"]
    reports = {(ranks, step): shop.report(shop.live(f"life-{ranks}-{step}", ranks, "cray-t3d", LIFE, f"annotated:{step}"))
               for ranks, step in ((2, "1us"), (32, "1us"), (32, "0.1us"), (32, "10us"))}
    both = {key: (phase(report, "exchange"), phase(report, "compute")) for key, report in reports.items()}
    found = [judge.compared("Exchange of an iteration on 32", both[32, "1us"][0] / 20, paper["exchange"]),
             judge.compared("An iteration on 32", sum(both[32, "1us"]) / 20, paper["iteration_32"]),
             judge.compared("An iteration on 2", sum(both[2, "1us"]) / 20, paper["iteration_2"]),
             judge.compared("The phase on 32", sum(both[32, "1us"]), paper["phase"]),
             judge.compared("The phase, processors 10 times faster", sum(both[32, "0.1us"]), paper["phase_fast"]),
             judge.compared("The phase, processors 10 times slower", sum(both[32, "10us"]), paper["phase_slow"])]
    for key, name, label in (((32, "1us"), "share_32", "on 32"), ((2, "1us"), "share_2", "on 2"),
                             ((32, "0.1us"), "share_fast", "with faster processors"),
                             ((32, "10us"), "share_slow", "with slower processors")):
        found.append(judge.compared(f"Share of communication {label}", 100 * both[key][0] / sum(both[key]), 100 * paper[name], "%"))
    page.figure("Figures 5.23 to 5.30: life on 2 and 32 processors of the T3D (section 5.4.5)",
                [draw.timeline(shop.drawn(shop.folder / "life-2-1us.ftr")),
                 draw.timeline(shop.drawn(shop.folder / "life-32-1us.ftr"))], paper["says"], found)
    rows, found = [], []
    for name, forward, reverse in printed["life_profiles"]["rows"]:
        mine = state(reports[32, "1us"], name)
        rows.append([name, draw.seconds(mine), draw.seconds(reverse), draw.seconds(forward), f"{mine / forward:.2f}",
                     f"{reverse / forward:.2f}"])
        found.append(judge.compared(f"{name}, predicted", mine, reverse))
    page.figure("Table 5.4: life, forward against reverse profile", [pages.table(
        ["", "predicted here", "printed prediction", "printed measurement", "ratio", "printed ratio"], rows)],
        printed["life_profiles"]["says"], found)
    page.missing("Table 5.5: the same with congested sends", "the equation of the congested send is not printed")


def rest(shop, page, printed):
    trace = shop.live("thresh-32", 32, "cray-t3d", "thresh --rows 160 --cols 160")
    page.figure("Figure 5.21: thresh on 32 processors of the T3D", [draw.timeline(shop.drawn(trace))], printed["thresh"]["says"],
                notes=[f"Here {draw.seconds(shop.report(trace)['time'])} for 160 x 160: as the size is not printed, the "
                       "times cannot be compared."])
    trace = shop.live("winnow-32", 32, "cray-t3d", "winnow")
    ranks = shop.report(trace)["per_rank"]
    zero, others = ranks[0]["compute"], sorted(rank["compute"] for rank in ranks[1:])
    found = zero > others[-1]
    page.figure("Figures 5.31 and 5.32: winnow on 32 processors of the T3D", [draw.timeline(shop.drawn(trace))],
                printed["winnow"]["says"], [(f"Rank 0 computes {draw.seconds(zero)}, the others at most "
                                             f"{draw.seconds(others[-1])}: {'agrees' if found else 'differs'}.",
                                             "agrees" if found else "differs")])


def chapter(shop, page, printed):
    page.chapter("Howell's thesis, chapter 5: reverse profiling")
    for part in (mandel, elastic, outer, life, rest):
        print(f"  {part.__name__}", flush=True)
        part(shop, page, printed)
