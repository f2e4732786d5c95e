"""The interface of halotune.h as a compiler sees it, and what programs of earlier versions were compiled with.

    python3 tests/abi.py HEADER SONAME          prints the interface, for tests/abi/VERSION.txt
    python3 tests/abi.py HEADER SONAME LIST...  compares it with such lists; prints TAP

A program that was written for an earlier version must compile: its functions, types, macros, members and enumerators
stay, and so do parameters, values that a function returns, and numbers of enumerators and macros. A program that was
compiled for a version with the same soname must run: the structs have their size, and the members their places and
types. CC names the compiler.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def preprocessed(header, option):
    """The header's text without comments and directives (-P), or its macros (-dM)."""
    command = [*os.environ.get("CC", "cc").split(), "-E", option, header]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def squeezed(text):
    """A declaration as the compiler reads it: without attributes, names of parameters and spaces that mean nothing."""
    text = re.sub(r"__attribute__\s*\(\(\w+(\([^()]*\))?\)\)", "", text)
    text = re.sub(r"(?<=[\s*])(?!void\b)\w+\s*(?=(\[\w*\]\s*)*[,)])", "", " ".join(text.split()))
    return re.sub(r"\s*([*(),\[\]])\s*", r"\1", text).strip()


def declared(text):
    """Functions and named types: (kind, name, declaration)."""
    for part in re.split(r"[;{}]", text):
        name = re.search(r"\b(halotune_\w+)\s*\(", part) or re.search(r"typedef[^()]*\b(halotune_\w+)\s*$", part)
        if name:
            yield "typedef" if "typedef" in part else "function", name.group(1), squeezed(part)


def macros_of(header):
    """(name, value) of the macros: whole numbers with their value, others with their parameters."""
    for name, parameters, value in re.findall(r"^#define (HALOTUNE_\w+)(\(.*?\))?(.*)", preprocessed(header, "-dM"), flags=re.M):
        is_number = re.fullmatch(r" \(?-?\d+\)?", value) and "VERSION" not in name
        yield name, value.strip() if is_number else parameters


def members_of(body):
    """(name, type) of the members."""
    for declaration in filter(None, map(str.strip, body.split(";"))):
        first, *others = declaration.split(",")
        kind = re.match(r"(.*?)[\s*]*\w+\s*(\[[^]]*\]\s*)*$", first, flags=re.S).group(1)
        for declarator in [first[len(kind) :], *others]:
            name = re.search(r"\w+", declarator).group()
            yield name, squeezed(kind + declarator.replace(name, ""))


def interface(header, soname):
    """Lines "kind name facts": declaration, value of a macro or an enumerator, size of a struct, place, size and type of a member."""
    text = preprocessed(header, "-P")
    lines = [f"soname {soname}"] + sorted(map(" ".join, declared(text)))
    lines += [f"macro {name} {value}".strip() for name, value in sorted(macros_of(header))]
    enumerators = re.findall(r"\b(HALOTUNE_\w+)\s*=", text)
    structs = re.findall(r"typedef struct\s*\w*\s*\{([^{}]*)\}\s*(halotune_\w+);", text)
    prints = [f'printf("enumerator {name} %d\\n", (int){name});' for name in enumerators]
    for body, struct in structs:
        prints.append(f'printf("struct {struct} %zu\\n", sizeof({struct}));')
        for member, kind in members_of(body):
            if member != "reserved":
                prints.append(
                    f'printf("member {struct}.{member} %zu %zu {kind}\\n", offsetof({struct}, {member}), sizeof((({struct} *)0)->{member}));'
                )
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "print.c"), pathlib.Path(folder, "print")
        main = "\n".join(["int main(void) {", *prints, "return 0;", "}"])
        source.write_text(f'#include "{pathlib.Path(header).resolve()}"\n#include <stddef.h>\n#include <stdio.h>\n{main}\n')
        subprocess.run([*os.environ.get("CC", "cc").split(), str(source), "-o", str(program)], check=True)
        return lines + subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.split("\n")[:-1]


def table(lines):
    return {(line.split()[0], line.split()[1]): line.split()[2:] for line in lines if line.split()[0] != "soname"}


def broken(then, now):
    """What a program of the list `then` misses in the list `now`."""
    same_soname = then[0] == now[0]
    today = table(now)
    for (kind, name), facts in table(then).items():
        if (kind, name) not in today:
            yield f"{kind} {name} is gone"
        elif facts != today[kind, name] and (kind not in ("struct", "member") or same_soname):
            yield f"{kind} {name} was {' '.join(facts)} and is {' '.join(today[kind, name])}"


def main():
    now = interface(sys.argv[1], sys.argv[2])
    if len(sys.argv) == 3:
        print("\n".join(now))
        return 0
    failed = 0
    for number, path in enumerate(sys.argv[3:], 1):
        then = pathlib.Path(path).read_text().split("\n")[:-1]
        problems = list(broken(then, now))
        failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {number} - programs of {pathlib.Path(path).stem}, {then[0]}")
        for problem in problems:
            print(f"# {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
