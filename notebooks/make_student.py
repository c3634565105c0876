"""Write the lessons for students: every solution is replaced by ``...``.

    python make_student.py FOLDER [LESSON ...]    the student version, as .ipynb, with checks/
    python make_student.py --sync                 the .ipynb beside each source, written again

A lesson is a text, ``NN_name.py`` (jupytext's percent form). In it a solution stands between
``### BEGIN SOLUTION`` and ``### END SOLUTION``. If it only assigns a variable, the student finds
``variable = ...``, else ``...``; so the student version runs from the first cell to the last.
LESSON is the beginning of a name, such as 01; without it all lessons are written.
"""

import ast
import hashlib
import re
import shutil
import sys
from pathlib import Path
from textwrap import dedent

HERE = Path(__file__).resolve().parent

SOLUTION = re.compile(
    r"^(?P<indent>[ \t]*)### BEGIN SOLUTION\n(?P<body>.*?)^[ \t]*### END SOLUTION\n",
    re.MULTILINE | re.DOTALL,
)


def lessons(prefixes=()):
    """The sources of the lessons whose names begin with one of ``prefixes`` (all, if none)."""
    found = sorted(HERE.glob("[0-9][0-9]_*.py"))
    return [file for file in found if not prefixes or file.name.startswith(tuple(prefixes))]


def without_solutions(source):
    """Replace each solution in the text of a lesson by ``...`` and a comment.

    Raises:
        ValueError: If a marker has no partner.
    """
    text = SOLUTION.sub(_stub, source)
    left = [line for line in text.splitlines() if re.search(r"(BEGIN|END) SOLUTION", line)]
    if left:
        raise ValueError(f"a solution begins or ends alone: {left}")
    return text


def _stub(match):
    indent, statements = match["indent"], ast.parse(dedent(match["body"])).body
    if all(isinstance(statement, ast.Assign) for statement in statements):
        names = [ast.unparse(target) for statement in statements for target in statement.targets]
        return "".join(f"{indent}{name} = ...  # your answer here\n" for name in names)
    return f"{indent}...  # your code here\n"


def notebook(source):
    """The text of a lesson as a clean notebook: no outputs, and the same ids every time."""
    import jupytext

    book = jupytext.reads(source, fmt="py:percent")
    book.nbformat, book.nbformat_minor = 4, 5
    book.metadata = {"kernelspec": dict(book.metadata["kernelspec"])}
    seen = {}
    for cell in book.cells:
        cell.metadata = {}  # how many blank lines the text has between cells is no matter here
        key = f"{cell.cell_type}\n{cell.source}"
        seen[key] = seen.get(key, 0) + 1
        cell.id = hashlib.sha256(f"{key}\n{seen[key]}".encode()).hexdigest()[:8]
    return book


def write(source, path):
    """Write the text of a lesson as a notebook."""
    import nbformat

    path.write_text(nbformat.writes(notebook(source)) + "\n", encoding="utf-8")
    print("wrote", path)


def main(arguments):
    """Do what the command line says; return 2 if it says nothing that can be done."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 2 if not arguments else 0
    if arguments == ["--sync"]:
        for file in lessons():
            write(file.read_text("utf-8"), file.with_suffix(".ipynb"))
        return 0
    folder, chosen = Path(arguments[0]), lessons(arguments[1:])
    if arguments[0].startswith("-") or not chosen:
        names = ", ".join(file.stem for file in lessons())
        print(
            f"I do not understand {' '.join(arguments)!r}. The lessons are {names}.\n\n"
            f"{__doc__.strip()}"
        )
        return 2
    if folder.resolve() == HERE:
        print("That is the folder of the lessons; they would be overwritten. Name another one.")
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    for file in chosen:
        write(without_solutions(file.read_text("utf-8")), folder / f"{file.stem}.ipynb")
    shutil.copytree(
        HERE / "checks", folder / "checks", ignore=shutil.ignore_patterns("__pycache__"),
        dirs_exist_ok=True,
    )  # fmt: skip
    print("wrote", folder / "checks")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
