# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Documentation in Doxygen's XML as Markdown."""

import html
import os
import re
import textwrap
import xml.etree.ElementTree as xml_tree

from signatures import flat


def relative(page, start):
    """The address of a page in a link of another page."""
    return os.path.relpath(page, os.path.dirname(start))


def escaped(text):
    """Plain text in Markdown, where no character has a meaning."""
    return re.sub(r"([\\`*\[\]{}|]|(?<!\w)_|_(?!\w))", r"\\\1", html.escape(text, quote=False))


def code_span(text):
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}" if fence == "`" else f"{fence} {text} {fence}"


def code_block(text):
    return f"```cpp\n{text}\n```"


class Translator:
    """Translates Doxygen's XML for one page; `targets` has page and anchor of ids and of names."""

    def __init__(self, page, targets):
        self.page, self.targets = page, targets

    def link(self, text, key):
        if key not in self.targets:
            return text
        page, anchor = self.targets[key]
        address = "" if page == self.page else relative(page, self.page)
        return f"[{text}]({address}{'#' * bool(anchor)}{anchor})" if address or anchor else text

    def plain(self, text):
        """Text in which headers, and names that cannot be English words, are links."""
        pieces = re.split(r"([\w/:]*(?:_|::|/)[\w/:]*\w(?:\.hpp|\.md)?)", text)
        return "".join(self.link(escaped(piece), piece) if i % 2 else escaped(piece) for i, piece in enumerate(pieces))

    def comment(self, paragraph):
        """Markdown that Doxygen has not read; an indented paragraph is code."""
        if paragraph.startswith("  "):
            return code_block(textwrap.dedent(paragraph))
        pieces = re.split(r"`([^`]*)`", re.sub(r"\n *(?!- )", " ", paragraph))
        return "".join(self.link(code_span(piece), piece) if i % 2 else self.plain(piece)
                       for i, piece in enumerate(pieces))

    def inline(self, element):
        parts = [self.plain(element.text or "")]
        for child in element:
            text = flat(child)
            if child.tag == "computeroutput":
                parts.append(self.link(code_span(text), text))
            elif child.tag == "ref":
                known = child.get("refid") in self.targets
                parts.append(self.link(escaped(text), child.get("refid")) if known else self.plain(text))
            elif child.tag == "ulink":
                parts.append(f"[{escaped(text)}]({child.get('url')})")
            elif child.tag in ("emphasis", "bold"):
                mark = "*" if child.tag == "emphasis" else "**"
                parts.append(mark + self.inline(child).strip() + mark)
            elif child.tag in ("ndash", "mdash", "lsquo", "rsquo", "ldquo", "rdquo"):
                parts.append(f"&{child.tag};")
            else:
                raise SystemExit(f"{__file__} does not know <{child.tag}> of Doxygen's XML: {flat(element)}")
            parts.append(self.plain(child.tail or ""))
        return "".join(parts)

    def paragraph(self, element):
        """A paragraph; one that begins like a list is none."""
        return re.sub(r"^([#+-]|\d+\.)(?= )", r"\\\1", " ".join(self.inline(element).split()))

    def blocks(self, element):
        """The paragraphs, lists and programs in a description or a list's item."""
        result = []
        for para in element.findall("para"):
            # A paragraph is divided at the lists and programs in it.
            piece = xml_tree.Element("para")
            piece.text = para.text
            for child in para:
                if child.tag in ("itemizedlist", "orderedlist", "programlisting", "verbatim"):
                    result += [self.paragraph(piece), self.block(child)]
                    piece = xml_tree.Element("para")
                    piece.text = child.tail
                else:
                    piece.append(child)
            result.append(self.paragraph(piece))
        return [text for text in result if text]

    def block(self, element):
        if element.tag == "verbatim":
            return code_block(textwrap.dedent(element.text.strip("\n")).rstrip())
        if element.tag == "programlisting":
            for space in element.iter("sp"):
                space.text = " "
            return code_block("\n".join("".join(line.itertext()) for line in element))
        mark = "- " if element.tag == "itemizedlist" else "1. "
        return "\n".join(mark + "\n\n".join(self.blocks(item)).replace("\n", "\n    ") for item in element)

    def documentation(self, entry):
        """The comment; Doxygen takes its first sentence apart."""
        brief, detailed = (self.blocks(part) for part in entry.documentation)
        if brief and detailed and re.match(r"- |1\. ", detailed[0]):
            brief[-1] = re.sub(r"\.$", ":", brief[-1])
        elif brief and detailed and not detailed[0].startswith("```"):
            detailed[0] = brief.pop() + " " + detailed[0]
        return "\n\n".join(brief + detailed)

    def summary(self, entry):
        return next(block for part in entry.documentation for block in self.blocks(part))
