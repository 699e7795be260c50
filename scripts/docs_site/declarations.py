# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the documented declarations of the public headers from Doxygen's XML."""

import dataclasses
import re
import xml.etree.ElementTree as xml_tree

from signatures import as_written, compound_code, flat, member_code

COMPOUNDS = ("class", "struct", "concept")


@dataclasses.dataclass
class Entry:
    """A declaration. Members of a class are entries of their own, in the class."""
    kind: str
    names: list  # without devplace::; several in a group
    header: str  # without include/devplace/
    line: int
    refids: list
    codes: list  # one for each name or overload
    documentation: tuple  # of XML elements
    members: list = dataclasses.field(default_factory=list)
    anchor: str = ""

    def said(self):
        return " ".join(flat(part) for part in self.documentation).strip()


def description(element):
    return tuple(element.find(tag) for tag in ("briefdescription", "detaileddescription"))


def refuses(element):
    """Whether the comment says that it exists only for a message of the compiler."""
    said = "".join(flat(part) for part in description(element))
    return re.search(r"^(Rejects|Fails to compile|Not specialised|Declared so that|Accepts any arguments, so)|^Conditions, named in", said)


def is_for_users(member):
    """Whether a member is public, has documentation, and is not declared only to be refused."""
    declared = " ".join(flat(member.find(tag)) for tag in ("name", "type", "argsstring", "initializer")).strip()
    hidden = re.search(r"^DEVPLACE_DETAIL|\brefusal\b|=\s*delete$", declared)
    said = any(flat(part) for part in description(member))
    return member.get("prot") == "public" and said and not hidden and not refuses(member)


def entry_of(element, name, code):
    location = element.find("location")
    header = location.get("file").removeprefix("include/devplace/")
    return Entry(element.get("kind"), [name], header, int(location.get("line")), [element.get("id")], [code],
                 description(element))


def value_of(value):
    """A value of an enumeration."""
    name = flat(value.find("name"))
    return Entry("value", [name], "", 0, [value.get("id")], [name], description(value))


def is_inherited(member, compound):
    """Whether it is a constructor of a base class, which Doxygen repeats."""
    name = flat(member.find("name"))
    constructor = member.get("kind") == "function" and not flat(member.find("type")) and re.fullmatch(r"\w+", name)
    return constructor and name != own_name(flat(compound.find("compoundname")).split("<")[0].strip())


def own_name(name):
    """Without namespaces and classes around it."""
    return re.sub(r"^[\w:]*::(?=\w)", "", name)


def members_of(compound, scope=""):
    entries = []
    for member in filter(is_for_users, compound.iter("memberdef")):
        if compound.get("kind") in COMPOUNDS and is_inherited(member, compound):
            continue
        entry = entry_of(member, scope + as_written(flat(member.find("name"))), member_code(member))
        values = [value_of(value) for value in member.findall("enumvalue")]
        entry.members = [value for value in values if value.said()]
        entries.append(entry)
    return joined(sorted(entries, key=lambda entry: (entry.header, entry.line)))


def joined(entries):
    """Joins neighbours that share one comment, such as the members of a group, to one entry."""
    result = []
    for entry in entries:
        last = result[-1] if result else None
        if last and (last.header, last.said()) == (entry.header, entry.said()) and not entry.members:
            last.kind = last.kind if last.kind == entry.kind else "group"
            last.names += [name for name in entry.names if name not in last.names]
            last.codes += entry.codes
            last.refids += entry.refids
        else:
            result.append(entry)
    return result


def compounds(folder):
    """The classes, concepts, namespaces and files in Doxygen's index; older files may lie beside them."""
    for listed in xml_tree.parse(folder / "index.xml").getroot():
        yield xml_tree.parse(folder / f"{listed.get('refid')}.xml").getroot()[0]


def read(folder):
    """All entries, and the headers by their ids."""
    entries, headers = [], {}
    for compound in compounds(folder):
        kind, name = compound.get("kind"), as_written(flat(compound.find("compoundname"))).removeprefix("devplace::")
        if kind in COMPOUNDS and compound.get("prot") != "private" and not refuses(compound):
            entry = entry_of(compound, name, compound_code(compound, own_name(name)))
            entry.members = members_of(compound)
            entries += [entry] if entry.said() else []
        elif kind in ("namespace", "file"):
            entries += members_of(compound, "" if kind == "file" or name == "devplace" else name + "::")
        if kind == "file":
            headers[compound.get("id")] = compound.find("location").get("file").removeprefix("include/devplace/")
    return entries, headers
