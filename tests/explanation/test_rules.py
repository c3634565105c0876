"""The rules in words: what is typed in NumPy is what the pass computed, and LaTeX is no code."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.tensor import Tensor
from tests.tensor.cases import CASES, Case, nodes

rng = np.random.default_rng(11)
MATRIX, BLOCK, VECTOR = rng.normal(size=(2, 3)), rng.normal(size=(2, 3, 4)), rng.normal(size=3)
NUMPY = {"sum": np.sum, "mean": np.mean, "expand_dims": np.expand_dims} | {
    name: getattr(mg, name) for name in ("softmax", "log_softmax", "sigmoid")
}

AXES: list[tuple[Any, Any]] = [
    (VECTOR, None), (VECTOR, 0), (MATRIX, None), (MATRIX, 0), (MATRIX, -1), (BLOCK, 1),
    (BLOCK, (0, -1)), (BLOCK, (2, 1, 0)),
]  # fmt: skip


def step_of(out: Any, x: Any, **known: Any) -> Any:
    """The rule of ``out`` for ``x``, evaluated as it is written, with what the pass computed."""
    out.name = "out"
    seed = rng.normal(size=out.shape)
    explanation: Any = mg.explain(out, x, seed=seed)
    [path] = explanation.shown
    [step] = path.steps
    names = {"upstream": seed, "x": x.data, "out": out.data, **known}
    typed = eval(step.rule, {"__builtins__": {}}, NUMPY | names)
    np.testing.assert_allclose(np.broadcast_to(typed, x.shape), step.sent, rtol=1e-12, atol=1e-14)
    return step


@pytest.mark.parametrize(("data", "axis"), AXES)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_the_rule_of_a_softmax_is_right_as_it_is_typed(name: str, data: Any, axis: Any) -> None:
    x = Tensor(data, name="x")
    step_of(getattr(mg, name)(x, axis=axis), x)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(("data", "axis"), AXES)
@pytest.mark.parametrize("name", ["logsumexp", "norm", "std", "var"])
def test_the_rule_of_a_reduction_is_right_as_it_is_typed(
    name: str, data: Any, axis: Any, keepdims: bool
) -> None:
    x = Tensor(data, name="x")
    step_of(getattr(mg, name)(x, axis=axis, keepdims=keepdims), x)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("data", [VECTOR, MATRIX, BLOCK], ids=["vector", "matrix", "block"])
def test_the_rule_of_a_loss_is_right_as_it_is_typed(data: Any, reduction: str) -> None:
    x = Tensor(data, name="x")
    likely = mg.softmax(rng.normal(size=data.shape), axis=min(1, data.ndim - 1))
    step_of(mg.cross_entropy(x, likely, reduction=reduction), x, targets=likely)
    step_of(mg.bce_with_logits(x, likely, reduction=reduction), x, targets=likely)
    step_of(mg.mse_loss(x, likely, reduction=reduction), x, targets=likely)


def test_the_axis_is_that_of_the_node_in_text_and_latex() -> None:
    x = Tensor(MATRIX, name="x")
    for axis, counted in ((-1, 1), (0, 0)):
        step = step_of(mg.softmax(x, axis=axis), x)
        assert step.rule == f"out * (upstream - sum(upstream * out, axis={counted}, keepdims=True))"
        assert rf"\sum_{{\text{{axis }}{counted}}}" in step.latex
    step = step_of(mg.softmax(x, axis=None), x)
    assert "axis" not in step.rule + step.latex
    assert "largest elements along axis 1" in str(mg.explain(x.max(axis=1).sum(), x))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_latex_has_no_code_in_it(case: Case) -> None:
    xs = nodes(case)
    out = case.call(*xs)
    for x in xs:
        for path in getattr(mg.explain(out.sum(), x), "shown", ()):
            for step in path.steps:
                assert not re.search(r"[*@]|\(upstream|einsum|\.T\b|axis=", step.latex), step.latex
                assert step.latex.count("{") == step.latex.count("}")


def test_a_bar_is_as_long_as_the_name() -> None:
    x, w = Tensor([1.0, 2.0], name="x"), Tensor([3.0, 4.0], name="w")
    hidden = x * w
    hidden.name = "hidden"
    latex: Any = mg.explain((hidden * hidden).sum(), x).latex
    assert r"\overline{\mathrm{hidden}}" in latex
    assert r"\bar{x}" in latex
    assert r"\bar{\mathrm" not in latex


def test_a_condition_is_a_formula_in_latex() -> None:
    x = Tensor([1.0, -2.0], name="x")
    chosen = mg.where(mg.less(x, 0.0), x * 2.0, 0.0)
    latex: Any = mg.explain(chosen.sum(), x).latex
    assert r"\text{ where }" in latex
    assert r"\text{ holds}" in latex
