#!/usr/bin/env python3
"""The reference pages (section 3) from the headers' own comments.

reference.py HEADER PAGE      writes the manual page of that header, as roff
reference.py --check HEADER…  fails and names it where something public has no comment

A comment belongs to what follows it up to the next empty line; one at the end of a line belongs to
that line alone; `/* ---- title ---- */` begins a section and says what its first paragraph is for,
and one that is titled "… nothing below is for plugins" ends the page.  A header that says "nothing
here is for plugins" has none.  Names with two underscores are the headers' own and left out.
"""
import pathlib
import re
import sys

END = "nothing below is for plugins"
INTERNAL = "nothing here is for plugins"


# ---- reading C, as far as these headers need it ----


def without_conditions(text):
    """What a C compiler sees: the C++ parts go, and with them every #if line."""
    kept, seen = [], [True]
    for line in text.splitlines():
        word = re.match(r"\s*#\s*(if|else|endif)", line)
        if not word:
            kept += [line] if all(seen) else []
        elif word[1] == "if":
            seen.append("__cplusplus" not in line)
        elif word[1] == "else":
            seen[-1] = not seen[-1]
        else:
            seen.pop()
    return "\n".join(kept)


COMMENT = re.compile(r"/\*.*?\*/", re.S)
DIRECTIVE = re.compile(r"#(?:.*\\\n)*.*")
STRING = re.compile(r'"(?:\\.|[^"\\])*"')


def plain(comment):
    """The text of a comment: lines without their stars."""
    lines = comment[2:-2].strip().splitlines()
    return "\n".join(re.sub(r"^\s*\*( |$)", "", line).rstrip() for line in lines)


def end_of_declaration(text, at, closing):
    """Behind the next `closing` that is in no bracket, or behind a function's body; else behind
    what is last and no comment."""
    depth, last = 0, at
    while at < len(text):
        skipped = COMMENT.match(text, at) or STRING.match(text, at)
        if skipped:
            at = skipped.end()
            continue
        character = text[at]
        at += 1
        last = last if character.isspace() else at
        depth += (character in "({[") - (character in ")}]")
        if depth == 0 and character == closing:
            return at
        if depth == 0 and character == "}" and re.match(r"[ ]*\n", text[at:] or "\n"):
            return at
    return last


def pieces(text, closing=";"):
    """(kind, text): "section", "comment", "remark" (a comment behind something on its line),
    "blank", "directive", "declaration"."""
    at, line_has = 0, False
    while at < len(text):
        space = re.compile(r"\s+").match(text, at)
        comment = COMMENT.match(text, at)
        directive = DIRECTIVE.match(text, at)
        if space:
            if "\n" in space[0]:
                line_has = False
            if space[0].count("\n") > 1:
                yield "blank", ""
            at = space.end()
        elif comment:
            title = re.fullmatch(r"/\* ---- (.*?) -+ \*/", comment[0])
            kind = "section" if title else "remark" if line_has else "comment"
            yield kind, title[1] if title else plain(comment[0])
            at = comment.end()
        elif directive and closing == ";":
            code, _, remark = directive[0].partition("/*")
            yield "directive", code
            if remark:
                yield "remark", plain("/*" + remark)
            at = directive.end()
        else:
            end = end_of_declaration(text, at, closing)
            yield "declaration", text[at:end]
            at, line_has = end, True


# ---- what is declared ----


class Item:
    """One declaration: its tag on the page, its own remark, and what is inside."""

    def __init__(self, kind, name, tag, remark="", inside=()):
        self.kind, self.name, self.tag, self.remark = kind, name, tag, remark
        self.inside = list(inside)  # groups


class Group:
    def __init__(self, comment=""):
        self.comment, self.items = comment, []


def one_line(code):
    return re.sub(r"\s+", " ", COMMENT.sub("", code)).strip()


def prototype(code):
    code = re.sub(r"MORTISE__\w+(\s*\([^()]*\))?|MORTISE_EXPORT|\bstatic inline\b|\bextern\b", "", code)
    return re.sub(r" ?;$", ";", one_line(code.partition("{")[0].rstrip().rstrip(";") + ";"))


def read_define(code):
    found = re.match(r"#\s*define\s+(\w+)(\([^)]*\))?[ \t]*(.*)", code, re.S)
    if not found or "__" in found[1] or not (found[2] or found[3].strip()):
        return None  # an include guard, an #include, or the headers' own
    value = "" if found[2] else " " + one_line(found[3].replace("\\\n", " "))
    return Item("macro", found[1], found[1] + (found[2] or value))


def read_braces(head, body, tail):
    """struct, union or enum."""
    names = re.findall(r"\w+", tail) or re.findall(r"\w+", head)[-1:]
    if head.split()[-2:-1] == ["enum"] or head.split()[-1:] == ["enum"]:
        return Item("enum", "", "", inside=groups(body, read_constant, ","))
    kind = "union" if "union" in head.split() else "struct"
    return Item("type", names[-1], f"{kind} {names[-1]}", inside=groups(body, read_member))


def read_constant(code):
    code = one_line(code).rstrip(", ")
    return Item("constant", code.split()[0], code) if code else None


def read_member(code):
    code = one_line(code)
    called = re.search(r"\(\*(\w+)\)", code)
    return Item("function" if called else "member", called[1] if called else code, code)


