"""State files: what was saved comes back to the last bit, and nothing of a file that is wrong."""

import json
import math
import pickle
import sys

import numpy as np
import pytest

from minigrad.errors import ArgumentTypeError, ArgumentValueError, MissingDependencyError
from minigrad.nn import MLP, BatchNorm, Linear, Module
from minigrad.tensor import Tensor

ENDINGS = [".json", ".npz"]
MODES = ["scalar", "array"]
each_file = pytest.mark.parametrize("ending", ENDINGS)


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k], equal_nan=True) for k in a)


@each_file
@pytest.mark.parametrize("writer", MODES)
@pytest.mark.parametrize("reader", MODES)
def test_a_state_comes_back_exactly_in_either_mode(tmp_path, ending, writer, reader):
    model = MLP(2, [3], 1, mode=writer, rng=1)
    path = model.save(tmp_path / f"model{ending}")
    assert path == str(tmp_path / f"model{ending}")
    assert [p.name for p in tmp_path.iterdir()] == [f"model{ending}"]
    twin = MLP(2, [3], 1, mode=reader, rng=2)
    assert twin.load(path) is twin
    assert same(model.state_dict(), twin.state_dict())


@each_file
def test_dtypes_buffers_and_numbers_that_are_not_finite(tmp_path, ending):
    class Model(Module):
        def __init__(self):
            self.file, self.self_ = Tensor([1.0]), Tensor(2.0)  # names of NumPy's own arguments
            self.empty = Tensor(np.zeros((0, 3)))
            self.small = Tensor(np.array([0.1, math.nan, math.inf, -math.inf], np.float32))
            self.norm = BatchNorm(2)

    model, twin = Model(), Model()
    model.norm([[1.0, 2.0], [3.0, 7.0]])
    twin.load(model.save(tmp_path / f"model{ending}"))
    assert same(model.state_dict(), twin.state_dict())
    assert twin.small.dtype == np.float32


@each_file
def test_the_same_state_gives_the_same_bytes(tmp_path, ending):
    a, b = (tmp_path / f"{name}{ending}" for name in "ab")
    Linear(2, 2, rng=1).save(a)
    Linear(2, 2, rng=1).save(b)
    assert a.read_bytes() == b.read_bytes()


