"""Recomputes the numbers of a data sheet from the machine file and the samples file alone.

    datasheet_numbers.py FORETRACE MODEL...

Knows nothing of Foretrace but its two file formats: reads the TOML and the CSV, evaluates the
equations, takes medians, quartiles and shares by their definitions, and compares each with what
the HTML sheet prints. Fails if a table has a column that it cannot account for.
"""

import csv
import html.parser
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import tomllib

UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}
SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
TIME = 5.01e-4  # four digits
NO_TIME = 0.5e-12  # seconds, less than which is printed as none
PERCENT = 0.051  # one place


class Tables(html.parser.HTMLParser):
    """[part, heading, caption, rows] of each table, in order."""

    def __init__(self, page):
        super().__init__()
        self.part = self.heading = ""
        self.into, self.found = None, []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag in ("h2", "h3", "caption", "summary"):
            self.into = [tag, ""]
        elif tag == "table":
            self.found.append([self.part, self.heading, "", []])
        elif tag == "tr":
            self.found[-1][3].append([])
        elif tag in ("td", "th"):
            self.into = [tag, ""]

    def handle_endtag(self, tag):
        if self.into is None or tag != self.into[0]:
            return
        text, self.into = self.into[1], None
        if tag == "h2":
            self.part = self.heading = text
        elif tag == "h3":
            self.heading = text
        elif tag == "caption":
            self.found[-1][2] = text
        elif tag in ("td", "th"):
            self.found[-1][3][-1].append(text)

    def handle_data(self, data):
        if self.into is not None:
            self.into[1] += data


def factor(name, p, d):
    ceil = (p - 1).bit_length()
    startups = {"1": 1, "p": p, "ln p": math.log(p), "p^2": p * p, "ceil log2 p": ceil, "(p-1)": p - 1,
                "(p-1)/p": (p - 1) / p}
    if name in startups:
        return startups[name]
    if name == "d":
        return d
    return startups[name.removesuffix(" d")] * d


def size_of(column):
    number, unit = column.split()
    return int(number) * SIZES[unit]


def pair(value):
    return value if isinstance(value, list) else [value, 0]


class Model:
    def __init__(self, path):
        file = tomllib.loads(path.read_text())
        machine = file["machine"]
        unit = machine.get("time_unit", "s")
        self.unit = UNITS[unit] if isinstance(unit, str) else unit
        self.element = machine.get("element_bytes", 1)
        self.file = file
        self.functions = {each["name"]: each for each in file.get("function", [])}

    def terms(self, regime, p):
        """[factor, value, error] of a regime's sum."""
        if "terms" in regime:
            others = "other_terms" in regime and p & (p - 1) != 0
            return [(name, *pair(each)) for name, each in regime["other_terms" if others else "terms"].items()]
        out = [("1", *pair(regime.get("c", 0)))]
        for coefficient, form in (("s", "f"), ("k", "g")):
            if coefficient in regime:
                out.append((regime.get(form, "p" if form == "f" else "d"), *pair(regime[coefficient])))
        return out

    def regime(self, name, size):
        regimes = self.functions[name]["regime"]
        for each in regimes:
            if size <= (each.get("bytes", [0]) + [math.inf])[1]:
                return each
        return regimes[-1]

    def correction(self, name, p, size):
        rows = self.functions[name].get("correction", [])
        if not rows:
            return 1

        def along(known, at):
            """The value at `at` of (where, value), straight over the logarithm."""
            below = max((one for one in known if one[0] <= at), default=known[0])
            above = min((one for one in known if one[0] >= at), default=known[-1])
            share = math.log(at / below[0]) / math.log(above[0] / below[0]) if above[0] > below[0] else 0
            return below[1] + share * (above[1] - below[1])

        def logarithms(row):
            return [(max(number, 0.5), math.log(factor)) for number, factor in row["factors"]]

        return math.exp(along([(row["ranks"], along(logarithms(row), max(size, 0.5))) for row in rows], p))

    def times(self, name, p, size):
        """(min, avg, max) in seconds, within what was measured."""
        return [self.correction(name, p, size) * each for each in self.equations(name, p, size)]

    def equations(self, name, p, size):
        regime = self.regime(name, size)
        d = size / self.element

        def total(sign):
            return max(0, sum((value + sign * error) * factor(form, p, d) for form, value, error in self.terms(regime, p)))

        if "interval" in regime:
            low, high = regime["interval"]
            return [self.unit * total(0) * each for each in (low, 1, high)]
        return [self.unit * total(sign) for sign in (-1, 0, 1)]


