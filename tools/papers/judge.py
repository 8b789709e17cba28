"""Sentences that say what agrees with the papers, computed from the figures. Knows no program."""

import draw


def compared(what, here, printed, unit="s"):
    """Two numbers side by side. Within 10 % they agree, within a factor of two they are near."""
    def show(value):
        return draw.seconds(value) if unit == "s" else f"{value:.3g}{' ' + unit if unit else ''}"
    if not printed or not here:
        return f"{what}: here {show(here)}, printed {show(printed)}.", "differs" if here != printed else "agrees"
    ratio = here / printed
    if abs(ratio - 1) <= 0.1:
        word = f"agrees ({100 * (ratio - 1):+.1f} %)"
    elif 0.5 <= ratio <= 2:
        word = f"near ({100 * (ratio - 1):+.0f} %)"
    else:
        word = f"differs by a factor of {max(ratio, 1 / ratio):.3g}"
    return f"{what}: here {show(here)}, printed {show(printed)}: {word}.", word.split()[0]


def shape(claim, times, value=None):
    """Whether times by ranks have the shape that a text describes: (sentence, agrees or differs).

    best: the least time is at `value` ranks; slower: all numbers of ranks are slower than one;
    grows: the speed-up grows up to the most ranks; at_most: the speed-up never exceeds `value`;
    flat: it stays below `value` at the most ranks."""
    ranks = sorted(times)
    best = min(ranks, key=lambda p: (times[p], p))
    speedups = {p: times[ranks[0]] / times[p] for p in ranks}
    top = max(speedups, key=speedups.get)
    if claim == "best":
        found, says = best == value, f"the least time is at {best:g} ranks, in the text at {value:g}"
    elif claim == "slower":
        found = all(times[p] > times[ranks[0]] for p in ranks[1:])
        says = f"the best speed-up of several ranks is {max(speedups[p] for p in ranks[1:]):.3g}, in the text more are slower"
    elif claim == "grows":
        found, says = top == ranks[-1], f"the speed-up is largest, {speedups[top]:.3g}, at {top:g} ranks"
    elif claim == "at_most":
        found, says = speedups[top] <= value, f"the largest speed-up is {speedups[top]:.3g}, in the text at most {value:g}"
    elif claim == "flat":
        found = speedups[ranks[-1]] < value
        says = f"the speed-up at {ranks[-1]:g} ranks is {speedups[ranks[-1]]:.3g}; none is one below {value:g}"
    else:
        raise ValueError(f"unknown claim '{claim}'")
    return f"{says}: {'agrees' if found else 'differs'}.", "agrees" if found else "differs"


def spread(what, ratios):
    """From the least to the greatest ratio."""
    if not ratios:
        return f"{what}: nothing to compare."
    return f"{what}: {min(ratios):.3g} to {max(ratios):.3g} times."
