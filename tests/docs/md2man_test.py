"""tools/md2man.py: what becomes of each kind of Markdown, and what groff says
to the finished pages (given as arguments; skipped without groff)."""

import pathlib
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import md2man  # noqa: E402

PAGES = []


def convert(text):
    return md2man.Converter(text.splitlines()).run()


class Markdown(unittest.TestCase):
    def test_title_is_left_out_and_headings_become_sections(self):
        self.assertEqual(convert("# Title\n## The `parts`\n### One of them"),
                         [".SH THE PARTS", ".SS One of them"])

    def test_marks_become_fonts_and_special_characters_stay(self):
        self.assertEqual(convert("A **bold** `--json` *word*, [a page](x.md), p^2 \\ n."),
                         [".PP", "A \\fBbold\\fR \\fB\\-\\-json\\fR \\fIword\\fR, a page, "
                                 "p\\(ha2 \\e n."])

    def test_code_in_bold_loses_its_marks(self):
        self.assertEqual(convert("**`total`** is it"), [".PP", "\\fBtotal\\fR is it"])

    def test_a_line_that_begins_with_a_dot_is_no_request(self):
        self.assertEqual(convert(".ftr files"), [".PP", "\\&.ftr files"])
        self.assertEqual(convert("    .TH"), [".PP", ".RS 4", ".nf", "\\&.TH", ".fi", ".RE"])

    def test_code_keeps_its_lines(self):
        fenced = convert("```console\n$ ls *.ftr\n\n  a\n```")
        self.assertEqual(fenced, [".PP", ".RS 4", ".nf", "$ ls *.ftr", "", "  a", ".fi", ".RE"])
        self.assertEqual(convert("    $ ls *.ftr\n\n      a\n\ntext")[:8], fenced)

    def test_lists(self):
        self.assertEqual(convert("- one\n  more\n- two\n3. three"),
                         [".IP \\(bu 2", "one", "more", ".IP \\(bu 2", "two", '.IP "3." 4', "three"])

    def test_tables_become_tagged_paragraphs(self):
        self.assertEqual(convert("| name | meaning |\n|---|---|\n| `a\\|b` | x | "),
                         [".PP", "\\fIname\\fR, \\fImeaning\\fR:", ".TP", "\\fBa|b\\fR", "x"])
        # A table without names for its columns has no line for them.
        self.assertEqual(convert("| | |\n|---|---|\n| a | b |"), [".TP", "a", "b"])

    def test_a_page_has_its_name_and_options(self):
        text = md2man.page("# x\n\nText.", "foretrace-x", ["Does x.", "  -n INT"], "foretrace 1")
        self.assertEqual(text.splitlines(), [
            '.TH FORETRACE-X 1 "" "foretrace 1" "Foretrace"', ".nh", ".ad l", ".SH NAME",
            "foretrace\\-x \\- Does x", ".SH DESCRIPTION", ".PP", "Text.", ".SH OPTIONS", ".PP",
            ".RS 4", ".nf", "  \\-n INT", ".fi", ".RE", ".SH SEE ALSO", "\\fBforetrace\\fR(1)"])

    def test_a_page_without_a_tool_has_its_summary(self):
        page = md2man.page("# Title\nText.", "foretrace-cc", ["Compile a program."], "foretrace 0")
        self.assertIn("foretrace\\-cc \\- Compile a program\n", page)
        self.assertNotIn(".SH OPTIONS", page)


class Pages(unittest.TestCase):
    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_has_nothing_to_say(self):
        self.assertTrue(PAGES)
        for page in PAGES:
            with self.subTest(page=page):
                done = subprocess.run(["groff", "-k", "-man", "-ww", "-Tutf8", "-P-cbou", page],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("DESCRIPTION", done.stdout)


if __name__ == "__main__":
    PAGES = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
