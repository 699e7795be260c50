#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the pages of the site in build/docs/site_source and checks them; scripts/docs makes HTML of them.

Doxygen must have written build/docs/xml. Nothing besides Python is needed.
"""

import json
import pathlib
import re
import shutil
import sys
import unicodedata

import guides
import reference

root = pathlib.Path(__file__).resolve().parents[2]
build = root / "build/docs"
site = build / "site_source"


def make_pages():
    shutil.rmtree(site, ignore_errors=True)
    headers = reference.write(root, build / "xml", site)
    texts = guides.Guides(root, site)
    texts.write()
    documents, examples = texts.navigation()
    project = [{"Changes": "CHANGELOG.md"}, {"Contributing": "CONTRIBUTING.md"}, {"Security": "SECURITY.md"},
               {"Benchmarks": "benchmarks/README.md"}, {"Licence": "LICENSE.md"}]
    settings = {
        "INHERIT": str(root / "docs/mkdocs.yml"),
        "docs_dir": str(site),
        "site_dir": str(build / "site"),
        "nav": [{"devplace": "README.md"}, {"Guides": documents}, {"Examples": examples}, {"Reference": headers},
                {"Project": project}],
    }
    # JSON is YAML.
    (build / "mkdocs.yml").write_text(json.dumps(settings, indent=1))


def anchors_of(text):
    """The anchors of a page's headings: those written in them, else what MkDocs makes of their text."""
    anchors = set()
    for line in re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL).splitlines():
        if not (found := re.match(r"#+ (.*)", line)):
            continue
        if written := re.search(r"\{#(.*)\}$", found[1]):
            anchor = written[1]
        else:
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found[1])
            plain = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
            anchor = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
        number = 0
        while anchor in anchors:
            number += 1
            anchor = re.sub(r"_\d+$", "", anchor) + f"_{number}"
        anchors.add(anchor)
    return anchors


def check_links():
    """What is wrong with links between pages."""
    texts = {path: path.read_text() for path in site.rglob("*.md")}
    anchors = {path: anchors_of(text) for path, text in texts.items()}
    for path, text in texts.items():
        for piece in guides.without_code(text)[::2]:
            for link in guides.LINK.findall(piece):
                if "://" in link or link.startswith("mailto:"):
                    continue
                target, _, anchor = link.partition("#")
                linked = (path.parent / target).resolve() if target else path
                if not linked.is_file() or (anchor and anchor not in anchors.get(linked, ())):
                    yield f"{path.relative_to(site)}: {link} leads nowhere"


def check_reference():
    """Public headers without a page, and pages without the header's comments or declarations."""
    for header in reference.public_headers(root / "include"):
        page = site / reference.page_of(header)
        text = page.read_text() if page.is_file() else ""
        declares = re.search(r"^namespace devplace(::(?!detail)\w+)*(::inline \w+)? \{\n\n(///.*\n)+(?!struct \w+;)",
                             (root / "include/devplace" / header).read_text(), re.MULTILINE)
        # Besides the heading and the lines that include the header.
        if len(text.splitlines()) < 7 or (declares and "\n## " not in text):
            yield f"include/devplace/{header} has no page in the reference, or one without its declarations"


def main():
    make_pages()
    faults = [*check_reference(), *check_links()]
    print(*faults, f"{len(list(site.rglob('*.md')))} pages in {site.relative_to(root)}", sep="\n")
    return 1 if faults else 0


sys.exit(main())
