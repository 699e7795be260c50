# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the reference: a page for each public header, from the declarations that Doxygen has read."""

import itertools
import re

import declarations
from translator import Translator, code_block, code_span

# The folders of include/devplace in the order of their dependencies.
AREAS = {
    "": "Several headers at once",
    "base": "Errors, seeds, threads",
    "place": "Places and placements",
    "memory": "Memory, streams, events",
    "tensor": "Tensors",
    "ops": "Operations",
    "nn": "Layers, losses, models",
    "optim": "Optimizers",
    "process": "Several processes: launching, groups, transports",
    "process/control": "Several processes: rendezvous and failures",
    "parallel": "Collectives and policies of training",
    "data": "Data",
    "train": "Training",
    "io": "Files and other libraries",
    "config": "Configuration",
}
NOT_PUBLIC = {"detail", "backend", "runtime"}
OVERVIEW = """Each header can be included alone. A page has the declarations of one header, with the comments that they
have there; those that only refuse wrong programs with a message are left out, and [errors](../docs/errors.md) has the
messages."""
ONLY_SHARED = "It declares parts that other headers share, and nothing for use in programs."


def page_of(header):
    return "reference/" + header.removesuffix(".hpp") + ".md"


def public_headers(include):
    """All headers outside the folders of private parts, relative to include/devplace. Most of base/ is private, too."""
    root = include / "devplace"
    headers = (path.relative_to(root) for path in root.rglob("*.hpp"))
    return sorted(str(header) for header in headers if not NOT_PUBLIC & set(header.parts)
                  and (header.parts[0] != "base" or "\nnamespace devplace {\n\n///" in (root / header).read_text()))


def opening_comment(path):
    """The paragraphs in which the header describes itself, before its first declaration."""
    comment = []
    for line in path.read_text().splitlines():
        if re.match(r"//(?! SPDX| clang-format)", line):
            comment.append(line.removeprefix("//").removeprefix(" "))
        elif comment or (line and not re.match(r"//|\s*#|\s+\\?\"?", line)):
            break
    return "\n".join(comment).split("\n\n") if comment else []


def in_list(entry):
    """Whether a member of a class or a value of an enumeration is short enough for a list."""
    return entry.kind not in ("function", "friend", "group") and not any("\n" in code for code in entry.codes)


def sections(entries):
    """Declarations under one heading: neighbours of one name, such as overloads."""
    return [list(group) for _, group in itertools.groupby(entries, lambda entry: entry.names)]


def parts(entry):
    """The sections of a class's members; the members of a list share a section."""
    return [list(group) for _, group in itertools.groupby(entry.members, lambda e: [] if in_list(e) else e.names)]


def set_anchors(page, entries, targets):
    """The anchors of a page's headings, and for each id of Doxygen where it is."""
    used = {}

    def mark(section, text, anchor=None):
        name = re.sub(r"\W+", "-", text).strip("-").lower()
        used[name] = used.get(name, 0) + (anchor is None)
        for entry in section:
            entry.anchor = anchor or (name if used[name] == 1 else f"{name}-{used[name]}")
            targets.update((refid, (page, entry.anchor)) for refid in entry.refids)

    for section in sections(entries):
        mark(section, section[0].names[0])
        for entry in section:
            for part in parts(entry):
                mark(part, f"{entry.names[0]}-{part[0].names[0]}", entry.anchor if in_list(part[0]) else None)


def names_of(pages):
    """Where each name is that one heading only has; with its namespace, and without."""
    places = {}
    for page, entries in pages.items():
        for entry in entries:
            for name in (name.split("<")[0] for name in entry.names):
                for key in {name, name.split("::")[-1]} - {""}:
                    places.setdefault(key, set()).add((page, entry.anchor))
    return {name: found.pop() for name, found in places.items() if len(found) == 1}


def heading(names):
    return ", ".join(code_span(name) for name in names[:4]) + ", ..." * (len(names) > 4)


def list_item(entry, translator):
    codes = ", ".join(code_span(code.rstrip(";")) for code in entry.codes)
    return f"- {codes}: {translator.documentation(entry)}".replace("\n", "\n    ")


