#!/usr/bin/env python3
"""Makes a manual page from a page of docs/, so that its text exists once.

    md2man.py PAGE.md NAME [--tool FORETRACE [--subcommand SUB] | --summary TEXT] [--section N] -o NAME.1

The one-line summary and the options come from the tool's own --help, if it has one. Knows the
Markdown that docs/ uses: headings, paragraphs, lists, tables (which become
tagged paragraphs), indented and fenced code, `code`, **bold**, *italic*, links.
"""

import argparse
import pathlib
import re
import subprocess
import sys

BULLET = re.compile(r"(?:[-*]|(\d+)\.) +(.*)")
FENCE = re.compile(r"```")
TABLE_RULE = re.compile(r"\|[-:| ]+\|$")


def escape(text):
    """Text that roff prints as it stands."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    return "\\&" + text if text.startswith(".") else text


def inline(text):
    """One line of running text with its marks turned into fonts."""
    out = []
    pattern = re.compile(r"``?([^`]+)``?|\*\*(.+?)\*\*|(?<!\w)\*([^* ][^*]*)\*|\[([^]]+)\]\([^)]*\)")
    at = 0
    for match in pattern.finditer(text):
        out.append(escape_inside(text[at:match.start()]))
        code, bold, italic, link = match.groups()
        if code is not None:
            out.append("\\fB" + escape_inside(code) + "\\fR")
        elif bold is not None:
            out.append("\\fB" + escape_inside(bold.replace("`", "")) + "\\fR")
        elif italic is not None:
            out.append("\\fI" + escape_inside(italic) + "\\fR")
        else:
            out.append(inline(link))
        at = match.end()
    out.append(escape_inside(text[at:]))
    line = "".join(out)
    return "\\&" + line if line.startswith((".", "'")) else line


def escape_inside(text):
    escaped = escape(text.replace("\\|", "|"))
    return escaped[2:] if escaped.startswith("\\&") else escaped


def code_block(lines):
    while lines and not lines[-1].strip():
        lines.pop()
    return [".PP", ".RS 4", ".nf", *(escape(line) for line in lines), ".fi", ".RE"]


def cells(row):
    # A vertical bar inside a cell is written \|.
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip()[1:-1])]


def table(rows):
    """Header names are said once, in bold, where there are more than two columns."""
    header = cells(rows[0])
    out = []
    if any(header):
        out += [".PP", "\\fI" + "\\fR, \\fI".join(inline(name) for name in header if name) + "\\fR:"]
    for row in rows[1:]:
        if TABLE_RULE.match(row.strip()):
            continue
        first, *rest = cells(row)
        out += [".TP", inline(first) or "\\&", "; ".join(inline(cell) for cell in rest if cell) or "\\&"]
    return out


class Converter:
    def __init__(self, lines):
        self.lines = lines
        self.at = 0
        self.out = []

    def take_while(self, holds):
        begin = self.at
        while self.at < len(self.lines) and holds(self.lines[self.at]):
            self.at += 1
        return self.lines[begin:self.at]

    def run(self):
        while self.at < len(self.lines):
            self.block()
        return self.out

    def block(self):
        line = self.lines[self.at]
        if not line.strip() or line.startswith(("<!--", "![")):
            self.at += 1
        elif line.startswith("#"):
            self.heading(line)
        elif FENCE.match(line):
            self.at += 1
            body = self.take_while(lambda each: not FENCE.match(each))
            self.at += 1
            self.out += code_block(list(body))
        elif line.startswith("    "):
            body = self.take_while(lambda each: each.startswith("    ") or not each.strip())
            self.out += code_block([each[4:] for each in body])
        elif line.startswith("|"):
            self.out += table(self.take_while(lambda each: each.startswith("|")))
        elif BULLET.match(line):
            self.item()
        else:
            self.out += [".PP", *map(inline, self.take_while(self.is_text))]

    def is_text(self, line):
        return bool(line.strip()) and not line.startswith(("#", "|", "    ", "```", "<!--", "![")) and \
            not BULLET.match(line)

    def heading(self, line):
        self.at += 1
        level = len(line) - len(line.lstrip("#"))
        text = line.lstrip("# ")
        if level == 1:
            return  # the page's title; NAME stands in its place
        if level == 2:
            self.out.append(".SH " + inline(text.upper().replace("`", "")))
        else:
            self.out.append(".SS " + inline(text))

    def item(self):
        number, text = BULLET.match(self.lines[self.at]).groups()
        self.at += 1
        self.out += [f'.IP "{number}." 4' if number else ".IP \\(bu 2", inline(text)]
        more = self.take_while(lambda each: each.startswith("  ") and bool(each.strip()))
        self.out += [inline(each.strip()) for each in more]


def help_of(tool, subcommand):
    command = [tool] + ([subcommand] if subcommand else []) + ["--help"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def page(markdown, name, help_lines, version, section=1):
    summary = (help_lines[0] if help_lines else "").rstrip(".") or name
    # No hyphens in the names of options and functions, no stretched lines.
    out = [f'.TH {name.upper()} {section} "" "{version}" "Foretrace"', ".nh", ".ad l", ".SH NAME",
           f"{escape(name)} \\- {inline(summary)}", ".SH DESCRIPTION"]
    out += Converter(markdown.splitlines()).run()
    if len(help_lines) > 1:
        out += [".SH OPTIONS", *code_block([line.rstrip() for line in help_lines[1:]])]
    if name != "foretrace":
        out += [".SH SEE ALSO", "\\fBforetrace\\fR(1)"]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("name")
    parser.add_argument("--tool")
    parser.add_argument("--subcommand")
    parser.add_argument("--summary")
    parser.add_argument("--section", type=int, default=1)
    parser.add_argument("--version", default="foretrace")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    help_lines = help_of(arguments.tool, arguments.subcommand) if arguments.tool else [arguments.summary or ""]
    text = page(arguments.page.read_text(encoding="utf-8"), arguments.name, help_lines,
                arguments.version, arguments.section)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
