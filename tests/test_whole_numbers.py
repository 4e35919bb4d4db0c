"""Without numpy an answer is the same, byte by byte; an operation that is not there is refused by its name."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from answers_by_hash import answers
from drawing import SOAK
from hypothesis import given
from hypothesis import strategies as st

from peerlab.base import whole_numbers

SCENARIOS = 600 if SOAK else 60
WHOLE = st.lists(st.integers(-50, 50), min_size=1, max_size=12)


@pytest.mark.long("Python without numpy")
def test_random_scenarios_are_the_same_without_numpy(run_seed):
    first = int(run_seed) % 10**6
    command = [sys.executable, Path(__file__).parent / "answers_by_hash.py", str(first), str(SCENARIOS)]
    other = subprocess.Popen(command, stdout=subprocess.PIPE)
    rows = json.loads(json.dumps(answers(first, SCENARIOS)))
    without = json.loads(other.communicate()[0])
    assert len(without) == SCENARIOS
    assert [(mine, theirs) for mine, theirs in zip(rows, without, strict=True) if mine != theirs] == []


@given(WHOLE)
def test_orders_places_and_counts_are_those_of_numpy(values):
    ours, theirs = whole_numbers.array(values), np.array(values)
    for name in ("argsort", "sort", "cumsum", "flatnonzero", "diff", "unique"):
        options = {"kind": "stable"} if name == "argsort" else {}
        assert (
            getattr(whole_numbers, name)(ours, **options).tolist()
            == getattr(np, name)(theirs, **options).tolist()
        )
    for mine, other in zip(
        whole_numbers.unique(ours, return_index=True, return_inverse=True),
        np.unique(theirs, return_index=True, return_inverse=True),
        strict=True,
    ):
        assert mine.tolist() == other.tolist()
    assert whole_numbers.lexsort((ours, ours % 3)).tolist() == np.lexsort((theirs, theirs % 3)).tolist()
    assert whole_numbers.bincount(ours % 7).tolist() == np.bincount(theirs % 7).tolist()
    assert whole_numbers.isin(ours, [1, 2]).tolist() == np.isin(theirs, [1, 2]).tolist()


@given(WHOLE, st.integers(-12, 12), st.integers(-12, 12), st.sampled_from([1, 2, -1]))
def test_parts_are_those_of_numpy(values, begin, end, step):
    ours, theirs = whole_numbers.array(values), np.array(values)
    part = slice(begin, end, step)
    assert ours[part].tolist() == theirs[part].tolist()
    ours[part] += 1
    theirs[part] += 1
    ours[ours > 3] = 0
    theirs[theirs > 3] = 0
    assert ours.tolist() == theirs.tolist()


@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_rows_and_columns_are_those_of_numpy(rows, width, data):
    flat = data.draw(st.lists(st.integers(-9, 9), min_size=rows * width, max_size=rows * width))
    ours, theirs = whole_numbers.array(flat).reshape(rows, width), np.array(flat).reshape(rows, width)
    column = data.draw(st.integers(0, width - 1))
    for act in (
        lambda _, table: table[:, column],
        lambda _, table: table.T,
        lambda _, table: table[-1],
        lambda _, table: table[:, None] - table[None],
        lambda _, table: table // 2 + table[:, :1],
        lambda np, table: np.where(table > 0, table, -1),
        lambda np, table: np.maximum(table, table[0]),
        lambda np, table: np.concatenate([table, table]),
        lambda np, table: np.column_stack([table[:, 0], table]),
        lambda np, table: np.diff(table, axis=0),
        lambda np, table: np.repeat(table, 2, axis=1),
        lambda np, table: np.stack([table[0], table[-1]], axis=1),
    ):
        assert act(whole_numbers, ours).tolist() == act(np, theirs).tolist()


@given(WHOLE)
def test_columns_for_a_page_are_the_same_bytes(values):
    for kind in ("<i4", "<f4", "<i8", "<f8"):
        assert whole_numbers.array(values).astype(kind).tobytes() == np.array(values).astype(kind).tobytes()


@pytest.mark.parametrize(
    ("act", "names"),
    [
        (lambda np: np.linalg.solve([[1]], [1]), "numpy.linalg.solve"),
        (lambda np: np.random.default_rng(1).gamma(2), "gamma"),
        (lambda np: np.random.shuffle([1, 2]), "numpy.random.shuffle"),
        (lambda np: np.array([1]).astype("<u2"), "<u2"),
        (lambda np: np.argsort(np.zeros((2, 2))), "rows"),
        (lambda np: np.array([[1, 2], [3]]), "different lengths"),
    ],
)
def test_what_is_not_there_is_refused_by_its_name(act, names):
    with pytest.raises((NotImplementedError, ValueError), match=names):
        act(whole_numbers)


def test_it_stays_small():
    folder = Path(whole_numbers.__file__).parent
    lines = [line for file in folder.glob("*.py") for line in file.read_text().splitlines() if line.strip()]
    assert len(lines) <= 600