@each_file
def test_a_file_that_was_cut_off_loads_nothing(tmp_path, ending):
    model = MLP(2, [3], 1, rng=1)
    path = tmp_path / f"model{ending}"
    model.save(path)
    content = path.read_bytes()
    before = model.state_dict()
    for length in (0, 1, 10, len(content) // 2, len(content) - 3):
        path.write_bytes(content[:length])
        with pytest.raises(ArgumentValueError, match=r"model\.\w+: it is damaged or cut off"):
            model.load(path)
    assert same(before, model.state_dict())


def test_a_flipped_byte_of_an_npz_is_noticed(tmp_path):
    model, path = Linear(2, 3, rng=1), tmp_path / "model.npz"
    model.save(path)
    content = path.read_bytes()
    place = content.index(model.weight._data.tobytes())
    path.write_bytes(content[:place] + b"\xff" + content[place + 1 :])
    with pytest.raises(ArgumentValueError, match="damaged"):
        model.load(path)


@each_file
def test_a_file_of_another_model_says_what_differs(tmp_path, ending):
    path = MLP(2, [3], 1).save(tmp_path / f"model{ending}")
    model = MLP(2, [4], 1, rng=1)
    before = model.state_dict()
    with pytest.raises(
        ArgumentValueError, match=r"layers\.0\.weight has shape \(2, 3\), but \(2, 4\)"
    ):
        model.load(path)
    assert same(before, model.state_dict())


CHANGES = {
    "not a state file": lambda c: c.update(format="other"),
    "version 2": lambda c: c.update(version=2),
    "no entries": lambda c: c.pop("entries"),
    "'bias' is damaged": lambda c: c["entries"]["bias"].pop("data"),
    "'weight' is damaged": lambda c: c["entries"]["weight"].update(data=[["NaN"]]),
    "'bias' is damaged: a number in it is beyond": lambda c: c["entries"]["bias"].update(
        data=[0.0, 10**400]
    ),
    "'bias' is damaged: its numbers are none of int8": lambda c: c["entries"]["bias"].update(
        data=[1.0, 1.288], dtype="int8"
    ),
    "'bias' is damaged: its numbers are none of bool": lambda c: c["entries"]["bias"].update(
        data=[1, 2], dtype="bool"
    ),
    "'bias' is damaged: its numbers are none of float16": lambda c: c["entries"]["bias"].update(
        data=[1.0, 1e5], dtype="float16"
    ),
    r"says shape \(9,\)": lambda c: c["entries"]["bias"].update(shape=[9]),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("words", CHANGES)
def test_a_json_file_that_was_changed_is_refused(tmp_path, words, mode):
    model, path = Linear(2, 2, rng=1, mode=mode), tmp_path / "model.json"
    model.save(path)
    content = json.loads(path.read_text("utf-8"))
    CHANGES[words](content)
    path.write_text(json.dumps(content), "utf-8")
    before = model.state_dict()
    with pytest.raises(ArgumentValueError, match=words):
        model.load(path)
    assert same(before, model.state_dict())


@pytest.mark.parametrize("text", ["[]", "3", "null", "{}", '{"format": 1}', "\xff", "[" * 100_000])
def test_json_of_another_kind_is_refused(tmp_path, text):
    path = tmp_path / "model.json"
    path.write_text(text, "latin-1")
    with pytest.raises(ArgumentValueError, match=r"model\.json"):
        Linear(1, 1).load(path)


def test_npz_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "model.npz"
    np.savez(path, weight=np.ones((1, 1)), bias=np.ones(1))
    with pytest.raises(ArgumentValueError, match="not a state file"):
        Linear(1, 1).load(path)
    np.savez(path, **{"minigrad-state": np.array([object()], dtype=object)})
    with pytest.raises(ArgumentValueError, match="damaged"):
        Linear(1, 1).load(path)


def test_npz_with_more_or_less_than_its_header_says_is_refused(tmp_path):
    path = tmp_path / "model.npz"
    Linear(1, 1).save(path)
    with np.load(path) as content:
        arrays = dict(content)
    for change in ({"more": np.ones(1)}, {"bias": None}):
        parts = {k: v for k, v in {**arrays, **change}.items() if v is not None}
        np.savez(path, **parts)
        with pytest.raises(ArgumentValueError, match="header"):
            Linear(1, 1).load(path)
    for names in ([1, "weight"], [["bias"], "weight"], "bias", None):
        head = json.loads(str(arrays["minigrad-state"])) | {"names": names}
        np.savez(path, **{**arrays, "minigrad-state": np.array(json.dumps(head))})
        with pytest.raises(ArgumentValueError, match="header"):
            Linear(1, 1).load(path)


def test_a_number_beyond_the_floats_is_refused_however_it_is_written(tmp_path):
    model, path = Linear(1, 1, mode="scalar"), tmp_path / "model.json"
    model.save(path)
    content = json.loads(path.read_text("utf-8"))
    content["entries"]["bias"]["data"] = ["HERE"]
    for number in ("1" + "0" * 400, "-1" + "0" * 400, "1e400", "Infinity", "NaN"):
        path.write_text(json.dumps(content).replace('"HERE"', number), "utf-8")
        with pytest.raises(ArgumentValueError, match=r"'bias' is damaged.*nothing was loaded"):
            model.load(path)


def test_names_and_missing_files(tmp_path):
    for method in ("save", "load"):
        with pytest.raises(ArgumentValueError, match=r"\.json or \.npz"):
            getattr(Linear(1, 1), method)(tmp_path / "model.pt")
    with pytest.raises(FileNotFoundError):
        Linear(1, 1).load(tmp_path / "model.npz")


def test_json_needs_no_numpy(tmp_path, monkeypatch):
    model = Linear(1, 1, mode="scalar")
    monkeypatch.setitem(sys.modules, "numpy", None)
    model.load(model.save(tmp_path / "model.json"))
    with pytest.raises(MissingDependencyError, match=r"\.json"):
        model.save(tmp_path / "model.npz")
    assert not (tmp_path / "model.npz").exists()
    with pytest.raises(MissingDependencyError, match="mode='scalar'"):
        Linear(1, 1)


def test_a_wrong_file_is_named_for_what_it_is(tmp_path):
    model = Linear(2, 3)
    before = model.state_dict()
    np.save(tmp_path / "a.npy", np.ones(2))
    (tmp_path / "a.npy").rename(tmp_path / "a.npz")
    (tmp_path / "b.npz").write_bytes(pickle.dumps({"weight": 1.0}))
    for name in ("a.npz", "b.npz"):
        with pytest.raises(
            ArgumentValueError, match=rf"{name}: .*no npz file\); nothing was loaded"
        ):
            model.load(tmp_path / name)
    model.save(tmp_path / "c.json")
    content = json.loads((tmp_path / "c.json").read_text("utf-8"))
    for damage in ({"dtype": "foo"}, {"dtype": 3}, {"dtype": "S3"}, {"shape": [0]}):
        broken = json.loads(json.dumps(content))
        broken["entries"]["weight"].update(damage)
        (tmp_path / "d.json").write_text(json.dumps(broken), "utf-8")
        with pytest.raises(
            ArgumentValueError, match=r"d\.json: entry 'weight' .*nothing was loaded"
        ):
            model.load(tmp_path / "d.json")
    np.testing.assert_array_equal(model.state_dict()["weight"], before["weight"])


def test_a_place_where_nothing_can_be_written_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        Linear(1, 1).save(tmp_path / "nowhere" / "model.json")
    for path in (None, 3, 2.5):
        for act in (Linear(1, 1).save, Linear(1, 1).load):
            with pytest.raises(ArgumentTypeError, match=r"no name of a file"):
                act(path)
