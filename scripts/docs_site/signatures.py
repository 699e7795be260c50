# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Declarations of C++ from Doxygen's XML, laid out as the headers are."""

import re

WIDTH = 96


def flat(element):
    """The text of an XML element in one line."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


def as_written(code):
    """Doxygen's `view< T > &x` as `view<T>& x`."""
    code = re.sub(r"(?<=\w)< (?!=)", "<", code.replace(" ...", "..."))
    while code != (code := re.sub(r"(?<=\S) >(?=[,)>&:*(. ]|$)", ">", code)):
        pass
    return re.sub(r"(?<=[\w>]) ([&*]+)(?=\W|$)", r"\1", code.replace(" *const", "* const"))


def listed(opening, parts, closing):
    """In one line if it fits, else each part in its own."""
    line = opening + ", ".join(parts) + closing
    return line if len(line) <= WIDTH else opening + "\n    " + ",\n    ".join(parts) + closing


def parameter(element):
    """A parameter of a function or template."""
    type_, name, array, default = (flat(element.find(tag)) for tag in ("type", "declname", "array", "defval"))
    return as_written(type_) + " " * bool(name.strip(".")) + name + array + f" = {default}" * bool(default)


def template_head(element):
    """`template <...>` and its constraint, as lines."""
    lines, constraint = [], flat(element.find("requiresclause")).removeprefix("requires").strip()
    if element.find("templateparamlist") is not None:
        lines.append(listed("template <", [parameter(p) for p in element.find("templateparamlist")], ">"))
    if constraint:
        lines.append("  " * bool(lines) + "requires " + re.sub(r"(?<=[\w>)])&& ", " && ", constraint))
    return lines


def qualifiers(member):
    """What follows the parameters: `const& noexcept = default`, `-> result`."""
    text, depth = as_written(flat(member.find("argsstring"))), 0
    for end, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            text = text[end + 1:]
            break
    return re.sub(r"\bconst &", "const&", re.sub(r"\s*=\s*(?=default$|0$)", " = ", text))


def function_code(member):
    overrides = "override" in flat(member.find("argsstring"))
    words = {"friend": member.get("kind") == "friend", "static": member.get("static") == "yes",
             "explicit": member.get("explicit") == "yes",
             "virtual": member.get("virt") in ("virtual", "pure-virtual") and not overrides}
    type_ = as_written(flat(member.find("type"))).removeprefix("virtual ")
    name = as_written(flat(member.find("name")))
    opening = " ".join([word for word, there in words.items() if there] + [type_] * bool(type_) + [name])
    parameters = [parameter(element) for element in member.findall("param")]
    return listed(opening + "(", parameters, ")" + qualifiers(member) + ";")


def variable_code(member, name):
    """With its value, if that is short."""
    value = member.find("initializer")
    text = "" if value is None else "".join(value.itertext()).strip()
    text = "" if len(text) > 60 or "\n" in text else " " * text.startswith("=") + text
    static = "static " * (member.get("static") == "yes")
    return f"{static}{as_written(flat(member.find('type')))} {name}{flat(member.find('argsstring'))}{text};"


def macro_code(member, name):
    parameters = [flat(element) for element in member.findall("param")]
    return f"#define {name}" + f"({', '.join(parameters)})" * bool(parameters)


def enum_code(member, name):
    strong = "class " * (member.get("strong") == "yes")
    return listed(f"enum {strong}{name} {{", [flat(value.find("name")) for value in member.findall("enumvalue")], "};")


def member_code(member):
    """The declaration of a function, variable, alias, enumeration or macro."""
    kind, name = member.get("kind"), as_written(flat(member.find("name")))
    if kind == "define":
        return macro_code(member, name)
    if kind in ("function", "friend"):
        last = function_code(member)
    elif kind == "typedef":
        last = f"using {name} = {as_written(flat(member.find('type')).removeprefix('typedef '))};"
    elif kind == "enum":
        last = enum_code(member, name)
    else:
        last = variable_code(member, name)
    return "\n".join(template_head(member) + [last])


def concept_code(concept, name):
    head, _, constraint = "".join(concept.find("initializer").itertext()).strip().partition("=")
    head = re.sub(r"concept .*", f"concept {name}", head).replace("template<", "template <")
    return f"{head} = {constraint.strip()};"


def bases_of(compound):
    """The public base classes that users may know."""
    parameters = {parameter(element).split(" = ")[0].split()[-1]
                  for element in compound.iterfind("templateparamlist/param")}
    for base in compound.findall("basecompoundref"):
        name = as_written(base.text.removeprefix("devplace::"))
        if base.get("prot") == "public" and not re.search(r"\b(detail|runtime)::", name):
            # Doxygen gives a base that is a template parameter a namespace.
            yield "public " + (name.split("::")[-1] if name.split("::")[-1] in parameters else name)


def compound_code(compound, name):
    """The declaration of a class or concept; `name` is its own, without namespaces."""
    if compound.get("kind") == "concept":
        return concept_code(compound, name)
    bases = ", ".join(bases_of(compound))
    return "\n".join(template_head(compound) + [f"{compound.get('kind')} {name}" + f" : {bases}" * bool(bases) + ";"])