class Check:
    def __init__(self, model_path, page):
        self.model, self.count = Model(model_path), 0
        self.kept, self.blocks, self.survived, self.facts = {}, {}, {}, {}
        paths = [self.model.file, *self.model.file.get("path", {}).values()]
        self.rewrites = [path["rewrite"] for path in paths if "rewrite" in path]
        self.pieces = [path["pieces"] for path in paths if "pieces" in path]
        samples = model_path.with_suffix(".samples.csv")
        if samples.exists():
            self.read(samples)
        for part, heading, caption, rows in Tables(page).found:
            self.table(part, heading, caption, rows)

    def read(self, path):
        lines = path.read_text().splitlines()
        self.facts = facts = dict(line[2:].split(" = ", 1) for line in lines if line.startswith("# ") and " = " in line)
        left_out = {key.split("_")[1] for key, value in facts.items()
                    if key.startswith("launch_") and key.endswith("_state") and value.startswith("left out")}
        disturbed = {}
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            if row["launch"] in left_out:
                continue
            name, point = row["function"], (row["function"], int(row["ranks"]), int(row["bytes"]))
            self.blocks[name] = self.blocks.get(name, 0) + 1
            self.survived[name] = self.survived.get(name, 0) + int(row["kept"])
            (self.kept if row["kept"] == "1" else disturbed).setdefault(point, []).append(float(row["seconds"]))
        self.kept = disturbed | self.kept  # those that were disturbed where there is no other

    def close(self, what, printed, expected, within):
        self.count += 1
        if not abs(printed - expected) <= within:
            raise AssertionError(f"{what}: printed {printed:.9g}, recomputed {expected:.9g}")

    def time(self, what, cell, expected):
        value, unit = cell.removesuffix(" *").split()
        within = NO_TIME if value == "0" else TIME * abs(expected)
        self.close((what, cell), float(value) * UNITS[unit], expected, within)

    def percent(self, what, cell, share):
        if cell != "-":
            self.close(what, float(cell.removesuffix(" !").removesuffix(" %")), 100 * share, PERCENT)

    def table(self, part, heading, caption, rows):
        header = rows[0]
        if part == "In short":
            self.in_short(rows)
        elif part == "Times":
            self.summary(caption, rows)
        elif part == "Equations":
            self.front_equations(rows)
        elif part == "Errors":
            self.errors(rows)
        elif "samples" in header:
            self.raw(heading, rows)
        elif header == ["p", "bytes", "minimum", "time", "maximum"]:
            for p, size, *cells in rows[1:]:
                if not cells[1].endswith(" *"):  # beyond, the bounds are wider
                    for cell, expected in zip(cells, self.model.times(heading, int(p), int(size))):
                        self.time((heading, p, size), cell, expected)
        elif part == "Functions" and header[0] == "message size":
            self.fits(heading, header, rows[1:], "baseline" if "chi-squared" in header else "regime")
        elif part == "Measurement" and header[0] != "launch":
            for row in rows:
                if row[0] == "blocks in which no rank was switched out":
                    kept, _, all_blocks, share = row[1].split(" ", 3)
                    names = [name for name in self.blocks if name in self.model.functions]
                    self.close(row, int(kept), sum(self.survived[name] for name in names), 0)
                    self.close(row, int(all_blocks), sum(self.blocks[name] for name in names), 0)
                    self.percent(row, share.strip("()"), int(kept) / int(all_blocks))

    def known_cells(self, rows, known_of):
        """Of a table by sizes: name, column, size, cell, and the entries of what is known below and above it. Below
        the first of them nothing is told."""
        for name, *cells in rows[1:]:
            known = known_of(name)
            for column, cell in zip(rows[0][1:], cells):
                size = size_of(column)
                if cell == "-":
                    self.close((name, column), size < known[0][0], True, 0)
                    continue
                below = max((one for one in known if one[0] <= size), default=known[0])
                above = min((one for one in known if one[0] >= size), default=known[-1])
                yield (name, column), size, cell, below, above

    def untouched(self, rows):
        for what, size, cell, below, above in self.known_cells(rows, lambda name: self.model.functions[name]["untouched"]):
            share = math.log(size / below[0]) / math.log(above[0] / below[0]) if above[0] > below[0] else 0
            self.close(what, float(cell), below[1] + share * (above[1] - below[1]), 0.00501)

    def rewrite(self, rows):
        """The outer path's table is the first."""
        for what, size, cell, below, above in self.known_cells(rows, self.rewrites.pop(0).get):
            share = (size - below[0]) / (above[0] - below[0]) if above[0] > below[0] else 0
            self.time(what, cell, below[1] + share * (above[1] - below[1]))

    def in_pieces(self, rows):
        """The outer path's table is the first. Beyond the last size each byte takes what it does there."""
        known_of = self.pieces.pop(0)

        def times(name):
            what, length = re.fullmatch(r"(sent|received), (\d+) B", name).groups()
            return known_of["send" if what == "sent" else "recv"][length]

        for what, size, cell, below, above in self.known_cells(rows, times):
            share = (size - below[0]) / (above[0] - below[0]) if above[0] > below[0] else 0
            beyond = max(1, size / below[0]) if above == below else 1
            self.time(what, cell, (below[1] + share * (above[1] - below[1])) * beyond)

    def summary(self, caption, rows):
        if caption.startswith("Untouched data"):
            return self.untouched(rows)
        if caption.startswith("Writing again"):
            return self.rewrite(rows)
        if caption.startswith("Data that does not lie together"):
            return self.in_pieces(rows)
        columns = rows[0][1:]
        p = int(caption.split("t(")[1].split(",")[0]) if "d)" in caption else None
        for name, *cells in rows[1:]:
            for column, cell in zip(columns, cells):
                ranks = p or int(column.removeprefix("p = "))
                size = 0
                if p:
                    size = size_of(column)
                name = name.removesuffix(" (invalid)")
                self.time((name, column), cell, self.model.times(name, ranks, size)[1])

    def errors(self, rows):
        columns = rows[0]
        for name, *cells in rows[1:]:
            function = self.model.functions[name.removesuffix(" (invalid)")]
            seen_mean = False
            for column, cell in zip(columns[1:], cells):
                if column == "mean":
                    share = function.get("held_out", [0])[0]
                elif column == "maximum":
                    share = function.get("baseline_held_out" if seen_mean else "held_out", [0, 0])[1]
                elif column == "papers' forms: mean":
                    share, seen_mean = function.get("baseline_held_out", [0])[0], True
                elif column == "other ranks":
                    share = function.get("extrapolation_error", 0)
                elif column == "blocks kept":
                    share = self.survived[function["name"]] / self.blocks[function["name"]]
                else:
                    raise AssertionError(f"a column of errors that nobody knows: {column}")
                self.percent((name, column), cell, share)

    def raw(self, name, rows):
        seen = set()
        for row in rows[1:]:
            cells = dict(zip(rows[0], row, strict=True))
            point = (name, int(cells["p"]), int(cells["bytes"]))
            seen.add(point)
            kept = self.kept[point]
            self.close(point, int(cells["samples"]), len(kept), 0)
            low, middle, high = statistics.quantiles(kept, method="inclusive") if len(kept) > 1 else kept * 3
            expected = self.model.times(*point)[1]
            for column, value in (("lower quartile", low), ("median", middle), ("upper quartile", high),
                                  ("equation", expected)):
                self.time((point, column), cells[column], value)
            if expected > 0:
                off = float(cells["median - equation"].removesuffix(" !").removesuffix(" %"))
                share = (middle - expected) / expected
                self.close((point, "residual"), off, 100 * share, PERCENT + 1e-3 * abs(100 * share))
        if seen != {point for point in self.kept if point[0] == name}:
            raise AssertionError(f"{name}: the raw data lack points")

    def in_short(self, rows):
        if rows[0][0] == "time":
            for name, *cells in rows[1:]:
                function, _, size = name.partition(", ")
                number, unit = size.split() if size else ("0", "B")
                for column, cell in zip(rows[0][1:], cells, strict=True):
                    p = int(column.removeprefix("p = "))
                    self.time((name, p), cell, self.model.times(function, p, int(number) * SIZES[unit])[1])
            return
        for what, value, how in rows:
            if what in ("latency", "bandwidth"):
                function, size = how.removeprefix("half of ").split(", ")
                number, unit = size.split()
                size = int(number) * SIZES[unit]
                seconds = self.model.times(function, 2, size)[1] / (2 if how.startswith("half") else 1)
                if what == "latency":
                    self.time((what, how), value, seconds)
                else:
                    rate, unit = value.removesuffix(" *").split()
                    expected = size / seconds / {"GB/s": 1e9, "MB/s": 1e6, "kB/s": 1e3}[unit]
                    self.close((what, how), float(rate), expected, 5.01e-3 * expected)
            elif what == "a send waits for its receive":
                self.close(what, int(value.split()[1]), self.model.file["loggps"]["S"], 0)
            elif what == "a send is complete without one":
                self.close(what, int(value.split()[2]), int(self.facts["local_threshold"]), 0)
            elif what == "compute step":
                self.time(what, value, self.model.file["compute"]["step"])
            elif what == "error of the equations":
                means = {name: each["held_out"][0] for name, each in self.model.functions.items() if "held_out" in each}
                self.percent(what, value, statistics.median(means.values()))
                most, name = how.split("most ")[1].removesuffix(")").split(" (")
                self.percent(what, most, means[name])
                self.percent(what, most, max(means.values()))
            elif what == "undisturbed":
                names = [name for name in self.blocks if name in self.model.functions]
                self.percent(what, value, sum(self.survived[n] for n in names) / sum(self.blocks[n] for n in names))
            else:
                raise AssertionError(f"a figure in short that nobody knows: {what}")

    def front_equations(self, rows):
        for name, equation, holds, *_ in rows[1:]:
            for regime in self.model.functions[name]["regime"]:
                low, high = (regime.get("bytes", [0]) + [math.inf])[:2]
                text = ("all sizes" if low == 0 else f"{low} B and more") if high == math.inf else \
                    f"{low} B" if low == high else f"{low} to {high} B"
                if text == holds:
                    self.equation(name, equation, regime)

    def equation(self, name, text, regime):
        """Each coefficient and its error, as far as they are printed."""
        if "correction" in self.model.functions.get(name, {}) and text.startswith("m × ("):
            text = text.removeprefix("m × (").removesuffix(")")
        for part, p in zip(text.removesuffix(" where p is a power of two").split("; else "), (2, 3)):
            part = part.replace(" where p is a power of two", "")
            expected = [each for each in self.model.terms(regime, p) if each[1] or each[2]]
            found = re.findall(r"(?:^| [+-] )(?:\((-?[\d.e+-]+)(?: ± ([\d.e+-]+))?\)|(-?[\d.]+(?:e[+-]?\d+)?))(?= ×| [+-] |$)", part)
            signs = ["", *re.findall(r" ([+-]) (?=\(?-?\d)", part)]
            if not expected:
                continue
            if len(found) != len(expected):
                raise AssertionError(f"{name}: {part}: {found}, expected {expected}")
            for sign, (value, error, alone), (_, is_value, is_error) in zip(signs, found, expected, strict=True):
                self.rounded((name, text), ("-" if sign == "-" else "") + (value or alone), is_value)
                if error:
                    self.rounded((name, text), error, is_error)
                elif abs(is_error) > 1e-5 * abs(is_value):
                    raise AssertionError(f"{name}: {part}: the error {is_error} is not shown")

    def rounded(self, what, text, value):
        """To the last digit printed, of which there are at most six but for zeros."""
        digits, _, power = text.partition("e")
        whole, _, places = digits.lstrip("-").partition(".")
        if len((whole + places).lstrip("0")) > 6:
            raise AssertionError(f"{what}: {text} has more digits than anybody can use")
        last = 10.0 ** (int(power or 0) - len(places))
        if not places:  # 200 may stand for 234
            last *= 10 ** (len(whole) - len(whole.rstrip("0"))) if value != int(value) else 1
        self.close(what, float(text), value, 0.5001 * last)

    def fits(self, name, header, rows, kind):
        for row, regime in zip(rows, self.model.functions[name][kind], strict=True):
            for column, cell in zip(header, row):
                if cell == "-" or column == "message size":
                    continue
                if column.startswith("t(p, d)"):
                    self.equation(name, cell, regime)
                    continue
                if column == "Q":
                    if cell.startswith("< "):
                        self.close((name, column), 0, regime["q"], 1e-6)
                    else:
                        self.close((name, column), float(cell), regime["q"], 0.051 * regime["q"])
                elif column == "chi-squared":
                    printed, _, freedom = cell.partition(" / ")
                    self.close((name, column), float(printed), regime["chi_squared"], 0.0051 * regime["chi_squared"])
                    if freedom:
                        self.close((name, column), int(freedom), regime["degrees_of_freedom"], 0)
                elif column.startswith("residual in"):
                    self.close((name, column), float(cell), regime["residual"], 0.0051 * regime["residual"])
                else:
                    raise AssertionError(f"a column of {name} that nobody knows: {column}")


def main():
    foretrace, *models = sys.argv[1:]
    for model in map(pathlib.Path, models):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([foretrace, "datasheet", model, "--format", "html", "-o", folder], check=True, timeout=100)
            page = (pathlib.Path(folder) / "datasheet.html").read_text()
        check = Check(model, page)
        print(f"{model.name}: {check.count} numbers recomputed, {sum(map(len, check.kept.values()))} samples")


if __name__ == "__main__":
    main()
