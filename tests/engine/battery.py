"""A few checks that a broken engine cannot pass; run as a program on a copy of the package.

``test_mutations.py`` breaks the copy and expects the exit code to say so. Every check uses only
public names, and runs the fused pass, the readable sweep and the differentiable pass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import minigrad as mg
from minigrad import Value, value


def diamond() -> list[Any]:
    """Two consumers of b (report B09)."""
    a = Value(2.0)
    b = a * 2.0
    return [(b + 1.0) * (b * 3.0), [(b, 27.0), (a, 54.0)]]


def unbalanced() -> list[Any]:
    """One consumer of h is next to the output, the other one is far below it."""
    x = Value(3.0)
    h = x * x
    y = mg.square(h) * 1.0 + h
    return [y, [(h, 19.0), (x, 114.0)]]


def reversed_unbalanced() -> list[Any]:
    """The same, with the near consumer first."""
    x = Value(3.0)
    h = x * x
    y = h + mg.square(h) * 1.0
    return [y, [(h, 19.0), (x, 114.0)]]


def weighted(x: Any, y: Any) -> Any:
    """5x + 7y as one row of a learner, whose slopes are plain numbers."""
    try:
        return mg.operation("weighted", lambda m, x, y: 5.0 * x + 7.0 * y, [5.0, 7.0])(x, y)
    finally:
        mg.ops.OPS.pop("weighted", None)  # type: ignore[attr-defined]


def each_kind_of_row() -> list[Any]:
    """x goes twice into rows of one, two, three and many inputs, in every slot."""
    x, w = Value(2.0), Value(3.0)
    terms = [
        x + w, w + x, x - w, w - x, x * w, w * x, x / w, w / x, mg.neg(x), mg.square(x),
        mg.where(True, x, w), mg.where(False, w, x), mg.dot([x, w], [w, x]), mg.sum([x, w, x]),
        weighted(x, w), weighted(w, x),
    ]  # fmt: skip
    y = terms[0]
    for term in terms[1:]:
        y = y + term
    by_x = 1 + 1 + 1 - 1 + 3 + 3 + 1 / 3 - 3 / 4 - 1 + 4 + 1 + 1 + 6 + 2 + 5 + 7
    by_w = 1 + 1 - 1 + 1 + 2 + 2 - 2 / 9 + 1 / 2 + 0 + 0 + 0 + 0 + 4 + 1 + 7 + 5
    return [y, [(x, by_x), (w, by_w)]]


def protected_branch() -> list[Any]:
    """Nothing comes out of the branch not taken."""
    x = Value(-1.0)
    with mg.errstate("ignore"):
        y = mg.where(x > 0.0, mg.exp(mg.log(x) * 2.0), 3.0 * x)
    return [y, [(x, 3.0)]]


def same_slots() -> list[Any]:
    """Both slots of one row hold the same node."""
    x = Value(3.0)
    y = (x * x) + (x / x) + (x - x) + mg.maximum(x, x)
    return [y, [(x, 7.0)]]


GRAPHS = [
    diamond, unbalanced, reversed_unbalanced, each_kind_of_row, protected_branch, same_slots,
]  # fmt: skip


def fused(y: Value) -> None:
    if not value.fast.backward(y, 1.0):
        raise AssertionError("the fused pass gave up on an ordinary graph")


def readable(y: Value) -> None:
    earlier = value.fast.backward
    value.fast.backward = lambda *_: False  # type: ignore[assignment]
    try:
        y.backward()
    finally:
        value.fast.backward = earlier


def differentiable(y: Value) -> None:
    y.backward(create_graph=True)


def check_gradients(graph: Callable[[], list[Any]], run: Callable[[Value], None]) -> None:
    y, expected = graph()
    run(y)
    for node, gradient in expected:
        found = node.grad.data if isinstance(node.grad, Value) else node.grad
        if found is None or abs(found - gradient) > 1e-9 * abs(gradient):
            raise AssertionError(f"{found} is not {gradient}")


def check_accumulation(run: Callable[[Value], None]) -> None:
    x = Value(2.0)
    h = x * 3.0
    y = h * h
    run(y)
    run(y)
    for node, gradient in ((x, 72.0), (h, 12.0)):
        found = node.grad.data if isinstance(node.grad, Value) else node.grad
        if found != gradient:
            raise AssertionError(f"after two passes: {found} is not {gradient}")


def check_second_order() -> None:
    x = Value(2.0)
    (x * x * x + mg.exp(x * 0.0)).backward(create_graph=True)
    gradient = x.grad
    x.zero_grad()
    gradient.backward()
    if x.grad != 12.0:
        raise AssertionError(f"second derivative: {x.grad} is not 12")


def check_stale() -> None:
    x = Value(2.0)
    y = x * x
    x.data = 3.0
    y.backward()
    if x.grad != 4.0:
        raise AssertionError("the recorded numbers were not used")
    x.zero_grad()
    try:
        y.backward(create_graph=True)
    except mg.errors.StaleError:  # type: ignore[attr-defined]
        return
    raise AssertionError("a stale graph was differentiated")


def failures() -> list[str]:
    """The names of the checks that fail."""
    runs = [fused, readable, differentiable]
    checks: list[tuple[str, Callable[[], None]]] = [
        (f"{graph.__name__}, {run.__name__}", lambda g=graph, r=run: check_gradients(g, r))  # type: ignore[misc]
        for graph in GRAPHS
        for run in runs
    ]
    checks += [
        (f"accumulation, {run.__name__}", lambda r=run: check_accumulation(r))  # type: ignore[misc]
        for run in runs
    ]
    checks += [("second order", check_second_order), ("stale", check_stale)]
    failed = []
    for name, check in checks:
        try:
            check()
        except Exception as error:  # whatever a broken engine does
            failed.append(f"{name}: {type(error).__name__}: {error}")
    return failed


if __name__ == "__main__":
    print("\n".join(failures()))
    sys.exit(bool(failures()))
