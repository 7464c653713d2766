# SPDX-License-Identifier: Apache-2.0
# What the check tools share: the repository's files, C++ text without comments and strings, and the way to end.
# Each tool runs as `tools/check_x` over this tree, `--root DIR` over another, `--self-test` over planted violations.
import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace", newline="") as f:
        return f.read()


def tracked_files(root):
    """Files of the project: committed or new, never what git ignores. Without git (self-tests): all files."""
    if os.path.exists(os.path.join(root, ".git")):
        out = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             check=True, capture_output=True).stdout.decode("utf-8", "replace")
        return sorted({f for f in out.split("\0") if f and os.path.isfile(os.path.join(root, f))})
    found = []
    for folder, _, names in os.walk(root):
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names]
    return sorted(found)


_TOKEN = re.compile(r'R"(?P<tag>[^()\\\s]{0,16})\((?:.|\n)*?\)(?P=tag)"'  # raw string
                    r'|"(?:\\.|[^"\\\n])*"'                             # string
                    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"             # character, not the ' in 1'000
                    r'|//[^\n]*|/\*(?:.|\n)*?\*/')


def code_only(text):
    """C++ text with comments and the inside of strings blanked out; lines stay where they are. Include lines keep their path."""
    def blank(m):
        s = m.group(0)
        if s.startswith(("//", "/*")):
            return re.sub(r"[^\n]", " ", s)
        line_start = text.rfind("\n", 0, m.start()) + 1
        if text[line_start:m.start()].lstrip().startswith("#include"):
            return s
        return s[0] + re.sub(r"[^\n]", " ", s[1:-1]) + s[-1]
    return _TOKEN.sub(blank, text)


def main(doc, check, self_test):
    """check(root) -> list of 'place: what is wrong; what to do'; self_test() -> list of what it failed to see."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=HERE, help="the tree to check (default: this one)")
    parser.add_argument("--self-test", action="store_true", help="check that planted violations are found")
    args = parser.parse_args()
    problems = self_test() if args.self_test else check(os.path.abspath(args.root))
    for p in problems:
        print(p)
    name = os.path.basename(sys.argv[0])
    if problems:
        print(f"{name}: {len(problems)} problem{'s' if len(problems) != 1 else ''}", file=sys.stderr)
        return 1
    return 0


def plant(files):
    """A temporary tree with these files ({path: text}), for self-tests; the caller removes it by `with`."""
    import tempfile
    folder = tempfile.TemporaryDirectory(prefix="sawbill-plant-")
    for path, text in files.items():
        full = os.path.join(folder.name, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8", newline="") as f:
            f.write(text)
    return folder
