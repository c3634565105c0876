"""The progress line: one line that changes, a few lines in a file, or silence."""

import io
import itertools
import re
import sys
import types

import pytest

from minigrad.data import moons
from minigrad.nn import MLP, Linear
from minigrad.optim import SGD, Adam
from minigrad.training import History, fit
from minigrad.training.progress import Progress


def train(epochs, progress):
    data = moons(40, labels=(1, -1), seed=1)
    return fit(MLP(2, [6], 1, rng=1), data, "hinge", Adam(0.05), epochs, seed=1, progress=progress)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_in_a_file_every_tenth_of_the_epochs_has_a_line(capsys):
    train(25, True)
    lines = capsys.readouterr().out.splitlines()
    assert [int(line.split()[1]) for line in lines] == [1, *range(2, 26, 2), 25]
    assert all("accuracy" in line for line in lines)


def test_on_a_terminal_one_line_is_written_over(monkeypatch):
    out = Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    train(12, True)
    text = out.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("\n")
    shown = [part.rstrip() for part in text.split("\r") if "epoch 12 of 12" in part]
    assert len(shown) == 1
    parts = text.rstrip("\n").split("\r")[1:]
    for before, after in itertools.pairwise(parts):
        assert len(after) >= len(before.rstrip())  # a shorter line leaves nothing of a longer one


def test_in_a_notebook_one_output_is_updated(monkeypatch):
    shown = []
    handle = types.SimpleNamespace(update=lambda bundle, raw: shown.append(bundle["text/plain"]))

    def display(bundle, raw, display_id):
        shown.append(bundle["text/plain"])
        return handle

    module = types.ModuleType("IPython")
    module.get_ipython = lambda: types.SimpleNamespace(kernel=1)
    module.display = types.ModuleType("IPython.display")
    module.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", module.display)
    history = train(3, True)
    assert f"{history.loss[-1]:.4f}" in shown[-1]
    assert "epoch 3 of 3" in shown[-1]


def test_a_function_is_given_a_line_per_epoch_and_silence_is_silent(capsys):
    lines = []
    train(4, lines.append)
    assert len(lines) == 4
    train(4, False)
    assert capsys.readouterr().out == ""


def test_the_remark_has_a_line_of_its_own():
    out = Terminal()
    line = Progress(True, 5, out)
    line.after(1, "epoch 1 with many numbers")
    line.end("stopped early")
    assert out.getvalue() == "\repoch 1 with many numbers\n\rstopped early\n"


def test_a_history_can_be_made_by_hand():
    history = History()
    history.add(epoch=1, loss=0.5)
    assert (len(history), history.best_epoch) == (1, None)
    assert repr(history) == "History(1 epochs, loss=0.5, running)"


def test_a_line_is_never_wider_than_the_terminal(monkeypatch):
    """A wrapped line could not be written over."""
    monkeypatch.setenv("COLUMNS", "30")
    out = Terminal()
    line = Progress(True, 5, out)
    line.after(1, "epoch 1 of 5  " + "many numbers " * 5)
    line.after(2, "epoch 2 of 5")
    line.end()
    assert max(map(len, out.getvalue().rstrip("\n").split("\r"))) == 29


@pytest.mark.parametrize("mode", ["scalar", "array"])
def test_a_loss_that_grows_is_written_short_and_said(mode, capsys):
    x, y = [[1.0], [2.0], [3.0]], [[1.0], [2.0], [3.0]]
    model = MLP(1, [2], 1, activation="tanh", mode=mode, rng=1)
    fit(model, (x, y), "mse", SGD(40.0), epochs=12, batch_size=None)
    lines = capsys.readouterr().out.splitlines()
    assert re.search(r"loss grew from [\d.]+ to \d\.\de\+\d\d; a smaller learning rate", lines[-1])
    assert max(map(len, lines)) < 79
    fit(model, (x, y), "mse", SGD(0.0), epochs=2)
    assert "learning rate" not in capsys.readouterr().out


def test_a_small_loss_is_not_written_as_zero():
    lines = []
    model = Linear(1, 1, init="ones")
    fit(model, ([[1.0]], [[1.001]]), "mse", SGD(0.0), epochs=1, progress=lines.append)
    assert lines == ["epoch 1 of 1  loss 1e-06"]
