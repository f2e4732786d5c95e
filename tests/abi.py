"""The interface of halotune.h as a compiler sees it, and what programs of earlier versions were compiled with.

    python3 tests/abi.py HEADER SONAME          prints the interface, for tests/abi/VERSION.txt at a release
    python3 tests/abi.py HEADER SONAME LIST...  compares it with such lists; prints TAP

A program that was written for an earlier version must compile: its functions, members and enumerators stay, and so do
the numbers of enumerators. A program that was compiled for a version with the same soname must run: the structs have
their size, and the members their places. CC names the compiler.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def expanded(header):
    """The header's text after the preprocessor, without comments."""
    command = [*os.environ.get("CC", "cc").split(), "-E", "-P", header]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def members_of(body):
    for declaration in filter(None, map(str.strip, body.split(";"))):
        for declarator in declaration.split(","):
            yield re.search(r"(\w+)\s*(\[[^]]*\]\s*)*$", declarator.strip()).group(1)


def interface(header, soname):
    """Lines "kind name numbers", where the numbers are an enumerator's value, a struct's size, a member's place and size."""
    text = expanded(header)
    declarations = [part for part in re.split(r"[;{}]", text) if "typedef" not in part]
    functions = re.findall(r"\b(halotune_\w+)\s*\(", ";".join(declarations))
    lines = [f"soname {soname}"] + [f"function {name}" for name in sorted(functions)]
    enumerators = re.findall(r"\b(HALOTUNE_\w+)\s*=", text)
    structs = re.findall(r"typedef struct\s*\w*\s*\{([^{}]*)\}\s*(halotune_\w+);", text)
    prints = [f'printf("enumerator {name} %d\\n", (int){name});' for name in enumerators]
    for body, struct in structs:
        prints.append(f'printf("struct {struct} %zu\\n", sizeof({struct}));')
        for member in members_of(body):
            if member != "reserved":
                prints.append(
                    f'printf("member {struct}.{member} %zu %zu\\n", offsetof({struct}, {member}), sizeof((({struct} *)0)->{member}));'
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
    for (kind, name), numbers in table(then).items():
        if (kind, name) not in today:
            yield f"{kind} {name} is gone"
        elif numbers != today[kind, name] and (kind == "enumerator" or same_soname):
            yield f"{kind} {name} was {' '.join(numbers)} and is {' '.join(today[kind, name])}"


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
