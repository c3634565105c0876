"""Pictures of graphs of arrays: a card says what is in an array, not only how large it is."""

from __future__ import annotations

import re

import pytest

import minigrad as mg
from minigrad.formatting import exact, gist

np = pytest.importorskip("numpy")


def words(node: mg.Tensor) -> list[str]:
    """Everything that is written on the card of a leaf, in a picture of its sum."""
    svg = mg.draw(node.sum()).svg
    (group,) = re.findall(
        rf'<g id="n\d+" class="mg-node"[^>]*><title>{node.name}\n.*?</g>', svg, re.S
    )
    return re.findall(r"<text[^>]*>([^<]*)</text>", group)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ([1.0, 2.5, -3.0], ["shape", "(3,)", "value", "[1, 2.5, -3]", "grad", "[1, 1, 1]"]),
        (np.arange(12.0).reshape(3, 4), ["shape", "(3, 4)", "value", "0 … 11", "grad", "all 1"]),
        (np.zeros((0, 3)), ["shape", "(0, 3)", "value", "empty", "grad", "empty"]),
        (3.0, ["value", "3", "grad", "1"]),
        ([[7.0]], ["shape", "(1, 1)", "value", "7", "grad", "1"]),
        (np.ones(99, np.float32), ["shape", "(99,) float32", "value", "all 1", "grad", "all 1"]),
        (np.arange(1e6), ["shape", "(1000000,)", "value", "0 … 999999", "grad", "all 1"]),
        ([1.0, np.nan], ["shape", "(2,)", "value", "! [1, nan]", "grad", "[1, 1]",
                         "! not finite: starts here"]),
        ([np.inf] * 20 + [np.nan], ["shape", "(21,)", "value", "! 1 of 21 nan", "grad", "all 1",
                                    "! not finite: starts here"]),
    ],
)  # fmt: skip
def test_cards_of_arrays_say_what_is_in_them(data: object, shown: list[str]) -> None:
    with mg.errstate("ignore"):
        assert words(mg.Tensor(data, name="t")) == ["t", *shown]


def test_masks_and_long_arrays_in_a_small_space() -> None:
    mask = np.arange(30) % 3 == 0
    assert gist(mask) == "10 of 30 true"
    assert gist(mask[:3]) == "[1, 0, 0]"
    assert gist(np.array([1e-7, 123456.789, 1.0, 2.0])) == "1e-07 … 1.235e+05"
    assert exact(np.arange(20.0)) == "[20] float64: 0 … 19"
    assert exact(np.arange(2.0)) == "[2] float64: [0.0, 1.0]"


def test_a_nan_is_marked_where_it_starts_in_arrays_too() -> None:
    x = mg.Tensor([1.0, -1.0], name="x")
    with mg.errstate("ignore"):
        y = mg.log(x)
        drawing = mg.draw((y * 2).sum())
    flagged = [card.op for card in drawing.diagram.cards if card.warnings]
    assert flagged == ["log"]


def test_a_layer_is_called_by_the_end_of_its_scope() -> None:
    net = mg.nn.Sequential(mg.nn.Linear(2, 3), mg.tanh, mg.nn.Linear(3, 1))
    loss = mg.mse_loss(net(mg.Tensor(np.ones((4, 2)))), np.zeros((4, 1)))
    svg = mg.draw(loss).svg
    assert "…/layers.0/linear</text>" in svg
    assert ">layers.0.weight</text>" in svg
