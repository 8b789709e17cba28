"""Rows to the Markdown of docs/accuracy.md, which stands there between two marks."""

import figures
from settings import SETTINGS

BEGIN, END = "<!-- make accuracy writes from here -->\n", "<!-- to here -->\n"
# What a way is called in the tables.
NAMES = {"predict": "predict", "datasheet": "simulate", "loggps": "loggps", "flow": "flow", "packet": "packet",
         "auto": "auto", "live": "live", "live auto": "live, auto", "smpi": "SMPI"}


def seconds(value):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}" if value < 1000 * scale else f"{value / scale:.0f} {unit}"
    return f"{value / 1e-9:.3g} ns"


def per_cent(share, signed=False):
    text = f"{100 * share:+.1f}" if signed else f"{100 * share:.1f}"
    return f"{text} %"


def ways_of(rows):
    """Those that any of the rows has, in the usual order."""
    return [way for way in figures.WAYS if any(way in row.errors or way in row.failed for row in rows)]


def cell(row, way):
    if way in row.errors:
        return per_cent(row.errors[way], signed=True) + ("*" if way in row.failed else "")
    return "failed" if way in row.failed else "-"


def by_setting(rows):
    """[(setting, its rows)] in the order of SETTINGS."""
    groups = [(setting, [row for row in rows if row.setting == setting.name]) for setting in SETTINGS]
    return [(setting, group) for setting, group in groups if group]


class Kept:
    """What a page has of settings that were not run again. Its tables stand between the marks."""

    def __init__(self, page, rows):
        old = page.partition(BEGIN)[2].partition(END)[0]
        self.lines = old.splitlines()
        self.sections = {title: text.rstrip().splitlines()
                         for title, _, text in (part.partition("\n") for part in old.split("\n### ")[1:])}
        run_again = [setting for setting, _ in by_setting(rows)]
        self.settings = [setting for setting in SETTINGS
                         if setting not in run_again and heading(setting) in self.sections]

    def summaries(self, setting):
        return [line for line in self.lines if line.startswith(f"| {setting.title} | ")]

    def facts(self):
        titles = "; ".join(setting.title for setting in self.settings)
        return [f"As an earlier run left them: {titles}."] if titles else []


def heading(setting):
    return setting.title[0].upper() + setting.title[1:]


def summaries(rows, kept=None):
    """One line for each setting and way, and one for each way over all, if all were run together."""
    lines = ["| setting | way | rows | mean | median | worst | | failed | real runs' scatter | within 90 % |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    groups = by_setting(rows)
    if kept and kept.settings:
        for setting in SETTINGS:
            lines += summaries([row for row in rows if row.setting == setting.name])[2:]
            lines += kept.summaries(setting) if setting in kept.settings else []
        return lines
    if len(groups) > 1:
        groups.append((None, rows))
    for setting, group in groups:
        spread = figures.scatter(group)
        inside, count = figures.coverage(group)
        for way in ways_of(group):
            made = figures.summary(group, way)
            if made:
                within = f"{inside} of {count}" if way == figures.stated_way(ways_of(group)) and count else ""
                lines.append(f"| {setting.title if setting else 'all'} | {NAMES[way]} | {made.rows} | "
                             f"{per_cent(made.mean)} | {per_cent(made.median)} | {per_cent(made.worst)} | "
                             f"{made.program} | {made.failed or ''} | {per_cent(spread)} | {within} |")
    return lines


def beside_smpi(group):
    """In how many rows of a setting each way is nearer to the real runs than SMPI."""
    told = [f"{NAMES[way]} {nearer} of {count}" for way in ways_of(group) if way != "smpi"
            for nearer, count in [figures.nearer(group, way, "smpi")] if count]
    return ["", f"Rows in which a way is nearer to the real runs than SMPI: {', '.join(told)}."] if told else []


def in_the_models_state(group):
    """Errors by the real runs alone that found the machine as its model has it, where that is known."""
    same = figures.of_same_state(group)
    if not same:
        return []
    runs = sum(row.real.count for row in same)
    known = sum(row.known_states for row in group)
    told = [f"{NAMES[way]} {per_cent(made.mean)} in the mean, {per_cent(made.median)} median, {per_cent(made.worst)} at "
            f"most ({made.program})" for way in ways_of(same) for made in [figures.summary(same, way)] if made]
    return ["", f"Of {known} real runs whose state is known {runs}, of {len(same)} programs, found the machine in the state that its model is of. "
            f"Errors by these alone: {'; '.join(told)}."]


def full_table(group):
    ways = ways_of(group)
    lines = [f"| program | real | quartiles | {' | '.join(NAMES[way] for way in ways)} | 90 % interval | inside |",
             "|---" * (5 + len(ways)) + "|"]
    for row in group:
        if row.real:
            real = f"{seconds(row.real.median)} | {seconds(row.real.first)} to {seconds(row.real.third)}"
        else:
            real = "failed | "
        stated = f"{seconds(row.interval[0])} to {seconds(row.interval[1])}" if row.interval else "-"
        inside = f"{row.inside[0]} of {row.inside[1]}" if row.inside else "-"
        lines.append(f"| {row.program} | {real} | {' | '.join(cell(row, way) for way in ways)} | {stated} | {inside} |")
    return lines


def failures(group):
    """Why something is missing, each reason once."""
    reasons = {}
    for row in group:
        for way, why in row.failed.items():
            reasons.setdefault(why.replace("|", "/").replace("<", ""), []).append(f"{row.program} ({NAMES.get(way, way)})")
    return [f"- {', '.join(dict.fromkeys(who))}: {why}" for why, who in reasons.items()]


def markdown(rows, facts, page=""):
    """All tables. `facts`: lines on the machine and the runs. Settings that have no rows keep
    their tables of `page`."""
    kept = Kept(page, rows)
    lines = [*facts, *kept.facts(), "", *summaries(rows, kept)]
    groups = dict(by_setting(rows))
    for setting in SETTINGS:
        if setting in kept.settings:
            lines += ["", f"### {heading(setting)}", *kept.sections[heading(setting)]]
        if setting not in groups:
            continue
        lines += ["", f"### {heading(setting)}", "", *full_table(groups[setting]),
                  *beside_smpi(groups[setting]), *in_the_models_state(groups[setting])]
        missing = failures(groups[setting])
        if missing:
            lines += ["", "What failed:", "", *missing]
    return "\n".join(lines) + "\n"


def replace_between(text, made, marks=(BEGIN, END)):
    """The page's text with `made` between the marks."""
    before, begin, rest = text.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        raise ValueError(f"the page has no lines '{marks[0].strip()}' and '{marks[1].strip()}'")
    return before + begin + made + end + after