def section_text(section, level, translator):
    """The heading, and for each declaration its code, its documentation and its members."""
    lines = [f"{'#' * level} {heading(section[0].names)} {{#{section[0].anchor}}}"]
    for entry in section:
        several_lines = any("\n" in code for code in entry.codes)
        lines += [code_block(("\n\n" if several_lines else "\n").join(entry.codes)), translator.documentation(entry)]
        for part in parts(entry):
            lines.append("\n".join(list_item(member, translator) for member in part) if in_list(part[0])
                         else section_text(part, level + 1, translator))
    return "\n\n".join(lines)


def contents(found, translator):
    return "\n".join(f"- [{heading(section[0].names)}](#{section[0].anchor}): {translator.summary(section[0])}"
                     for section in found)


def page_text(header, comment, entries, translator):
    found = sections(entries)
    lines = [f"# {header}", *map(translator.comment, comment), code_block(f"#include <devplace/{header}>")]
    if len(found) > 2:
        lines.append(contents(found, translator))
    lines += [section_text(section, 2, translator) for section in found]
    if not entries and "/" in header:
        lines.append(ONLY_SHARED)
    return "\n\n".join(lines) + "\n"


def purpose(header, comment, entries, translator):
    """One sentence on a header: its own, or the one of the declaration with its name, or the declared names."""
    if comment and not comment[0].startswith(("Not part", "Component")):
        return translator.comment(re.sub(r"(?<=\.)\s(?=[A-Z])(.|\n)*", "", comment[0]))
    stem = header.split("/")[-1].removesuffix(".hpp")
    same = [entry for entry in entries if entry.names[0].split("<")[0].split("::")[-1] in (stem, stem + "_into")]
    names = list(dict.fromkeys(name for entry in entries for name in entry.names if not re.search("operator|<", name)))
    if same or (entries and len(names) < 2):
        return translator.summary(max(same or entries, key=lambda entry: len(entry.said())))
    return heading(names) if names else ONLY_SHARED


def targets_of(root, by_header, ids):
    """Page and anchor of all that links lead to: Doxygen's ids, names, headers and guides."""
    by_id = {}
    for header, entries in by_header.items():
        set_anchors(page_of(header), entries, by_id)
    headers = {header: (page_of(header), "") for header in by_header}
    return {**names_of({page_of(header): entries for header, entries in by_header.items()}),
            **by_id, **{id_: headers[header] for id_, header in ids.items() if header in headers},
            **headers, **{f"devplace/{header}": target for header, target in headers.items()},
            **{f"docs/{path.name}": (f"docs/{path.name}", "") for path in (root / "docs").glob("*.md")}}


def write(root, xml, site):
    """Writes all pages below site/reference. Returns the navigation: the overview, then the headers of each area."""
    entries, ids = declarations.read(xml)
    by_header = {header: [] for header in public_headers(root / "include")}
    # What backends implement comes after what programs use.
    for entry in sorted(entries, key=lambda e: (e.names[0].startswith(("op::", "backend::")), e.line)):
        if entry.header in by_header:
            by_header[entry.header].append(entry)
    targets = targets_of(root, by_header, ids)

    overview, navigation = ["# Reference", OVERVIEW], [{"Overview": "reference/README.md"}]
    index = Translator("reference/README.md", targets)
    for area, title in AREAS.items():
        lines, pages = [], []
        for header in (header for header in by_header if header.rpartition("/")[0] == area):
            comment, page = opening_comment(root / "include/devplace" / header), page_of(header)
            (site / page).parent.mkdir(parents=True, exist_ok=True)
            (site / page).write_text(page_text(header, comment, by_header[header], Translator(page, targets)))
            if by_header[header] or not area:
                pages.append({header.split("/")[-1]: page})
                sentence = purpose(header, comment, by_header[header], index)
                lines.append(f"- {index.link(code_span(header), header)}: {sentence}")
        overview += [f"## {title}", "\n".join(lines)]
        navigation.append({title: pages})
    (site / "reference/README.md").write_text("\n\n".join(overview) + "\n")
    return navigation