def read_declaration(code):
    if re.match(r"MORTISE__\w+\s*\(|_Static_assert", code):
        return None
    head, brace, rest = code.partition("{")
    if brace and "(" not in head:
        body, _, tail = rest.rpartition("}")
        return read_braces(head, body, tail)
    if re.fullmatch(r"typedef struct (\w+) \1;", one_line(code)):
        return Item("forward", one_line(code).split()[2], one_line(code))
    tag = prototype(code)
    name = re.search(r"\(\*(\w+)\)|(\w+)(?:\(|;|\[)", tag)
    name = name[1] or name[2]
    if "__" in name:
        return None
    kind = "type" if tag.startswith("typedef") else "function"
    return Item(kind, name, tag)


def groups(text, read=read_declaration, closing=";"):
    """Groups, and between them strings: titles ("# …") and comments that stand alone."""
    found, group, pending = [], None, None
    for kind, piece in pieces(text, closing):
        if kind in ("comment", "section", "blank"):
            if pending:
                found.append(pending)
            group, pending = None, piece if kind == "comment" else None
            if kind == "section":
                if END in piece:
                    break
                found.append("# " + piece)
        elif kind == "remark":
            if group and group.items:
                group.items[-1].remark = piece
        else:
            item = read_define(piece) if kind == "directive" else read(piece)
            if not item:
                pending = None
                continue
            if not group:
                group, pending = Group(pending or ""), None
                found.append(group)
            group.items.append(item)
    return found


# ---- what has no comment ----


def undocumented(found, where="", needed=("macro", "type", "function", "enum")):
    wrong = []
    for before, group in zip([None, *found], found):
        titled = isinstance(before, str) and before.startswith("# ")
        for item in group.items if isinstance(group, Group) else ():
            name = f"{where}.{item.name}" if where else item.name
            said = group.comment or item.remark or titled
            if item.kind == "enum":
                constants = [c for g in item.inside if isinstance(g, Group) for c in g.items]
                if not said:
                    wrong += [c.name for c in constants if not c.remark]
            elif item.kind in needed and not said:
                wrong.append(name)
            if item.kind == "type":
                wrong += undocumented(item.inside, name, ("function",))
    return wrong


# ---- writing roff ----


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def paragraphs(text, out):
    """Lines that are indented stay as they are."""
    kept = False
    for line in text.splitlines():
        is_kept = line.startswith("  ")
        if is_kept != kept:
            out.append(".EX" if is_kept else ".EE")
            kept = is_kept
        if line or kept:
            out.append(escape(line))
        else:
            out.append(".sp")
    if kept:
        out.append(".EE")


def sentence(comment, items):
    """A type's or constant's comment together with the remarks behind its single items."""
    remarks = [item.remark for item in items if item.remark]
    return "\n".join([comment, *remarks] if comment else remarks)


def write_group(group, out):
    shown = [item for item in group.items if item.kind not in ("enum", "forward")]
    if not shown and any(item.inside for item in group.items):
        out.append(".PP")
    for number, item in enumerate(shown):
        alone = item.remark or item.inside
        out.append(".TQ" if number and not (alone or shown[number - 1].remark) else ".TP")
        out.append(f"\\fB{escape(item.tag)}\\fR")
        if alone and item is not shown[-1]:
            paragraphs(item.remark, out)
    paragraphs(sentence(group.comment, shown[-1:]), out)
    for item in group.items:
        if item.inside:
            out.append(".RS")
            write(item.inside, out)
            out.append(".RE")


def write(found, out):
    for group in found:
        if isinstance(group, Group):
            write_group(group, out)
        elif group.startswith("# "):
            out.append(f'.SH "{escape(group[2:].upper())}"')
        else:
            out.append(".PP")
            paragraphs(group, out)


def show_opaque_types(found):
    """A `typedef struct X X;` is for its own sake if the struct is not in this header."""
    items = [item for group in found if isinstance(group, Group) for item in group.items]
    defined = {item.name for item in items if item.kind == "type"}
    for item in items:
        if item.kind == "forward" and item.name not in defined:
            item.kind = "type"


def read(path):
    """(the opening comment, what is declared)"""
    text = path.read_text(encoding="utf-8")
    opening = COMMENT.search(text)
    found = groups(without_conditions(text[opening.end():]))
    show_opaque_types(found)
    return plain(opening[0]), found


def page(opening, found):
    first, _, rest = opening.partition("\n")
    header, _, summary = first.partition(" - ")
    name = escape(header.replace("/", "-"))
    out = [f'.TH "{name}" 3 "" mortise "Plugins of mortise"', ".SH NAME",
           f"{name} \\- {escape(summary.rstrip('.'))}", ".SH SYNOPSIS", ".EX",
           f"#include <{header}>", ".EE", ".SH DESCRIPTION", ".ad l", ".nr HY 0"]
    paragraphs(rest.strip("\n"), out)
    if found and not str(found[0]).startswith("# "):
        out.append('.SH "WHAT ALL ELSE USES"')
    write(found, out)
    out += [".SH SEE ALSO", ".BR mortise\\-plugin (7),", ".BR mortise (1)"]
    return "\n".join(out) + "\n"


def main(arguments):
    if arguments[0] != "--check":
        source, output = map(pathlib.Path, arguments)
        output.write_text(page(*read(source)), encoding="utf-8")
        return 0
    wrong = [f"{name}: {item} is public and has no comment" for name in arguments[1:]
             for item in undocumented(read(pathlib.Path(name))[1])]
    print("\n".join(wrong) or "everything public has a comment")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
