"""The command line: ``python3 -m minigrad demo | draw | debug | verify | doctor``.

Errors of the input end with one clear line on stderr and exit code 2; there is no traceback.

Read next: ``expression.py``, ``demo.py``, ``doctor.py``.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from minigrad.cli import demo, doctor
from minigrad.cli.expression import build
from minigrad.debugger import walk
from minigrad.errors import MinigradError, MinigradWarning
from minigrad.events import load, trace, verify
from minigrad.picture import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_NO_FORM = (
    "debug writes the steps in one of two forms: --print, every step as a line of text, or --json; "
    "add one of them"
)
_EXAMPLE = '"tanh(x*w + b)" x=2 w=-3 b=6.88'


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: The words of the command line; those of the process by default.

    Returns:
        The exit code: 0, 1 (``verify`` found a fault) or 2 (the input cannot be used).
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal or file that cannot write ∂ shows ?
            stream.reconfigure(errors="replace")
    options = _parser().parse_args(_minus_kept(sys.argv[1:] if arguments is None else arguments))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", MinigradWarning)
            warnings.showwarning = _show_warning
            return int(options.run(options))
    except MinigradError as error:
        print(f"minigrad: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stderr.close()
        return 0
    except OSError as error:
        print(f"minigrad: {error.strerror or error}", file=sys.stderr)
        return 2


def _minus_kept(words: Sequence[str]) -> list[str]:
    """The words with a space before an expression that starts with a minus, and is no option.

    >>> _minus_kept(["draw", "-x*x", "x=2"]), _minus_kept(["draw", "-oy.svg", "x", "x=2"])
    (['draw', ' -x*x', 'x=2'], ['draw', '-oy.svg', 'x', 'x=2'])
    """
    command, expression = [*words, "", ""][:2]
    option = expression[:2] == "--" or expression in ("-o", "-h") or (
        expression[:2] == "-o" and Path(expression).suffix != ""
    )  # fmt: skip
    if command not in ("draw", "debug") or expression[:1] != "-" or option:
        return list(words)
    return [command, f" {expression}", *words[2:]]


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"minigrad: warning: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="minigrad", description="A teaching engine for automatic differentiation."
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    command = commands.add_parser("demo", help="a neuron, its gradients, and a network in training")
    command.set_defaults(run=lambda options: demo.run())

    command = commands.add_parser("draw", help=f"draw an expression: draw {_EXAMPLE} -o graph.svg")
    _add_expression(command)
    command.add_argument("-o", "--output", metavar="FILE", help="graph.svg, .html, .txt or .dot")
    command.add_argument("--theme", choices=("auto", "light", "dark", "print"), default="auto")
    command.add_argument("--direction", choices=("LR", "TB"), default="LR")
    command.set_defaults(run=_draw)

    command = commands.add_parser("debug", help=f"step through it: debug {_EXAMPLE} --print")
    _add_expression(command)
    form = command.add_mutually_exclusive_group()
    form.add_argument("--print", action="store_true", help="every step as a line of text")
    form.add_argument("--json", action="store_true", help="every event as a line of JSON")
    command.set_defaults(run=_debug)

    command = commands.add_parser("verify", help="check that the numbers of a trace file add up")
    command.add_argument("file", metavar="TRACE.json")
    command.set_defaults(run=_verify)

    command = commands.add_parser(
        "doctor", help="what is installed, and which minigrad is imported"
    )
    command.set_defaults(run=lambda options: doctor.run())
    return parser


def _add_expression(command: argparse.ArgumentParser) -> None:
    command.add_argument("expression", metavar="EXPR", help='such as "tanh(x*w + b)"')
    command.add_argument("values", metavar="name=number", nargs="*", help="a value for each name")


def _draw(options: argparse.Namespace) -> int:
    drawing = draw(
        build(options.expression, options.values), theme=options.theme, direction=options.direction
    )
    print(drawing.save(options.output) if options.output else drawing)
    return 0


def _debug(options: argparse.Namespace) -> int:
    if not (options.print or options.json):
        print(f"minigrad: {_NO_FORM}", file=sys.stderr)
        build(options.expression, options.values)  # says what is wrong with it, if anything is
        return 2
    record = trace(build(options.expression, options.values))
    if options.json:
        for event in record.events:
            print(json.dumps(event, ensure_ascii=False))
    else:
        print(*walk(record), sep="\n")
    return 0


def _verify(options: argparse.Namespace) -> int:
    report = verify(load(options.file))
    for fault in report.faults:
        print(fault)
    if report.unknown:
        print(f"not checked, for the table does not have them: {', '.join(report.unknown)}")
        print("operations of your own are known to minigrad.events.verify where you define them")
    for said in report.unchecked:
        print(f"not checked: {said}")
    print(f"{report.checked} numbers checked, {len(report.faults)} wrong")
    return 1 if report.faults or report.unknown else 0
