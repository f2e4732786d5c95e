"""The documents' links lead somewhere, and the commands and options of `halotune` that they name exist. $HALOTUNE names
the program. Prints TAP."""

import functools
import os
import pathlib
import re
import subprocess
import sys

DOCUMENTS = [pathlib.Path(name) for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(pathlib.Path("docs").glob("*.md"))
PROGRAM = os.environ.get("HALOTUNE", "build/halotune")


def prose(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@functools.lru_cache(maxsize=None)
def anchors(path):
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", prose(path.read_text()), flags=re.M)}


def broken_links(document):
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(document.read_text())):
        path, _, name = link.partition("#")
        target = pathlib.Path(os.path.normpath(document.parent / path)) if path else document
        if ":" in path:
            continue
        if not target.exists():
            yield f"{link}: there is no {target}"
        elif name and name not in anchors(target):
            yield f"{link}: {target} has no such heading"


@functools.lru_cache(maxsize=None)
def options(command):
    """The options of a command; None if there is no such command."""
    text = subprocess.run([PROGRAM, "help", command], capture_output=True, text=True).stdout
    return set(re.findall(r"(?<![\w-])--[a-z-]+", text)) if text else None


def unknown_words(text):
    for command, words in re.findall(r"\bhalotune ([a-z]+)\b(?!<TAB>|\")((?: [^`\n|;&]*)?)", text):
        if command == "help":
            continue
        known = options(command)
        if known is None:
            yield f"there is no halotune {command}"
            continue
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", words.split("  #")[0]):
            if option not in known:
                yield f"halotune {command} has no option {option}"


def unanswered(text):
    """The answers of CONTRIBUTING that name no file, or a symbol that none of its files has."""
    rows = re.findall(r"^\| (.*\?|.*[^ ]) \| (.*`.*) \|$", text.partition("## Where is X?")[2].partition("\n## ")[0], flags=re.M)
    if len(rows) < 20:
        yield f"Where is X?: only {len(rows)} questions"
    for question, answer in rows:
        folder, files, symbols = pathlib.Path("."), [], []
        for word in re.findall(r"`([^`]*)`", answer):
            path = pathlib.Path(word) if (pathlib.Path(word)).exists() else folder / word
            if path.exists():
                files.append(path)
                folder = path.parent
            elif re.fullmatch(r"[a-z_0-9]+", word):
                symbols.append(word)
            elif not word.startswith("-"):
                yield f"{question}: there is no {word}"
        texts = [path.read_text() for path in files if path.is_file()]
        for symbol in symbols:
            if not any(re.search(rf"\b{symbol}\b", text) for text in texts):
                yield f"{question}: {symbol} is in none of {[str(path) for path in files]}"
        if not files:
            yield f"{question}: no file is named"


def late_commands(document):
    """A page of docs begins with the commands, or the code, that most readers came for."""
    if document.parent.name == "docs" and not re.match(r"# .*\n\n(?:    |```)\S", document.read_text()):
        yield "the title is not followed by commands or code"


def main():
    invented = list(unknown_words("`halotune tune --budget 1s`, `halotune tuna star7`, `halotune query --nonsense`"))
    made_up = "## Where is X?\n" + "| a | `base/text/json.c` |\n" * 19 + "| b | `nosuch` in `base/text/json.c` |\n| c | `base/nosuch.c` |\n"
    missed = list(unanswered(made_up))
    failed = int(invented != ["there is no halotune tuna", "halotune query has no option --nonsense"] or len(missed) != 3)
    print(f"{'not ok' if failed else 'ok'} 1 - in a text of this test, a command, an option, a symbol and a file that there are not")
    for number, document in enumerate(DOCUMENTS, 2):
        problems = [*broken_links(document), *late_commands(document), *unknown_words(document.read_text()), *(unanswered(document.read_text()) if document.name == "CONTRIBUTING.md" else [])]
        failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {number} - links, first lines, commands and options of {document}")
        for problem in problems:
            print(f"# {problem}")
    print(f"1..{len(DOCUMENTS) + 1}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
