# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies README.md, docs/*.md and the files they link to into the site, in the folders of the repository."""

import re
import shutil

import reference
from translator import relative

CODE = re.compile(r"(^```.*?^ *```|`+[^`]*`+)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PICTURES_AND_DATA = (".svg", ".png", ".json")
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".cu": "cpp", ".py": "python"}


def without_code(text):
    """The pieces of a page between its code spans and blocks, at even places; the code at odd ones."""
    return CODE.split(text)


def for_python_markdown(text):
    """MkDocs wants blocks in list items indented by 4 columns, not by 2, and an empty line between such an item and the
    next. Comments that only scripts/check_docs reads go."""
    lines, in_block, has_blocks = [], False, False
    for line in text.splitlines():
        if line.startswith("```"):
            in_block = not in_block
        if in_block:
            lines.append(line)
            continue
        if line.startswith("  "):
            has_blocks = has_blocks or lines[-1:] == [""]
            line = "  " + line
        elif line:
            if has_blocks:
                lines.append("")
            has_blocks = False
        if not re.fullmatch(r"<!-- .* -->", line):
            lines.append(line)
        elif lines and lines[-1]:
            lines.append("")
    return "\n".join(lines) + "\n"


class Guides:
    def __init__(self, root, site):
        self.root, self.site, self.staged, self.waiting = root, site, {}, []

    def stage(self, path):
        """The name on the site of a file in the repository, which will be written there."""
        if path.is_relative_to(self.root / "include"):
            return reference.page_of(str(path.relative_to(self.root / "include/devplace")))
        name = str(path.relative_to(self.root))
        if path.suffix not in (".md", *PICTURES_AND_DATA):
            name += ".md"
        if path not in self.staged:
            self.staged[path] = name
            self.waiting.append(path)
        return name

    def with_links(self, path, text):
        """The page with links to the site's pages in place of the repository's files."""
        def replaced(match):
            target, mark, anchor = match[1].partition("#")
            if not target or "://" in target or target.startswith("mailto:"):
                return match[0]
            linked = (path.parent / target).resolve()
            if not linked.is_file() or not linked.is_relative_to(self.root):
                raise SystemExit(f"{path.relative_to(self.root)}: {match[1]} is no file of this repository")
            name = relative(self.stage(linked), str(path.relative_to(self.root)))
            return f"]({name}{mark}{anchor})"

        pieces = without_code(text)
        pieces[::2] = [LINK.sub(replaced, piece) for piece in pieces[::2]]
        # A header's name in code leads to its page.
        for i in range(1, len(pieces), 2):
            header = re.fullmatch(r"`(?:include/)?(?:devplace/)?([a-z_0-9/]+\.hpp)`", pieces[i])
            in_link = pieces[i - 1].endswith("[") or pieces[i + 1].startswith("]")
            if header and header[1] in self.headers and not in_link:
                page = relative(reference.page_of(header[1]), str(path.relative_to(self.root)))
                pieces[i] = f"[{pieces[i]}]({page})"
        return "".join(pieces)

    def write(self):
        self.headers = set(reference.public_headers(self.root / "include"))
        for path in [self.root / "README.md", *sorted((self.root / "docs").glob("*.md"))]:
            self.stage(path)
        while self.waiting:
            path = self.waiting.pop()
            to = self.site / self.staged[path]
            to.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix in PICTURES_AND_DATA:
                shutil.copy(path, to)
            elif path.suffix == ".md":
                to.write_text(self.with_links(path, for_python_markdown(path.read_text())))
            else:
                name, language = path.relative_to(self.root), LANGUAGES.get(path.suffix, "text")
                to.write_text(f"# {name}\n\n```{language}\n{path.read_text().rstrip()}\n```\n")

    def navigation(self):
        """The guides in the order of docs/README.md, which lists all of them, and the examples."""
        text = (self.root / "docs/README.md").read_text()
        listed = {f"docs/{name}": title for title, name in re.findall(r"\[([^\]]+)\]\(([\w-]+\.md)\)", text)}
        pages = {f"docs/{path.name}" for path in (self.root / "docs").glob("*.md")}
        if absent := pages - {*listed, "docs/README.md"}:
            raise SystemExit(f"docs/README.md does not list {', '.join(sorted(absent))}")
        guides = [{"Contents": "docs/README.md"}, *({title: page} for page, title in listed.items())]
        programs = sorted(name for path, name in self.staged.items() if path.suffix in LANGUAGES)
        examples = [{name.removeprefix("examples/").removesuffix(".md"): name}
                    for name in programs if name.startswith("examples/")]
        return guides, [{"Contents": "examples/README.md"}, *examples]
